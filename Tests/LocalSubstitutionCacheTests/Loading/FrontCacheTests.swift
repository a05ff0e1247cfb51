// Only on Linux does the library wrap a session's own cache in a `FrontCache`.
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import LoopbackServer
import TestSupport
import Testing

@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("The cache in front of a session's own cache")
    final class FrontCacheTests: InstalledSuite {
        private func session(_ cache: URLCache?) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = cache
            return .using(configuration)
        }

        @Test("The front cache wraps a plain URLCache, but neither a subclass nor the shared cache")
        func place() {
            final class Own: URLCache, @unchecked Sendable {}
            let stock = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
            let own = Own(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
            #expect(session(stock).configuration.urlCache is FrontCache)
            #expect(session(own).configuration.urlCache === own)
            #expect(session(.shared).configuration.urlCache === URLCache.shared)
            #expect(session(nil).configuration.urlCache == nil)
        }

        @Test("The session's own cache finds, stores and removes as before, but a file takes precedence")
        func passesOn() async throws {
            let stock = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
            let session = session(stock)
            let front = try #require(session.configuration.urlCache)
            let other = URLRequest(url: server.url.appendingPathComponent("stored"))
            for request in [request, other] {
                let url = try #require(request.url)
                let fields = ["Cache-Control": "max-age=1000", "Content-Type": "text/plain"]
                let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
                front.storeCachedResponse(
                    CachedURLResponse(response: try #require(head), data: Data("stored".utf8)),
                    for: request
                )
            }
            #expect(stock.cachedResponse(for: other)?.data == Data("stored".utf8))
            #expect(front.memoryCapacity == 1_000_000)
            #expect(try await session.data(for: request).0 == Data(Self.fileText.utf8))
            #expect(try await session.data(for: other).0 == Data("stored".utf8))
            front.removeCachedResponse(for: other)
            #expect(try await session.data(for: other).0 == Data(Self.networkText.utf8))
        }

        @Test("An answer that was made for another task is not used")
        func otherTask() async throws {
            let answer = try #require(cache.cachedResponse(for: request))
            let stranger = URLSession(configuration: .ephemeral).dataTask(with: request)
            let handed = FrontCache.HandedOverResponse(answer, to: stranger)
            try folder.write("of the other entry", to: "b.txt")
            let other = server.url.appendingPathComponent("b.txt")
            try folder.cache("{ \"\(other.absoluteString)\": \"b.txt\" }").install()
            let session = session(HookCache { _ in handed })
            #expect(try await session.data(from: other).0 == Data("of the other entry".utf8))
            withExtendedLifetime(stranger) {}
        }

        @Test("A session whose configuration no longer lists the protocol gets no file from the front cache")
        func withoutProtocol() async throws {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.useSubstitutions()
            let other = try #require(configuration.copy() as? URLSessionConfiguration)
            other.protocolClasses = URLSessionConfiguration.ephemeral.protocolClasses
            #expect(try await answerer(of: request, in: URLSession(configuration: other)) == "network")
        }
    }
}
#endif
