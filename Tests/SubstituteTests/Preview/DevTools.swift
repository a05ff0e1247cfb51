// iOS and its relatives start no processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport

/// Chromium, driven by its DevTools protocol through a pair of pipes.
///
/// https://chromedevtools.github.io/devtools-protocol/
// Only the one test that has it uses it, one command at a time.
final class DevTools: @unchecked Sendable {
    private let process = Process()
    private let folder: TemporaryFolder
    private var input: FileHandle?
    private var output: FileHandle?
    private var buffer = Data()
    private var number = 0
    private var session: String?
    /// Of the extension that was loaded, if one was.
    private(set) var extensionID = ""
    /// What the browser told without being asked, as JSON.
    private(set) var events: [Data] = []

    /// Starts a browser with one empty page, and an extension, if one is named.
    init(extensionFolder: URL? = nil) async throws {
        folder = try TemporaryFolder()
        let pipes = ["in", "out"].map { folder.url.appendingPathComponent($0).path }
        for pipe in pipes where mkfifo(pipe, 0o600) != 0 { throw POSIXError(.EIO) }
        let options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
            "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
            "--user-data-dir=\(folder.url.appendingPathComponent("profile").path)", "--remote-debugging-pipe",
            "--enable-unsafe-extension-debugging",
        ]
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments =
            ["-c", "exec \"$@\" 3< \"$0/in\" 4> \"$0/out\"", folder.url.path, Chromium.program ?? "chromium"] + options
        process.environment = try folder.environment()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.runWithSignals()
        // Each waits for the other side.
        try await onThread { [self] in
            input = FileHandle(forWritingAtPath: pipes[0])
            output = FileHandle(forReadingAtPath: pipes[1])
        }
        struct Extension: Decodable { let id: String }
        if let extensionFolder {
            let loaded: Extension = try await command("Extensions.loadUnpacked", ["path": extensionFolder.path])
            extensionID = loaded.id
        }
        struct Target: Decodable { let targetId: String }
        struct Session: Decodable { let sessionId: String }
        let target: Target = try await command("Target.createTarget", ["url": "about:blank"])
        let attached: Session = try await command(
            "Target.attachToTarget",
            ["targetId": target.targetId, "flatten": true]
        )
        session = attached.sessionId
        for domain in ["Page", "Runtime", "Log", "Network"] { try await command("\(domain).enable") }
    }

    func stop() { process.stopGroup() }

    private struct Nothing: Decodable, Sendable {}
    private struct Head: Decodable { let id: Int? }
    private struct Answer<Result: Decodable & Sendable>: Decodable, Sendable { let result: Result }
    private struct Value: Decodable, Sendable { let value: String? }

    /// Removes the extension; the profile stays.
    func removeExtension() async throws {
        // Only the browser itself knows this command, and no page.
        let page = session
        session = nil
        defer { session = page }
        try await command("Extensions.uninstall", ["id": extensionID])
    }

    /// Runs a command, and waits for its end.
    func command(_ method: String, _ parameters: [String: any Sendable] = [:]) async throws {
        let _: Nothing = try await command(method, parameters)
    }

    /// Runs a command, and returns its result.
    func command<Result: Decodable & Sendable>(
        _ method: String,
        _ parameters: [String: any Sendable] = [:]
    ) async throws -> Result {
        try await onThread { [self] in
            number += 1
            var message: [String: any Sendable] = ["id": number, "method": method, "params": parameters]
            message["sessionId"] = session
            try input?.write(contentsOf: JSONSerialization.data(withJSONObject: message) + Data([0]))
            while true {
                let answer = try next()
                guard try JSONDecoder().decode(Head.self, from: answer).id == number else {
                    events.append(answer)
                    continue
                }
                return try JSONDecoder().decode(Answer<Result>.self, from: answer).result
            }
        }
    }

    /// The next message: each ends with a zero.
    private func next() throws -> Data {
        while true {
            if let end = buffer.firstIndex(of: 0) {
                defer { buffer = Data(buffer[(end + 1)...]) }
                return Data(buffer[..<end])
            }
            guard let part = output?.availableData, !part.isEmpty else { throw POSIXError(.EPIPE) }
            buffer += part
        }
    }

    /// What an expression of the page gives, as text.
    func text(_ expression: String) async throws -> String { try await result(of: "String(\(expression))") }

    /// The text that the body of an asynchronous function returns in the page.
    func run(_ body: String) async throws -> String { try await result(of: "(async () => { \(body) })()") }

    private func result(of expression: String) async throws -> String {
        let answer: Answer<Value> = try await command(
            "Runtime.evaluate",
            ["expression": expression, "awaitPromise": true, "returnByValue": true]
        )
        return answer.result.value ?? ""
    }

    /// Waits until an expression of the page gives a text.
    func wait(until expression: String, is expected: String = "true") async throws {
        while try await text(expression) != expected { try await Task.sleep(nanoseconds: 20_000_000) }
    }

    /// Loads a page.
    func open(_ url: String) async throws {
        try await command("Page.navigate", ["url": url])
        try await wait(until: "document.readyState", is: "complete")
    }

    /// What the page complained of.
    var complaints: [String] {
        events.map { String(decoding: $0, as: UTF8.self) }.filter { event in
            ["Runtime.exceptionThrown", "Log.entryAdded"].contains { event.contains("\"method\":\"\($0)\"") }
        }
    }
}
#endif
