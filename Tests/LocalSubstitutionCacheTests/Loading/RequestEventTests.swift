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
@testable import LocalSubstitutionDevelopment

/// Each load is reported once, as a hit or a miss, and a fallback follows the miss that it replaces.
extension InstalledTests {
    @Suite("Events for the app")
    final class RequestEventTests: InstalledSuite {
        /// A server, and an installed cache whose events are collected.
        private final class App {
            let site: LoopbackServer
            let cache: SubstitutionCache
            private let events = Shared<[String]>([])
            let reporter: EventReporter

            init(_ folder: TemporaryFolder) throws {
                site = try LoopbackServer { request in
                    switch request.path {
                    case "/gone": .text("network", status: 404)
                    case "/to-file": .init(status: 302, headers: ["Location": "/a.txt"])
                    case "/private" where request.headers["authorization"] == nil: .challenge
                    default: .text("network")
                    }
                }
                let manifest = """
                    { "SITE/a.txt": "a.txt", "SITE/gone": { "file": "a.txt", "when": [404, "offline"] },
                      "SITE/to-file": { "file": "a.txt", "when": 404 } }
                    """
                cache = try folder.cache(manifest.replacingOccurrences(of: "SITE", with: site.url.absoluteString))
                cache.install()
                reporter = EventReporter { [events] event in
                    guard let event else { return }
                    let file = event.substitution?.path ?? (event.kind == .fallback ? "archive" : nil)
                    let words = ["\(event.kind)", event.url.url.lastPathComponent, file].compactMap(\.self)
                    events.locked.withLock { $0.append(words.joined(separator: " ")) }
                }
                cache.table.changeReporters { [reporter] in $0 + [reporter] }
            }

            deinit {
                cache.uninstall()
                site.stop()
            }

            func request(_ path: String, _ method: String = "GET") -> URLRequest { site.request(path, method) }

            func load(_ paths: String..., in session: URLSession) async throws {
                for path in paths { _ = try await TaskKind.async.load(request(path), in: session) }
            }

            /// The events since the last call as text, once all loads that have ended are reported.
            var taken: [String] {
                reporter.queue.sync {}
                return events.locked.replace(with: [])
            }
        }

        /// A session of the app.
        enum Kind: CaseIterable {
            case shared, plain, using, registered, ephemeral, ownCache

            func session() -> URLSession {
                let configuration = self == .ephemeral ? URLSessionConfiguration.ephemeral : .default
                if self == .ownCache {
                    configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
                }
                if self == .shared { return .shared }
                return self == .plain
                    ? URLSession(configuration: configuration, delegate: StrictClient(), delegateQueue: nil)
                    : .using(configuration, delegate: StrictClient(), registered: self == .registered)
            }
        }

        @Test("Each load of each session is reported once", arguments: Kind.allCases)
        func once(kind: Kind) async throws {
            let app = try App(folder)
            let session = kind.session()
            for task in TaskKind.receiving where kind != .shared || task != .delegate {
                for path in ["a.txt", "page", "gone", "to-file"] {
                    _ = try await task.load(app.request(path), in: session)
                }
                // A session without the protocol applies no `when`. On Linux, nor does a task with a data delegate.
                let fallbacks = kind != .plain && task != .delegate
                #expect(
                    app.taken
                        == ["hit a.txt a.txt", "miss page", "miss gone"] + (fallbacks ? ["fallback gone a.txt"] : [])
                        + ["miss to-file"] + (fallbacks ? ["fallback to-file a.txt"] : []),
                    "\(task)"
                )
            }
            _ = try await TaskKind.async.load(app.request("a.txt", "HEAD"), in: session)
            _ = try await TaskKind.upload.load(app.request("a.txt", "POST"), in: session)
            #expect(app.taken == ["hit a.txt a.txt", "miss a.txt"])
            // Only the protocol answers these.
            var reloading = app.request("a.txt")
            reloading.cachePolicy = .reloadIgnoringLocalCacheData
            for request in [reloading, app.request("a.txt").with(["Authorization": "Bearer 1"])] {
                _ = try await TaskKind.async.load(request, in: session)
            }
            #expect(app.taken == (kind == .plain ? [] : ["hit a.txt a.txt", "hit a.txt a.txt"]))
        }

