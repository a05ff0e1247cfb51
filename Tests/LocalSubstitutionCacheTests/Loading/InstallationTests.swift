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
    @Suite("Installing caches, and registering sessions")
    final class InstallationTests: InstalledSuite {
        @Test("Installing makes the cache URLCache.shared, with the previous cache's capacities")
        func install() throws {
            #expect(URLCache.shared === cache && URLSessionConfiguration.default.urlCache === cache)
            #expect(cache.memoryCapacity == sharedBefore.memoryCapacity)
            #expect(cache.diskCapacity == sharedBefore.diskCapacity)
            cache.memoryCapacity = 1_234_567
            for next in [cache, try folder.cache("{}")] {
                next.install()
                #expect(URLCache.shared === next && next.memoryCapacity == 1_234_567)
            }
        }

        // On Apple's platforms the library does not change the shared session's configuration, because that session
        // consults `URLCache.shared`.
        #if canImport(FoundationNetworking)
        @Test("Installing again, another cache, and uninstalling do not write to the shared session's configuration")
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
            #expect(inUse.memoryCapacity == cache.memoryCapacity && inUse.diskCapacity == cache.diskCapacity)
            inUse.removeAllCachedResponses()
            #expect(inUse.cachedResponse(for: elsewhere) == nil)
        }
        #endif

        @Test("Another cache replaces this one in the shared session only, and uninstalling restores the app's own")
        func uninstall() async throws {
            let (capacity, other) = (sharedBefore.memoryCapacity, try folder.cache("{}"))
            cache.memoryCapacity = 1_234_567
            let meanwhile = URLSession(configuration: .default)
            other.install()
            #expect(try await answerer(of: request, in: .shared) == "network")
            #expect(try await answerer(of: request, in: meanwhile) == "bundle")
            // Uninstalling a cache that was already replaced has no effect.
            cache.uninstall()
            #expect(URLCache.shared === other && Installation.current?.cache === other)
            for _ in 0..<2 { cache.install() }
            for _ in 0..<2 {
                cache.uninstall()
                #expect(URLCache.shared === sharedBefore && sharedBefore.memoryCapacity == capacity)
                #expect(Installation.current == nil)
            }
            for session in [URLSession.shared, .using(.default)] {
                #expect(try await answerer(of: request, in: session) == "network")
            }
            cache.install()
            #expect(try await answerer(of: request, in: .shared) == "bundle")
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
            // The app itself may also have set this cache, or another one of the library.
            for installed in [cache, try folder.cache("{}")] {
                URLCache.shared = cache
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
            let refused = request.with(["Authorization": "Basic eDp5"])
            #expect(try await answerer(of: refused, in: session) == "network")
            let task = session.dataTask(with: request)
            cache.storeCachedResponse(CachedURLResponse(response: prepared.response, data: Data("x".utf8)), for: task)
            cache.removeCachedResponse(for: task)
            let answered = Flag()
            cache.getCachedResponse(for: task) { if $0 === prepared { answered.set() } }
            #expect(answered.isSet, "not at once, on the caller's thread")
            #expect(try await answerer(of: request, in: session) == "bundle")
            #expect(cache.cachedResponse(for: request) === prepared)
        }

        /// Starts a server of ``NetworkFirstSite``, and installs a cache with its manifest.
        private func makeServer() throws -> LoopbackServer {
            let site = try NetworkFirstSite.start()
            try folder.cache(site.manifest).install()
            return site.server
        }

        @Test("A session may be registered twice, and another use its configuration", Platform.measuredOnLinux)
        func derived() async throws {
            let server = try makeServer()
            defer { server.stop() }
            let (client, other) = (StrictClient(), StrictClient())
            let session = client.session()
            let classes = session.configuration.protocolClasses ?? []
            try session.registerForSubstitutions()
            #expect(classes.first == session.configuration.protocolClasses?.first)
            session.configuration.useSubstitutions()
            #expect(classes.count == session.configuration.protocolClasses?.count)
            let late = URLSession.named(.ephemeral, delegate: StrictClient())
            for session in [session, other.session(session.configuration), late] {
                let (data, _) = try await session.result(of: server.request("503")) { _ in }
                #expect(data == Data(Self.fileText.utf8))
            }
            #expect(client.complaints == [] && other.complaints == [])
        }

        @Test("One call creates a registered session, and does not change the configuration")
        func substituting() async throws {
            let server = try makeServer()
            defer { server.stop() }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["X-App": "first"]
            configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            let (classes, cache) = (configuration.protocolClasses ?? [], configuration.urlCache)
            let queue = OperationQueue()
            let sessions = [
                URLSession(substituting: configuration),
                URLSession(substituting: configuration, delegate: StrictClient(), delegateQueue: queue),
            ]
            for session in sessions {
                try session.registerForSubstitutions()
                let (head, data) = try await TaskKind.async.load(server.request("503"), in: session)
                #expect(head.statusCode == 200 && data == Data(Self.fileText.utf8))
            }
            #expect(sessions[1].delegateQueue === queue && sessions[1].delegate is StrictClient)
            #expect(server.requests.allSatisfy { $0.headers["x-app"] == "first" } && server.requests.count == 2)
            #expect(configuration.urlCache === cache)
            #expect((configuration.protocolClasses ?? []).elementsEqual(classes) { $0 == $1 })
        }

        @Test("finishTasksAndInvalidate() right after resume() lets every load end")
        func finishing() async throws {
            let server = try makeServer()
            defer { server.stop() }
            for path in ["200", "503", "moved", "moved-twice"] {
                let client = StrictClient()
                let session = client.session()
                let task = session.dataTask(with: server.request(path))
                async let load = client.load(task)
                while task.state == .suspended { await Task.yield() }
                session.finishTasksAndInvalidate()
                let text = await load.body
                #expect(text == NetworkFirstSite.body || text == Data(Self.networkText.utf8))
                #expect(client.complaints == [])
            }
        }

        // Only on Linux does the library wrap a session's own cache in a `FrontCache`.
        #if canImport(FoundationNetworking)
        private func session(_ cache: URLCache?) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = cache
            return .using(configuration)
        }

        @Test("The front cache wraps a plain URLCache, but neither a subclass nor the shared cache")
        func place() {
            final class Own: URLCache, @unchecked Sendable {}
            let own = Own(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
            #expect(session(own).configuration.urlCache === own)
            #expect(session(.shared).configuration.urlCache === URLCache.shared)
            #expect(session(nil).configuration.urlCache == nil)
        }

        @Test("The session's own cache finds, stores and removes as before, but a file takes precedence")
        func passesOn() async throws {
            let stock = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
            let session = session(stock)
            let front = try #require(session.configuration.urlCache as? FrontCache)
            let other = URLRequest(url: server.url.appendingPathComponent("stored"))
            for request in [request, other] {
                front.storeCachedResponse(try stored("stored", for: request), for: request)
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
        #endif
    }
}
