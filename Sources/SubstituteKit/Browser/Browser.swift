import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A separate browser that the tool starts for one page; all requests go through an ``Interceptor``.
///
/// `Fetch.enable` is sent to the browser as a whole, not to each page. It then applies to all frames, workers and
/// service workers, so no request is missed. The protocol's documentation does not say that this command may be sent to
/// the browser as a whole; Chromium 156 accepts it.
actor Browser {
    /// An event that is reported to the caller of `run`.
    enum Event: Sendable {
        /// The page is about to load this URL.
        case navigating(String)
        /// The page now shows the new document.
        case navigated
        /// A sentence was added to ``notes``; holds the sentence.
        case note(String)
    }

    let process: BrowserProcess
    let devTools: DevTools
    let settings: BrowserSettings
    let interceptor: any Interceptor
    let onEvent: @Sendable (Event) -> Void
    nonisolated let traffic = Traffic()

    /// The identifiers of the page's target and session.
    var page: (target: String, session: String)?
    /// The targets of the open pages, including pop-ups.
    var openPages: Set<String> = []
    /// The sessions of pages, and of those frames that run in separate processes.
    var documents: Set<String> = []
    /// The sessions of pages' workers, without service workers.
    var workers: Set<String> = []
    /// The identifiers of the service workers' targets.
    var serviceWorkers: Set<String> = []
    var isLoaded = false
    /// The `User-Agent` to send; empty for the browser's default.
    var userAgent = ""
    /// The error after which the page can no longer be used; nil until then.
    var failure: ToolError?
    /// True once the user has closed the last page.
    var isClosed = false
    /// The status of the page's response; nil before the response.
    var status: Int?
    /// The number of requests on which a decision is pending.
    var deciding = 0
    /// The first requests of loads that are being redirected, keyed by the identifiers of these loads.
    var firstRequests: [String: HeldRequest.Request] = [:]
    /// The requests whose responses' bodies are being read.
    var bodies: Set<String> = []
    /// The bodies of unknown length that the browser is reading, the oldest first.
    var unbounded: [(held: HeldRequest, reading: Task<String, any Error>)] = []
    private var receiving: Task<Void, Never>?
    /// The sentence that says why the last page that was loaded is not complete; nil for a complete page.
    var incompleteness: String?
    /// True if the body of the page itself was abandoned.
    var isPageAbandoned = false
    /// The errors that scripts and the browser reported.
    var complaints: [ReportedError] = []
    /// Sentences for the user about the loads of the pages.
    ///
    /// For example, the tool refused a download, a load did not finish in time, or a page was answered with status 404.
    var notes: [String] = []
    /// The number of notes after which events, of which a page may cause any number, have one note together.
    static let mostNotes = 10

    // MARK: - Beginning and end

    /// Starts a browser, passes it to a closure, and ends it once the closure has returned or thrown.
    static func run<Result: Sendable>(
        _ settings: BrowserSettings,
        _ interceptor: any Interceptor,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in },
        _ body: (Browser) async throws -> Result
    ) async throws -> Result {
        let process = try BrowserProcess(settings.program, settings.arguments, settings.environment)
        let browser = Browser(process, settings, interceptor, onEvent)
        do {
            try await browser.begin()
            let result = try await body(browser)
            await browser.end()
            return result
        } catch {
            // Explain the error before the browser is ended; afterwards, the browser's end would appear to be the
            // reason for the error.
            let sentence = await browser.sentence(for: error)
            await browser.end()
            throw sentence
        }
    }

    private init(
        _ process: BrowserProcess,
        _ settings: BrowserSettings,
        _ interceptor: any Interceptor,
        _ onEvent: @escaping @Sendable (Event) -> Void
    ) {
        (self.process, self.settings) = (process, settings)
        (self.interceptor, self.onEvent) = (interceptor, onEvent)
        devTools = DevTools(process.descriptor)
    }

    /// The time in seconds within which a new browser must answer its first command.
    private static let startPatience = 30.0

    private func begin() async throws {
        receiving = Task { [events = devTools.events] in
            for await event in events { receive(event) }
            ended()
        }
        struct Version: Decodable { let userAgent: String }
        let version: Version = try await devTools.run("Browser.getVersion", within: Self.startPatience)
        // Some servers refuse a headless browser, so the `User-Agent` omits the word "Headless". A browser with a
        // window keeps its default `User-Agent`.
        let own = settings.hasWindow ? "" : version.userAgent.replacingOccurrences(of: "Headless", with: "")
        userAgent = settings.device?.userAgent ?? own
        let stages = ["Request", "Response"].map { ["urlPattern": "*", "requestStage": $0] }
        try await devTools.run("Fetch.enable", ["patterns": stages, "handleAuthRequests": true])
        try await devTools.run("Browser.setDownloadBehavior", ["behavior": "deny", "eventsEnabled": true])
        try await devTools.run("Target.setAutoAttach", Self.attachingAll)
        struct Target: Decodable { let targetId: String }
        let window: [String: any Sendable] = ["url": "about:blank", "newWindow": true]
        let target: Target = try await devTools.run("Target.createTarget", window)
        let deadline = DispatchTime.now() + DevTools.patience
        while page == nil {
            guard .now() < deadline else { throw DevTools.Failure.silent }
            page = sessions[target.targetId].map { (target.targetId, $0) }
            try await pause()
        }
    }

    /// The session of each target, keyed by the target's identifier.
    var sessions: [String: String] = [:]

    static let attachingAll: [String: any Sendable] = [
        "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
        // Exclude the browser's own targets, such as menus that are implemented as pages.
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
        // Wait for the last events and decisions, so that none of the caller's closures is called after `run` has
        // returned.
        await receiving?.value
        while deciding > 0 { try? await Task.sleep(nanoseconds: 10_000_000) }
    }

    /// Returns an error as a sentence for the user.
    private func sentence(for error: any Error) -> any Error {
        guard let error = error as? DevTools.Failure else { return error }
        let name = quoted(settings.program.path)
        return switch error {
        case .refused(let words): ToolError("\(name) refused a command: \(visible(words))")
        case .silent:
            failure
                ?? ToolError(
                    incompleteness ?? "\(name) does not answer; is it Chrome, Chromium, Edge or Brave, and not too old?"
                )
        case .ended(let words): ending(words)
        }
    }

    /// Returns the reason why the browser ended unexpectedly; `words` is the browser's last output.
    func ending(_ words: String) -> ToolError {
        let name = quoted(settings.program.path)
        if words.contains("without --no-sandbox is not supported") {
            return ToolError(
                "\(name) refuses to run as root, where it has no sandbox: a malicious page could take over the whole "
                    + "machine. Run this as another user, or set SUBSTITUTE_NO_SANDBOX=1 for a page that you trust"
            )
        }
        if words.contains("No usable sandbox") {
            return ToolError(
                "\(name) finds no sandbox on this system; allow user namespaces, or set SUBSTITUTE_NO_SANDBOX=1 for a "
                    + "page that you trust"
            )
        }
        let lines = words.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        // A browser that has shown pages logs much that has nothing to do with its end. Its messages about a missing
        // desktop are irrelevant, too.
        let said = lines.last { !$0.isEmpty && !$0.contains("dbus/") && !$0.hasPrefix("status ") }
        let status = lines.last { $0.hasPrefix("status ") }
        let reason = lines.last { $0.contains(":FATAL:") } ?? (page == nil ? said : status)
        return ToolError("\(name) has ended" + (reason.map { ": \(shortened($0))" } ?? ""))
    }
}
