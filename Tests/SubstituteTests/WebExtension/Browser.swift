// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport

/// A headless browser with its own profile.
protocol Browser: Sendable {
    /// Starts the browser at an address.
    ///
    /// - Parameters:
    ///   - extensionFolder: The extension to load; nil for none.
    ///   - address: The page to open once the extension is loaded.
    /// - Throws: An error if the browser cannot be started.
    init(extensionFolder: URL?, address: URL) async throws

    /// Loads a page.
    func open(_ address: String) async throws

    /// Opens the toolbar page of the extension.
    func openToolbar() async throws

    /// Runs the body of an asynchronous function in the page, and returns its result.
    func run(_ body: String) async throws -> String

    func stop()
}

/// The only hosts that the tests' browsers can resolve; both resolve to this machine.
let testHosts = ["site.test", "other.test"]

/// Firefox, driven by its own protocol, Marionette.
///
/// A message consists of the length of its JSON, a colon, and the JSON.
// Only the test that creates an instance accesses its process.
final class Firefox: Browser, @unchecked Sendable {
    static let program = Program.find("firefox-esr", "firefox")

    private let process = Process()
    private let profile: TemporaryFolder
    /// The connection to Firefox, which trusts the test's certificate only while this connection is open.
    private var marionette: Marionette?
    /// The ID of the extension; "" for none.
    private var extensionID = ""

    init(extensionFolder: URL?, address: URL) async throws {
        profile = try TemporaryFolder()
        let preferences: [String: Any] = [
            "marionette.port": 0, "network.dns.localDomains": testHosts.joined(separator: ","),
            "app.update.enabled": false, "browser.shell.checkDefaultBrowser": false, "dom.security.https_first": false,
            "datareporting.policy.dataSubmissionEnabled": false, "network.captive-portal-service.enabled": false,
            "network.connectivity-service.enabled": false, "media.autoplay.default": 0,
            "media.autoplay.blocking_policy": 0, "services.settings.server": "http://127.0.0.1:9/",
            "app.normandy.enabled": false, "security.sandbox.content.level": 0, "network.proxy.type": 0,
            "browser.safebrowsing.malware.enabled": false, "browser.safebrowsing.phishing.enabled": false,
            "extensions.update.enabled": false,
        ]
        let lines = try preferences.map { name, value in
            let value = try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
            return "user_pref(\"\(name)\", \(String(decoding: value, as: UTF8.self)));\n"
        }
        try profile.write(lines.joined(), to: "user.js")
        process.executableURL = URL(fileURLWithPath: Self.program ?? "firefox")
        process.arguments = [
            "--headless", "--no-remote", "--marionette", "-remote-allow-system-access", "--profile", profile.url.path,
        ]
        process.environment = try profile.environment(["HOME": profile.url.path, "MOZ_DISABLE_CONTENT_SANDBOX": "1"])
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.runWithSignals()
        do {
            try await drive(extensionFolder, to: address)
        } catch {
            stop()
            throw error
        }
    }

    private func drive(_ extensionFolder: URL?, to address: URL) async throws {
        let file = profile.url.appendingPathComponent("MarionetteActivePort")
        var port: UInt16?
        try await wait(for: "Firefox") {
            let text = try? String(contentsOf: file, encoding: .utf8)
            port = text.flatMap { UInt16($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
            return port != nil
        }
        let found = port ?? 0
        marionette = try await onThread { try Marionette(port: found) }
        try await send(("WebDriver:NewSession", ["acceptInsecureCerts": true]))
        if let extensionFolder {
            extensionID = try await send(("Addon:Install", ["path": extensionFolder.path, "temporary": true]))
        }
        try await open(address.absoluteString)
    }

    /// Sends commands, one after the other, and returns the result of the last one.
    @discardableResult
    private func send(_ commands: (String, [String: any Sendable])...) async throws -> String {
        let marionette = marionette
        return try await onThread {
            var result = ""
            for (command, parameters) in commands {
                result = try marionette?.send(command, parameters) as? String ?? ""
            }
            return result
        }
    }

    func openToolbar() async throws {
        let script = "return WebExtensionPolicy.getByID(arguments[0]).mozExtensionHostname"
        let host = try await send(
            ("Marionette:SetContext", ["value": "chrome"]),
            ("WebDriver:ExecuteScript", ["script": script, "args": [extensionID]])
        )
        try await send(("Marionette:SetContext", ["value": "content"]))
        try await open("moz-extension://\(host)/toolbar.html")
    }

    func open(_ address: String) async throws { try await send(("WebDriver:Navigate", ["url": address])) }

    func run(_ body: String) async throws -> String {
        let script = "return (async () => { \(body) })()"
        return try await send(("WebDriver:ExecuteScript", ["script": script, "args": [String]()]))
    }

    func stop() { process.stopGroup() }
}

/// Connects to a port of this machine.
func connection(to port: UInt16) throws -> FileHandle {
    // The socket types are an enumeration only in Glibc.
    #if canImport(Glibc)
    let stream = Int32(SOCK_STREAM.rawValue)
    #else
    let stream = SOCK_STREAM
    #endif
    let descriptor = socket(AF_INET, stream, 0)
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
    guard isConnected else { throw POSIXError(.ECONNREFUSED) }
    return handle
}

/// A connection to Firefox.
private struct Marionette {
    struct Failure: Error {
        let answer: String
    }

    private let handle: FileHandle

    init(port: UInt16) throws {
        handle = try connection(to: port)
        _ = try receive()
    }

    /// Sends a command, and waits for its answer: `[1, id, error, result]`.
    func send(_ command: String, _ parameters: [String: Any]) throws -> Any? {
        let message = try JSONSerialization.data(withJSONObject: [0, 1, command, parameters] as [Any])
        try handle.write(contentsOf: Data("\(message.count):".utf8) + message)
        let answer = try receive()
        let parts = try JSONSerialization.jsonObject(with: answer) as? [Any] ?? []
        guard parts.count == 4, parts[2] is NSNull else {
            throw Failure(answer: String(decoding: answer, as: UTF8.self))
        }
        return (parts[3] as? [String: Any])?["value"]
    }

    private func receive() throws -> Data {
        var length = 0
        while let byte = try handle.read(upToCount: 1)?.first, byte != UInt8(ascii: ":") {
            length = length * 10 + Int(byte) - 48
        }
        var data = Data()
        while data.count < length, let part = try handle.read(upToCount: length - data.count), !part.isEmpty {
            data += part
        }
        return data
    }
}
#endif
