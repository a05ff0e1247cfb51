// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import SubstituteCheckKit
import TestSupport

@testable import SubstituteKit

/// Chromium with one page, driven by the tool's own code.
// Only the test that creates an instance uses it, and runs one command at a time. The events are only accessed inside
// the lock.
final class DrivenChromium: Browser, @unchecked Sendable {
    static let program = Program.find("chromium", "google-chrome", "chrome")

    private let process: BrowserProcess
    private let devTools: DevTools
    private let folder: TemporaryFolder
    private let lock = NSLock()
    private var complained: [String] = []
    private var session: String?
    /// The ID of the loaded extension; "" for none.
    private(set) var extensionID = ""

    /// Starts a browser with one empty page, and loads the extension, if one is given.
    init(extensionFolder: URL? = nil) async throws {
        folder = try TemporaryFolder()
        let program = BrowserProgram(path: Self.program ?? "chromium")
        let hosts = testHosts.map { "MAP \($0) 127.0.0.1" } + ["MAP * ~NOTFOUND"]
        let rules = ["EXCLUDE localhost", "EXCLUDE 127.0.0.1"] + hosts
        let switches = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
            "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
            "--enable-unsafe-extension-debugging", "--ignore-certificate-errors", "--disable-sync",
            "--autoplay-policy=no-user-gesture-required", "--host-resolver-rules=\(rules.joined(separator: ", "))",
        ]
        process = try BrowserProcess(program, switches, try folder.environment())
        devTools = DevTools(process.descriptor)
        Task { [weak self, events = devTools.events] in
            for await event in events { self?.receive(event) }
        }
        struct Names: Decodable, Sendable { let id, targetId, sessionId: String? }
        if let extensionFolder {
            let loaded: Names = try await command("Extensions.loadUnpacked", ["path": extensionFolder.path])
            extensionID = loaded.id ?? ""
        }
        let target: Names = try await command("Target.createTarget", ["url": "about:blank"])
        let choice: [String: any Sendable] = ["targetId": target.targetId ?? "", "flatten": true]
        let attached: Names = try await command("Target.attachToTarget", choice)
        session = attached.sessionId
        for domain in ["Page", "Runtime", "Log", "Network"] { try await command("\(domain).enable") }
    }

    /// Starts a browser, and begins to load a page.
    convenience init(extensionFolder: URL?, address: URL) async throws {
        try await self.init(extensionFolder: extensionFolder)
        try await command("Page.navigate", ["url": address.absoluteString])
    }

    func stop() {
        devTools.disconnect()
        process.end()
    }

    private func receive(_ event: DevTools.Event) {
        guard ["Runtime.exceptionThrown", "Log.entryAdded"].contains(event.method) else { return }
        lock.withLock { complained.append(ReportedError(event)?.words ?? event.method) }
    }

    /// The errors that the page reported.
    var complaints: [String] { lock.withLock { complained } }

    func openToolbar() async throws { try await open("chrome-extension://\(extensionID)/toolbar.html") }

    /// Runs a DevTools command on the page, and waits for its end.
    func command(_ method: String, _ parameters: [String: any Sendable] = [:]) async throws {
        try await devTools.run(method, parameters, in: session, within: Self.patience)
    }

    /// Runs a DevTools command on the page, and returns its result.
    func command<Result: Decodable & Sendable>(
        _ method: String,
        _ parameters: [String: any Sendable] = [:]
    ) async throws -> Result {
        try await devTools.run(method, parameters, in: session, within: Self.patience)
    }

    /// The timeout of a command in seconds; it is long because a page may wait for another program.
    private static let patience = 600.0

    private struct Evaluation: Decodable {
        struct Object: Decodable { let value: String? }
        let result: Object
    }

    /// Evaluates an expression in the page, and returns its value as text.
    func text(_ expression: String) async throws -> String { try await result(of: "String(\(expression))") }

    /// Evaluates expressions in the page, and returns their values as texts.
    func texts(_ expressions: String...) async throws -> [String] {
        var texts: [String] = []
        for expression in expressions { texts.append(try await text(expression)) }
        return texts
    }

    func run(_ body: String) async throws -> String { try await result(of: "(async () => { \(body) })()") }

    private func result(of expression: String) async throws -> String {
        let parameters: [String: any Sendable] = [
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        ]
        let answer: Evaluation = try await command("Runtime.evaluate", parameters)
        return answer.result.value ?? ""
    }

    /// Waits until an expression in the page has the expected value.
    func wait(until expression: String, is expected: String = "true") async throws {
        try await TestSupport.wait(for: "\(expression) is \(expected)") { try await text(expression) == expected }
    }

    func open(_ url: String) async throws {
        try await command("Page.navigate", ["url": url])
        try await wait(until: "document.readyState", is: "complete")
    }
}
#endif
