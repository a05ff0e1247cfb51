import Foundation
import LoopbackServer
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("Installing")
    final class InstallationTests: InstalledSuite {
        @Test("Installing makes the cache URLCache.shared, with the previous cache's capacities")
        func install() throws {
            #expect(URLCache.shared === cache)
            #expect(cache.memoryCapacity == sharedBefore.memoryCapacity)
            #expect(cache.diskCapacity == sharedBefore.diskCapacity)
            #expect(URLSessionConfiguration.default.urlCache === cache)
            cache.memoryCapacity = 1_234_567
            cache.install()
            #expect(URLCache.shared === cache)
            #expect(cache.memoryCapacity == 1_234_567)
            let other = try folder.cache("{}")
            other.install()
            #expect(URLCache.shared === other)
            #expect(other.memoryCapacity == 1_234_567)
        }

        // On Apple's platforms the library does not change the shared session's configuration, because that session
        // consults `URLCache.shared`.
        #if canImport(FoundationNetworking)
        @Test(
            "Installing again, installing another cache and uninstalling do not write to the shared session's configuration"
        )
        func configurationOfSharedSession() async throws {
            let configuration = URLSession.shared.configuration
            let inUse = try #require(configuration.urlCache)
            let other = try folder.cache("{}")
            for install in [{ self.cache.install() }, { other.install() }, { other.uninstall() }] {
                install()
                #expect(configuration.urlCache === inUse)
                #expect(configuration.protocolClasses?.filter { $0 is SubstitutionURLProtocol.Type }.count == 1)
            }
            #expect(try await answerer(of: request, in: .shared) == "network")
            let head = try #require(cache.cachedResponse(for: request)).response
            let stored = CachedURLResponse(response: head, data: Data("stored".utf8))
            cache.install()
            let elsewhere = URLRequest(url: server.url.appendingPathComponent("elsewhere"))
            inUse.storeCachedResponse(stored, for: elsewhere)
            #expect(inUse.cachedResponse(for: request) === cache.cachedResponse(for: request))
            #expect(inUse.memoryCapacity == cache.memoryCapacity)
            #expect(inUse.diskCapacity == cache.diskCapacity)
            inUse.removeAllCachedResponses()
            #expect(inUse.cachedResponse(for: elsewhere) == nil)
        }
        #endif

        @Test("Replacing the cache affects the shared session, but not sessions created in between")
        func replace() async throws {
            let meanwhile = URLSession(configuration: .default)
            try folder.cache("{}").install()
            #expect(try await answerer(of: request, in: .shared) == "network")
            #expect(try await answerer(of: request, in: meanwhile) == "bundle")
        }

        @Test(
            "Uninstalling restores the app's original shared cache, and its capacities"
        )
        func uninstall() async throws {
            let capacity = sharedBefore.memoryCapacity
            cache.memoryCapacity = 1_234_567
            try folder.cache("{}").install()
            cache.install()
            cache.install()
            cache.uninstall()
            #expect(URLCache.shared === sharedBefore)
            #expect(sharedBefore.memoryCapacity == capacity)
            #expect(Installation.current == nil)
            #expect(try await answerer(of: request, in: .shared) == "network")
            let configuration = URLSessionConfiguration.default
            configuration.useSubstitutions()
            #expect(try await answerer(of: request, in: URLSession(configuration: configuration)) == "network")
            cache.uninstall()
            #expect(URLCache.shared === sharedBefore)
            cache.install()
            #expect(try await answerer(of: request, in: .shared) == "bundle")
        }

        @Test("Uninstalling a cache that was already replaced has no effect")
        func uninstallReplaced() async throws {
            let other = try folder.cache("{}")
            other.install()
            cache.uninstall()
            #expect(URLCache.shared === other)
            #expect(Installation.current?.cache === other)
            other.uninstall()
            #expect(URLCache.shared === sharedBefore)
        }

        @Test("Uninstalling changes neither a shared cache the app has set since, nor sessions that copied this one")
        func uninstallElsewhere() async throws {
            let copied = URLSession(configuration: .default)
            let other = URLCache(memoryCapacity: 1000, diskCapacity: 0, diskPath: nil)
            URLCache.shared = other
            defer { URLCache.shared = sharedBefore }
            cache.uninstall()
            #expect(URLCache.shared === other)
            #expect(try await answerer(of: request, in: copied) == "bundle")
            cache.install()
            cache.uninstall()
            #expect(URLCache.shared === other)
        }

        @Test("Uninstalling restores the previous cache, even if the app itself set this one as URLCache.shared")
        func uninstallSetByHand() throws {
            cache.uninstall()
            for isOther in [false, true] {
                URLCache.shared = cache
                let installed = isOther ? try folder.cache("{}") : cache
                installed.install()
                installed.uninstall()
                #expect(URLCache.shared === sharedBefore)
            }
        }

        @Test("An object that is released with a replaced archive may ask the protocol and uninstall a cache")
        func uninstallAtTheEnd() throws {
            final class Fixture: Sendable {
                let cache: SubstitutionCache
                let request: URLRequest

                init(_ cache: SubstitutionCache, _ request: URLRequest) {
                    (self.cache, self.request) = (cache, request)
                }

                deinit {
                    _ = SubstitutionURLProtocol.canInit(with: request)
                    cache.uninstall()
                }
            }
            func install() throws {
                let fixture = Fixture(cache, request)
                let archive = try OfflineArchive(directory: folder.url, capacity: 1000, hosts: []) { _ in
                    withExtendedLifetime(fixture) { true }
                }
                cache.install(archive: archive)
            }
            for other in [try folder.cache("{}"), cache] {
                try install()
                other.install()
            }
        }

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
    }
}
