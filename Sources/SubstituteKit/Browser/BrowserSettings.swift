import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The settings for starting a browser and for showing pages in it.
struct BrowserSettings: Sendable {
    var program: BrowserProgram
    /// The screen to emulate; nil for the size of the window.
    var device: Device?
    var hasWindow = false
    /// True if pages must stay still, because screenshots of them are compared.
    var suppressesMotion = false
    /// The size of the largest body that is of use, in bytes.
    var maximumBody = Self.largestBody
    /// The timeout for a page, in seconds.
    var limit = 60.0
    var environment: [String: String]

    /// The largest body that a browser can deliver, in bytes.
    static let largestBody = 200_000_000

    /// True if the browser's own sandbox is on; Chromium refuses to run with it for root.
    private var isSandboxed: Bool { environment["SUBSTITUTE_NO_SANDBOX", default: ""].isEmpty }

    /// True if the system can show a window.
    var hasDisplay: Bool {
        // A Mac always has a display; elsewhere, a variable names it.
        #if os(macOS)
        true
        #else
        ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
        #endif
    }

    /// The browser's command-line switches.
    ///
    /// https://chromium.googlesource.com/chromium/src/+/main/docs/ documents each switch. The DevTools protocol needs
    /// none of these switches. Most of the switches that are always set have one purpose: to keep the browser's own
    /// activity out of a page's loads.
    var arguments: [String] {
        var list = [
            "--no-first-run", "--no-default-browser-check", "--no-startup-window", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions",
            "--disable-breakpad", "--disable-dev-shm-usage", "--disable-search-engine-choice-screen",
            // An answer from a file has no address, so Chromium would refuse the page's requests to local servers
            // (https://wicg.github.io/local-network-access/).
            "--disable-features=Translate,MediaRouter,OptimizationHints,LocalNetworkAccessChecks,"
                + "LocalNetworkAccessChecksWebSockets",
            "--metrics-recording-only",
            "--password-store=basic", "--use-mock-keychain",
        ]
        if !hasWindow { list += ["--headless=new", "--disable-gpu", "--hide-scrollbars", "--mute-audio"] }
        if !isSandboxed { list.append("--no-sandbox") }
        if suppressesMotion { list += ["--force-color-profile=srgb", "--blink-settings=imageAnimationPolicy=2"] }
        return list
    }
}

extension BrowserSettings {
    static let timeout = Option("timeout", value: "seconds", Quantity.seconds(from: 1))

    /// Reads the options that all commands with a browser share.
    ///
    /// - Throws: ``ToolError`` if there is no browser.
    init(_ arguments: Arguments, _ console: Console) throws {
        limit = try arguments[Self.timeout] ?? limit
        program = try BrowserProgram.find(arguments[BrowserProgram.option], console)
        environment = console.environment
    }
}