        @Test("A load that starts again after a challenge is reported once")
        func challenge() async throws {
            let app = try App(folder)
            let session = URLSession.using(.default, delegate: StrictClient.signingIn(), registered: true)
            #expect(try await TaskKind.delegate.load(app.request("private"), in: session).0.statusCode == 200)
            #expect(app.taken == ["miss private"])
        }

        @Test("Without a connection, a file or an archived copy is a fallback")
        func offline() async throws {
            let app = try App(folder)
            app.cache.install(archive: try makeArchive())
            let session = Kind.registered.session()
            try await app.load("page", in: session)
            app.site.stop()
            try await app.load("page", "gone", in: session)
            let expected = ["miss page", "miss page", "fallback page archive", "miss gone", "fallback gone a.txt"]
            #expect(app.taken == expected)
        }

        @Test("Each stream gets each event, ends alone, and then costs nothing")
        func streams() async throws {
            let app = try App(folder)
            app.cache.table.changeReporters { _ in [] }
            var (first, second) = (Optional(app.cache.events), Optional(app.cache.events))
            let before = Date()
            try await app.load("a.txt", "page", in: .shared)
            for stream in [first, second] {
                let events = try await #require(stream).prefix(2).reduce(into: []) { $0.append($1) }
                let dates = before...Date()
                #expect(events.map(\.kind) == [.hit, .miss] && events.allSatisfy { dates.contains($0.date) })
                let site = app.site.url.absoluteString
                #expect(events.map(\.description) == ["hit \(site)/a.txt → a.txt", "miss \(site)/page"])
            }
            first = nil
            #expect(app.cache.observers?.events.count == 1)
            second = nil
            #expect(app.cache.observers == nil)
            // Without a stream, the protocol leaves the request alone.
            #expect(!SubstitutionURLProtocol.canInit(with: app.request("page")))
        }

        @Test("A slow reader gets the newest thousand events")
        func slowReader() async throws {
            let cache = try folder.cache("{ \"https://h/old.txt\": \"a.txt\", \"https://h/new.txt\": \"a.txt\" }")
            let events = cache.events
            for name in ["old"] + Array(repeating: "new", count: 1000) {
                _ = cache.cachedResponse(for: URLRequest(url: try #require(URL(string: "https://h/\(name).txt"))))
            }
            for reporter in cache.observers?.events ?? [] { reporter.queue.sync {} }
            let names = await events.prefix(1000).reduce(into: Set<String>()) {
                $0.insert($1.url.url.lastPathComponent)
            }
            #expect(names == ["new.txt"])
        }

        @Test("The reader of a stream may call the cache and load requests, and ends with the cache")
        func reader() async throws {
            var cache: SubstitutionCache? = try folder.cache("{ \"https://h/a.txt\": \"a.txt\" }")
            let events = try #require(cache).events
            let request = URLRequest(url: try #require(URL(string: "https://h/a.txt")))
            _ = cache?.cachedResponse(for: request)
            var count = 0
            for await event in events {
                count += 1
                if count < 3 {
                    try cache?.reload()
                    _ = cache?.cachedResponse(for: request)
                } else {
                    cache = nil
                }
                #expect(event.kind == .hit)
            }
            #expect(count == 3)
        }

        @Test("A lookup by the app that finds a file is a hit; any other is no event")
        func lookup() throws {
            let app = try App(folder)
            let request = app.request("stored")
            app.cache.storeCachedResponse(try stored("stored", for: request), for: request)
            for path in ["a.txt", "page", "stored"] { _ = app.cache.cachedResponse(for: app.request(path)) }
            #expect(app.taken == ["hit a.txt a.txt"])
        }

        @Test("Loads that have ended are forgotten")
        func forgotten() async throws {
            let app = try App(folder)
            let session = Kind.plain.session()
            for _ in 0..<300 { try await app.load("a.txt", in: session) }
            #expect(app.taken.count == 300)
            #expect(app.reporter.loads.count < 300)
        }
    }
}
