import Foundation
import LoopbackServer
import SubstitutionRules
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
        let early = URLSession.each(.default)
        let asking = AskingCache(capacity: 1_000_000)
        URLCache.shared = asking
        let own = URLSessionConfiguration.ephemeral
        own.urlCache = asking
        let sessions = [
            ("shared", [URLSession.shared]), ("default", URLSession.each(.default)), ("default, early", early),
            ("ephemeral", URLSession.each(.ephemeral)), ("ephemeral, own", URLSession.each(own)),
        ]
        // No server answers with the cache's body. So if a load returns this body, the cache answered the load.
        let urls = [
            server.url.appendingPathComponent("asked"), try #require(URL(string: "https://asked.invalid/asked")),
        ]
        var lines = [
            "", Self.askedRow("a URLCache of its own", "scheme", early.map { _ in ["asked", "used"] }),
        ]
        for (name, loaders) in sessions {
            for url in urls {
                var cells: [[String]] = []
                for session in loaders {
                    asking.forget()
                    let data = try? await session.data(from: url).0
                    cells.append([asking.isAsked, data == AskingCache.body].map { $0 ? "yes" : "no" })
                }
                lines.append(Self.askedRow(name, url.scheme ?? "", cells))
            }
        }
        let redirect = LoopbackServer.Response(status: 302, headers: ["Location": "/elsewhere"])
        lines.append(try await networkFirstRow("a refused redirect", when: "\"offline\"", redirect))
        // Other tests expect the file on Linux.
        if !Platform.isLinux {
            lines.append(try await networkFirstRow("a file instead of a 503", when: "503", .init(status: 503)))
        }
        return lines
    }

    private static func askedRow(_ name: String, _ scheme: String, _ cells: [[String]]) -> String {
        let columns = [name, scheme] + cells.joined(separator: ["newer:"])
        return zip(columns, [24, 8, 7, 5, 8, 7, 5]).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            .joined().trimmingCharacters(in: .whitespaces)
    }

    /// Returns the row for an app that refuses redirects, and loads the URL of a network-first entry.
    ///
    /// The app gets a response, of which the row has the status, or nothing until the timeout.
    private func networkFirstRow(
        _ name: String,
        when conditions: String,
        _ response: LoopbackServer.Response
    ) async throws -> String {
        let site = try Site(folder, when: conditions) { _ in response }
        defer { site.server.stop() }
        var request = site.request
        request.timeoutInterval = 30
        var cells: [[String]] = []
        for session in URLSession.each(.ephemeral, usingSubstitutions: true, delegate: RedirectDelegate.refuse) {
            let answer = try? await session.data(for: request).1 as? HTTPURLResponse
            cells.append([answer.map { String($0.statusCode) } ?? "nothing", ""])
        }
        return Self.askedRow(name, "http", cells)
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
