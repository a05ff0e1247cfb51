import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("Sessions that ask the shared cache")
    final class SharedSessionTests: InstalledSuite {
        @Test("No substitution is lost by session.reset(), by removing all responses or by a refused response")
        func nothingIsLost() async throws {
            let session = URLSession(configuration: .default)
            #expect(try await answerer(of: request, in: session) == "bundle")
            let prepared = try #require(cache.cachedResponse(for: request))
            await withCheckedContinuation { continuation in session.reset { continuation.resume() } }
            URLCache.shared.removeAllCachedResponses()
            // On Linux, if a request has `Authorization`, URL loading refuses the cache's response, and removes it from
            // the cache.
            var refused = request
            refused.setValue("Basic eDp5", forHTTPHeaderField: "Authorization")
            #expect(try await answerer(of: refused, in: session) == "network")
            cache.removeCachedResponse(for: session.dataTask(with: request))
            #expect(try await answerer(of: request, in: session) == "bundle")
            #expect(cache.cachedResponse(for: request) === prepared)
        }

        @Test("A task is answered at once, on the caller's thread, and stores nothing")
        func task() throws {
            let task = URLSession.shared.dataTask(with: request)
            let prepared = try #require(cache.cachedResponse(for: request))
            let answered = Flag()
            cache.getCachedResponse(for: task) { response in
                if response === prepared { answered.set() }
            }
            #expect(answered.isSet)
            cache.storeCachedResponse(CachedURLResponse(response: prepared.response, data: Data("x".utf8)), for: task)
            cache.removeCachedResponse(for: task)
            #expect(cache.cachedResponse(for: request) === prepared)
        }

        @Test("A URL without an entry is loaded as before")
        func otherURLs() async throws {
            let other = URLRequest(url: server.url.appendingPathComponent("b.txt"))
            #expect(try await answerer(of: other, in: .shared) == "network")
            #expect(server.requests.map(\.target) == ["/b.txt"])
        }

        @Test("200 loads at once are all answered from the bundle")
        func manyAtOnce() async throws {
            let request = request
            try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<200 { group.addTask { try await URLSession.shared.data(for: request).0 } }
                for try await data in group { #expect(data == Data(Self.fileText.utf8)) }
            }
            #expect(server.requests.isEmpty)
        }
    }
}
