import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A browser of the tool's own with one page, whose every request is asked of an ``Interceptor``.
///
/// The requests of all frames, workers and service workers are held by the browser as a whole, so that none gets past
/// (measured with Chromium 156; the protocol's pages name the commands, and not that the browser itself takes them).
actor Browser {
    /// Something that happened, for whoever follows the pages.
    enum Happening: Sendable {
        /// The page is about to load this URL.
        case navigating(String)
        /// The page shows what it has loaded last.
        case navigated
        /// Something was kept from the page, as a sentence.
        case note(String)
        /// A script failed, or the browser complained.
        case complaint(String)
    }

    private let process: BrowserProcess
    let devTools: DevTools
    let settings: BrowserSettings
    let interceptor: any Interceptor
    let whenHappened: @Sendable (Happening) -> Void
    nonisolated let traffic = Traffic()

    /// The page's target and session.
    var page: (target: String, session: String)?
    /// The pages that are open, pop-ups included.
    var openPages: Set<String> = []
    /// The sessions of pages and of their frames that lie in processes of their own.
    var documents: Set<String> = []
    var isLoaded = false
    /// The browser's name for itself (`User-Agent`); empty for its usual one.
    var userAgent = ""
    /// Why nothing more can be asked of the page.
    var failure: ToolError?
    /// True once a person has closed the last page.
    var isClosed = false
    /// The status of the page's answer; nil until there is one.
    var status: Int?
    /// The requests that are being decided on.
    var deciding = 0
    private var receiving: Task<Void, Never>?
    /// Sentences about what was kept from the page.
    var notes: [String] = []

    // MARK: - Beginning and end

    /// Starts a browser, hands it to a closure, and ends it, whatever becomes of the closure.
    static func run<Result: Sendable>(
        _ settings: BrowserSettings,
        _ interceptor: any Interceptor,
        whenHappened: @escaping @Sendable (Happening) -> Void = { _ in },
        _ body: (Browser) async throws -> Result
    ) async throws -> Result {
        let process = try BrowserProcess(settings.program, settings.arguments, settings.environment)
        let browser = Browser(process, settings, interceptor, whenHappened)
        do {
            try await browser.begin()
            let result = try await body(browser)
            await browser.end()
            return result
        } catch {
            // Its own end is no reason.
            let sentence = await browser.sentence(for: error)
            await browser.end()
            throw sentence
        }
    }

    private init(
        _ process: BrowserProcess,
        _ settings: BrowserSettings,
        _ interceptor: any Interceptor,
        _ whenHappened: @escaping @Sendable (Happening) -> Void
    ) {
        (self.process, self.settings) = (process, settings)
        (self.interceptor, self.whenHappened) = (interceptor, whenHappened)
        devTools = DevTools(process.descriptor)
    }

    /// The seconds that a browser has to begin with its work.
    private static let startPatience = 30.0

    private func begin() async throws {
        receiving = Task { [events = devTools.events] in
            for await event in events { receive(event) }
            ended()
        }
        struct Version: Decodable { let userAgent: String }
        let version: Version = try await devTools.run("Browser.getVersion", within: Self.startPatience)
        // Some servers refuse a browser without a window. One with a window calls itself as ever.
        let own = settings.hasWindow ? "" : version.userAgent.replacingOccurrences(of: "Headless", with: "")
        userAgent = settings.device?.userAgent ?? own
        let stages = ["Request", "Response"].map { ["urlPattern": "*", "requestStage": $0] }
        // Without a window there is nobody to type a password.
        try await devTools.run("Fetch.enable", ["patterns": stages, "handleAuthRequests": !settings.hasWindow])
        try await devTools.run("Browser.setDownloadBehavior", ["behavior": "deny", "eventsEnabled": true])
        try await devTools.run("Target.setAutoAttach", Self.attachingAll)
        struct Target: Decodable { let targetId: String }
        let target: Target = try await devTools.run(
            "Target.createTarget",
            ["url": "about:blank", "newWindow": true]
        )
        let deadline = DispatchTime.now() + DevTools.patience
        while page == nil {
            guard .now() < deadline else { throw DevTools.Failure.silent }
            page = sessions[target.targetId].map { (target.targetId, $0) }
            try await pause()
        }
    }

    /// The sessions of targets.
    var sessions: [String: String] = [:]

    static let attachingAll: [String: any Sendable] = [
        "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
        // What belongs to the browser itself, as menus that are pages.
        "filter": [
            ["type": "browser", "exclude": true], ["type": "tab", "exclude": true],
            ["type": "browser_ui", "exclude": true], [:],
        ] as [[String: any Sendable]],
    ]

    private func end() async {
        try? await devTools.run("Browser.close", within: 2)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [process, devTools] in
                devTools.disconnect()
                process.end()
                continuation.resume()
            }
        }
        // Nobody is called any more when the run is over.
        await receiving?.value
        while deciding > 0 { try? await Task.sleep(nanoseconds: 10_000_000) }
    }

    /// An error as a sentence for a person.
    private func sentence(for error: any Error) -> any Error {
        guard let error = error as? DevTools.Failure else { return error }
        let name = quoted(settings.program.path)
        return switch error {
        case .refused(let words): ToolError("\(name) refused a command: \(visible(words))")
        case .silent:
            failure ?? ToolError("\(name) does not answer; is it Chrome, Chromium, Edge or Brave, and not too old?")
        case .ended(let words): ending(words)
        }
    }

    /// Why a browser ended that nobody had asked to.
    func ending(_ words: String) -> ToolError {
        let name = quoted(settings.program.path)
        if words.contains("without --no-sandbox is not supported") {
            return ToolError(
                "\(name) refuses to be started by root, where it has no sandbox: a page that breaks out of it would have the "
                    + "whole machine. Run this as somebody else, or give --no-sandbox for a page that you trust"
            )
        }
        if words.contains("No usable sandbox") {
            return ToolError(
                "\(name) finds no sandbox on this system; allow user namespaces, or give --no-sandbox for a page that you "
                    + "trust"
            )
        }
        if words.contains("$DISPLAY") { return ToolError("\(name) can open no window: there is no display") }
        // What browsers say of a desktop that is not there matters to nobody.
        let lines = words.split(separator: "\n").filter { !$0.contains("dbus/") && !$0.hasPrefix("status ") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        return ToolError("\(name) has ended" + (lines.last { !$0.isEmpty }.map { ": \(shortened($0))" } ?? ""))
    }
}
