import Foundation
import LoopbackServer
import SubstitutionStandards
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

/// The last rows of the table: whether a session asks a subclass of `URLCache`, and whether the session uses the
/// answer.
///
/// Only the last row involves this library.
extension InstalledTests.WhoAnswersTests {
    func askedRows() async throws -> [String] {
        cache.uninstall()
        defer { URLCache.shared = sharedBefore }
        let early = URLSession(configuration: .default)
        let asking = AskingCache(capacity: 1_000_000)
        URLCache.shared = asking
        let own = URLSessionConfiguration.ephemeral
        own.urlCache = asking
        let sessions = [
            ("shared", URLSession.shared), ("default", URLSession(configuration: .default)), ("default, early", early),
            ("ephemeral", URLSession(configuration: .ephemeral)), ("ephemeral, own", URLSession(configuration: own)),
        ]
        // No server answers with the cache's body. So if a load returns this body, the cache answered the load.
        let urls = [
            server.url.appendingPathComponent("asked"), try #require(URL(string: "https://asked.invalid/asked")),
        ]
        var lines = ["", Self.askedRow("a URLCache of its own", "scheme", "asked", "used")]
        for (name, session) in sessions {
            for url in urls {
                asking.forget()
                let data = try? await session.data(from: url).0
                let isUsed = data == AskingCache.body
                lines.append(
                    Self.askedRow(name, url.scheme ?? "", asking.isAsked ? "yes" : "no", isUsed ? "yes" : "no")
                )
            }
        }
        lines.append(try await refusedRedirectRow())
        return lines
    }

    private static func askedRow(_ columns: String...) -> String {
        zip(columns, [24, 8, 7, 5]).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined()
            .trimmingCharacters(in: .whitespaces)
    }

    /// Returns the row for an app that refuses the redirect of a network-first entry.
    ///
    /// The app gets the 3xx, or nothing until the timeout.
    private func refusedRedirectRow() async throws -> String {
        let site = try Site(folder, when: "\"offline\"") { _ in .init(status: 302, headers: ["Location": "/elsewhere"])
        }
        defer { site.server.stop() }
        let session = URLSession(
            configuration: site.session.configuration,
            delegate: RedirectPolicy.refuse,
            delegateQueue: nil
        )
        var request = site.request
        request.timeoutInterval = 30
        let answer = try? await session.data(for: request).1 as? HTTPURLResponse
        return Self.askedRow("a refused redirect", "http", answer.map { String($0.statusCode) } ?? "nothing")
    }
}

/// A cache that answers every request, and records that it was asked.
// Mutable state is only accessed inside the lock.
private final class AskingCache: URLCache, @unchecked Sendable {
    static let body = Data("from the asking cache".utf8)

    private let lock = NSLock()
    private var count = 0

    // This is not `init()`, which would need `override` on Apple's systems and must not have `override` on Linux.
    init(capacity: Int) {
        super.init(memoryCapacity: capacity, diskCapacity: 0, diskPath: nil)
    }

    var isAsked: Bool { lock.withLock { count > 0 } }

    func forget() { lock.withLock { count = 0 } }

    private func answer(to request: URLRequest?) -> CachedURLResponse? {
        lock.withLock { count += 1 }
        let fields = ["Cache-Control": "max-age=31536000", "Content-Length": String(Self.body.count)]
        return request?.url.flatMap {
            HTTPURLResponse(url: $0, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        }.map { CachedURLResponse(response: $0, data: Self.body) }
    }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? { answer(to: request) }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(answer(to: dataTask.currentRequest))
    }
}
