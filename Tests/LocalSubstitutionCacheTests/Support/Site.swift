import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

import LocalSubstitutionCache

/// A server, and an installed manifest for the server's URLs.
///
/// The manifest's file always answers `/always`. It answers `/when` if a condition holds.
struct Site {
    let server: LoopbackServer
    let request: URLRequest
    let session: URLSession

    init(
        _ folder: TemporaryFolder,
        when conditions: String,
        _ respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    ) throws {
        server = try LoopbackServer(respond)
        let url = server.url.appendingPathComponent("when")
        request = server.request("when")
        let entry = "\"\(url.absoluteString)\": { \"file\": \"a.txt\", \"when\": \(conditions) }"
        try folder.cache("{ \(entry), \"\(server.url.absoluteString)/always\": \"a.txt\" }").install()
        session = .using(delegate: StrictClient(), registered: true)
    }

    /// A session with the configuration of `session`, but without a delegate.
    var plain: URLSession { URLSession(configuration: session.configuration) }
}

extension InstalledSuite {
    /// Returns a site where `/when` redirects with 302 to `target`.
    func redirecting(to target: String, when conditions: String = "[418, \"offline\"]") throws -> Site {
        try Site(folder, when: conditions) { request in
            switch request.path {
            case "/when": .init(status: 302, headers: ["Location": target], body: Data("moved".utf8))
            case "/503": .text("unavailable", status: 503)
            default: .text(Self.networkText)
            }
        }
    }

    /// Expects that the file answered, and that `Cache-Status` contains the parameters in `status`.
    func expectFile(
        _ result: (HTTPURLResponse, Data),
        _ status: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (head, data) = result
        #expect(head.statusCode == 200 && data == Data(Self.fileText.utf8), sourceLocation: sourceLocation)
        let fields = ["Cache-Status", "Content-Type", "Content-Length", "Cache-Control"]
        let length = String(Self.fileText.utf8.count)
        #expect(
            fields.map { head.value(forHTTPHeaderField: $0) ?? "" }
                == ["LocalSubstitutionCache; \(status)", "text/plain; charset=utf-8", length, "no-store"],
            sourceLocation: sourceLocation
        )
    }
}
