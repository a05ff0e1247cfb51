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
    @Suite("Loads that an archive keeps")
    final class ArchivedLoadTests: InstalledSuite {
        /// Installs a cache with an archive, and returns the archive and a registered session.
        private func makeArchivingSession(
            _ manifest: String = "{}",
            hostsWithCredentials: Set<String> = []
        ) throws -> (OfflineArchive, URLSession) {
            let archive = try makeArchive(hostsWithCredentials: hostsWithCredentials)
            try folder.cache(manifest).install(archive: archive)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.useSubstitutions()
            return (archive, URLSession.named(configuration, delegate: Collector()))
        }

        @Test("The network answers online, and the last copy offline, also after a relaunch")
        func archived() async throws {
            let version = Counter()
            let site = try LoopbackServer { _ in
                version.increment()
                return .text("version \(version.value)")
            }
            let (archive, session) = try makeArchivingSession()
            let request = URLRequest(url: site.url.appendingPathComponent("page"))
            for number in 1...3 {
                let (data, _) = try await session.data(for: request)
                #expect(String(decoding: data, as: UTF8.self) == "version \(number)")
            }
            #expect(archive.copies.map(\.url) == [request.url])
            site.stop()
            for kind in [TaskKind.async, .completion, .delegate] {
                let (head, data) = try await kind.load(request, in: session)
                #expect(String(decoding: data, as: UTF8.self) == "version 3")
                #expect(
                    head.value(forHTTPHeaderField: "Cache-Status")?.contains("fwd=bypass; detail=\"copy of") ?? false
                )
            }
            let other = URLRequest(url: site.url.appendingPathComponent("other"))
            await #expect(throws: URLError.self) { _ = try await session.data(for: other) }
            // Install again, as the app does at its next launch.
            let (again, next) = try makeArchivingSession()
            #expect(try await next.data(for: request).0 == Data("version 3".utf8))
            try again.removeAll()
            await #expect(throws: URLError.self) { _ = try await next.data(for: request) }
        }

        @Test("Failed, refused and mapped loads are not kept, and nothing is without an archive")
        func notArchived() async throws {
            let site = try LoopbackServer { request in
                switch request.path {
                case "/cut": .init(body: Data(count: 1000), transfer: .closing(after: 500))
                case "/404": .text("none", status: 404)
                case "/private": .init(headers: ["Cache-Control": "no-store"], body: Data("secret".utf8))
                default: .text("page")
                }
            }
            defer { site.stop() }
            let url = site.url.absoluteString
            let (archive, session) = try makeArchivingSession(
                "{ \"\(url)/always\": \"a.txt\", \"\(url)/when\": { \"file\": \"a.txt\", \"when\": \"offline\" } }"
            )
            for path in ["cut", "404", "private", "always", "when"] {
                _ = try? await session.data(from: site.url.appendingPathComponent(path))
            }
            var post = URLRequest(url: site.url.appendingPathComponent("post"))
            post.httpMethod = "POST"
            var optOut = URLRequest(url: site.url.appendingPathComponent("opt-out"))
            optOut.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
            var signed = URLRequest(url: site.url.appendingPathComponent("signed"))
            signed.setValue("Bearer x", forHTTPHeaderField: "Authorization")
            for request in [post, optOut, signed] { _ = try await session.data(for: request) }
            #expect(archive.copies.isEmpty)
            try folder.cache("{}").install()
            _ = try await session.data(from: site.url.appendingPathComponent("page"))
            #expect(archive.copies.isEmpty)
        }

        @Test("The session's cookies count as credentials, which a host may be allowed", Platform.measuredOnLinux)
        func archivedCookies() async throws {
            let site = try LoopbackServer { request in
                .init(headers: request.path == "/page" ? [:] : ["Set-Cookie": "id=1; Path=/"], body: Data("page".utf8))
            }
            let (archive, session) = try makeArchivingSession()
            let url = site.url.appendingPathComponent("page")
            _ = try await session.data(from: url)
            #expect(archive.copies.map(\.url) == [url])
            try archive.removeAll()
            for path in ["cookie", "page"] { _ = try await session.data(from: site.url.appendingPathComponent(path)) }
            #expect(site.requests.last?.headers["cookie"] == "id=1")
            #expect(archive.copies.isEmpty)
            #expect(archive.refusalCounts == [.responseField("Set-Cookie"): 1, .requestField("Cookie"): 1])
            let (allowing, next) = try makeArchivingSession(hostsWithCredentials: ["127.0.0.1"])
            for path in ["cookie", "page"] { _ = try await next.data(from: site.url.appendingPathComponent(path)) }
            #expect(allowing.copies.count == 2)
            site.stop()
            #expect(try await next.data(from: url).0 == Data("page".utf8))
        }

        @Test("A session that signs in by its own fields, and one that is not registered, keep nothing")
        func ownFields() async throws {
            let site = try LoopbackServer { _ in .text("page") }
            defer { site.stop() }
            let archive = try makeArchive()
            try folder.cache("{}").install(archive: archive)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["Authorization": "Bearer x"]
            let signed = URLSession(substituting: configuration)
            let unregistered = URLSessionConfiguration.ephemeral
            unregistered.useSubstitutions()
            for session in [signed, URLSession(configuration: unregistered)] {
                for path in ["a", "b"] { _ = try await session.data(from: site.url.appendingPathComponent(path)) }
            }
            #expect(archive.copies.isEmpty)
            #expect(archive.refusalCounts == [.requestField("Authorization"): 2])
            // A second session of one class may add other fields.
            let (first, second) = (URLSession(configuration: unregistered), URLSession(configuration: unregistered))
            try first.registerForSubstitutions()
            _ = try await first.data(from: site.url.appendingPathComponent("c"))
            #expect(archive.copies.count == 1)
            try second.registerForSubstitutions()
            _ = try await second.data(from: site.url.appendingPathComponent("d"))
            withExtendedLifetime(first) { #expect(archive.copies.count == 1) }
        }

        @Test("Loads that are not kept are counted by reason", Platform.measuredOnLinux)
        func refusals() async throws {
            let site = try LoopbackServer { request in
                switch request.path {
                case "/404": .text("none", status: 404)
                case "/private": .init(headers: ["Cache-Control": "private, no-store"], body: Data("p".utf8))
                case "/vary": .init(headers: ["Vary": "Cookie"], body: Data("v".utf8))
                case "/long": .init(body: Data(count: 11_000_000))
                case "/way": .init(status: 302, headers: ["Location": "/page", "Set-Cookie": "id=1; Path=/page"])
                default: .text("page")
                }
            }
            defer { site.stop() }
            let (archive, session) = try makeArchivingSession("{ \"\(site.url.absoluteString)/named\": \"a.txt\" }")
            let other = URLSession(substituting: .ephemeral, delegate: Collector())
            func load(
                _ path: String,
                _ kind: TaskKind,
                _ fields: [String: String] = [:],
                in session: URLSession
            ) async throws {
                var request = URLRequest(url: site.url.appendingPathComponent(path))
                for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
                _ = try await kind.load(request, in: session)
            }
            for (kind, session) in [(TaskKind.async, other), (.delegate, session)] {
                for path in ["404", "private", "vary", "long", "named", "kept"] {
                    try await load(path, kind, in: session)
                }
                try await load("token", kind, ["Authorization": "Bearer x"], in: session)
                try await load("asked", kind, ["Cache-Control": "no-store"], in: session)
            }
            try await load("delegate", .delegate, in: other)
            // Foundation on Linux shows no redirect.
            try await load("way", .async, in: other)
            #expect(
                archive.refusalCounts == [
                    .status: 2, .responseField("Cache-Control"): 2, .requestField("Cache-Control"): 2,
                    .responseField("Vary"): 2, .length: 2, .requestField("Authorization"): 2, .unseen: 3,
                ]
            )
            #expect(archive.copies.map(\.url.lastPathComponent) == ["kept"])
        }

        @Test("An object that is released with a replaced installation may use the protocol in its deinit")
        func endingInstallation() throws {
            final class Asking: Sendable {
                let request: URLRequest
                init(_ request: URLRequest) { self.request = request }
                deinit { _ = SubstitutionURLProtocol.canInit(with: request) }
            }
            func install() throws {
                let asking = Asking(request)
                let archive = try OfflineArchive(directory: folder.url, capacity: 1000, hosts: []) { _ in
                    asking.request.url != nil
                }
                try folder.cache("{}").install(archive: archive)
            }
            try install()
            try folder.cache("{}").install()
        }
    }
}
