package import Foundation
package import LoopbackServer

/// A site with redirects, errors and a lost connection, and a manifest with a network-first entry for each path.
package enum NetworkFirstSite {
    package static let paths = ["200", "503", "204", "moved", "moved-to-503", "moved-to-named", "moved-twice", "cut"]

    /// The text that the server sends for all other paths.
    package static let text = "from the network\n"

    package static let body = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 / 13) })

    @Sendable package static func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        switch request.path {
        case "/200": .init(body: body, transfer: .chunked(7000))
        case "/503": .init(status: 503, body: body, transfer: .chunked(7000))
        case "/204": .init(status: 204)
        case "/moved": .init(status: 302, headers: ["Location": "/200"], body: Data("moved".utf8))
        case "/moved-to-503": .init(status: 307, headers: ["Location": "/503"])
        case "/moved-to-named": .init(status: 301, headers: ["Location": "/named"])
        case "/moved-twice": .init(status: 303, headers: ["Location": "/moved-to-named"])
        case "/cut": .init(body: body, transfer: .closing(after: 60_000))
        default: .text(text)
        }
    }

    /// Starts a server, and returns it with a manifest for `a.txt`.
    ///
    /// For `paths`, the file answers if the network's answer meets `conditions`, by default a status of 503. For
    /// `/named`, the file always answers. The server's default answers are those of ``answer``.
    package static func start(
        when conditions: String = "503",
        paths: [String] = paths,
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response = answer
    ) throws -> (server: LoopbackServer, manifest: String) {
        let server = try LoopbackServer(answer)
        let url = server.url.absoluteString
        let entries = paths.map { "\"\(url)/\($0)\": { \"file\": \"a.txt\", \"when\": \(conditions) }" }
        return (server, "{ \"\(url)/named\": \"a.txt\", \(entries.joined(separator: ", ")) }")
    }
}
