// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport

/// A site that tests can change while its server runs, and a folder with a manifest for the site.
// Mutable state is only accessed inside the lock.
final class RemoteSite: @unchecked Sendable {
    private let lock = NSLock()
    private var answers: [String: @Sendable (LoopbackServer.Request) -> LoopbackServer.Response] = [:]
    private(set) var server: LoopbackServer?
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer { [weak self] request in self?.answer(request) ?? .text("", status: 503) }
        try folder.write("{\n}\n", to: "manifest.json")
    }

    var url: String { server?.url.absoluteString ?? "" }

    /// The name of the subfolder that receives the server's files.
    var name: String { "127.0.0.1_\(server?.url.port ?? 0)" }

    /// Sets the response for a path.
    func set(_ path: String, _ response: LoopbackServer.Response) { set(path) { _ in response } }

    /// Sets the function that responds to the requests for a path.
    func set(_ path: String, _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response) {
        lock.withLock { answers[path] = answer }
    }

    /// Answers a path with a stylesheet that never ends and is never silent for long.
    func setEndless(_ path: String) {
        var endless = LoopbackServer.Response.stream {
            Thread.sleep(forTimeInterval: 0.1)
            return Data("a".utf8)
        }
        endless.headers["Content-Type"] = "text/css"
        set(path, endless)
    }

    /// Answers a path with a body and, by default, with an `ETag` that depends on the body.
    func set(_ path: String, _ body: String, type: String, hasVersion: Bool = true) {
        var headers = ["Content-Type": type]
        if hasVersion {
            headers["ETag"] = "\"\(body.hashValue)\""
            headers["Last-Modified"] = "Sun, 01 Nov 2026 10:00:00 GMT"
        }
        set(path, LoopbackServer.Response(headers: headers, body: Data(body.utf8)))
    }

    private func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        guard let response = lock.withLock({ answers[request.path] })?(request) else { return .text("no", status: 404) }
        guard response.status < 300, let etag = response.headers["ETag"], request.headers["if-none-match"] == etag
        else { return response }
        return LoopbackServer.Response(status: 304, headers: ["ETag": etag])
    }

    /// Returns the method and target of each request since the last call.
    func requests() -> [String] {
        defer { server?.forgetRequests() }
        return server?.requests.map { "\($0.method) \($0.target)" } ?? []
    }

    /// Runs the tool in the folder.
    func run(_ arguments: String...) async throws -> Program.Result { await Tool.run(arguments, in: folder.url) }

    /// Returns the content of a file in the folder; nil if there is no such file.
    func bytes(_ path: String) -> Data? { try? Data(contentsOf: folder.url.appendingPathComponent(path)) }

    /// Returns the text of a file in the folder; nil if there is no such file.
    func file(_ path: String) -> String? { bytes(path).map { String(decoding: $0, as: UTF8.self) } }

    /// The content of every file in the folder, keyed by path.
    var listing: [String: Data] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.url.path)) ?? []
        return paths.reduce(into: [:]) { $0[$1] = bytes($1) }
    }

    deinit { server?.stop() }
}
#endif
