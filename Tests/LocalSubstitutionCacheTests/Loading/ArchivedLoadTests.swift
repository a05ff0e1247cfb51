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
        private func launch(_ manifest: String = "{}", _ archive: OfflineArchive? = nil) throws
            -> (OfflineArchive, URLSession)
        {
            let archive = try archive ?? makeArchive()
            try folder.cache(manifest).install(archive: archive)
            return (archive, .using(delegate: StrictClient(), registered: true))
        }

        @Test("The network answers online, and the last copy offline, also after a relaunch")
        func archived() async throws {
            let version = Counter()
            let site = try LoopbackServer { _ in
                version.increment()
                return .text("version \(version.value)")
            }
            let (archive, session) = try launch()
            let request = URLRequest(url: site.url.appendingPathComponent("page"))
            for number in 1...3 {
                #expect(try await session.data(for: request).0 == Data("version \(number)".utf8))
            }
            #expect(archive.copies.map(\.url) == [request.url])
            site.stop()
            for kind in [TaskKind.async, .completion, .delegate] {
                let (head, data) = try await kind.load(request, in: session)
                let status = head.value(forHTTPHeaderField: "Cache-Status") ?? ""
                #expect(data == Data("version 3".utf8) && status.contains("fwd=bypass; detail=\"copy of"))
            }
            let other = URLRequest(url: site.url.appendingPathComponent("other"))
            await #expect(throws: URLError.self) { _ = try await session.data(for: other) }
            // Install again, as the app does at its next launch.
            let (again, next) = try launch()
            #expect(try await next.data(for: request).0 == Data("version 3".utf8))
            try again.removeAll()
            await #expect(throws: URLError.self) { _ = try await next.data(for: request) }
        }

        @Test("The session's cookies count as credentials, which a host may be allowed", Platform.measuredOnLinux)
        func archivedCookies() async throws {
            let site = try LoopbackServer { request in
                .init(headers: request.path == "/page" ? [:] : ["Set-Cookie": "id=1; Path=/"], body: Data("page".utf8))
            }
            let (archive, session) = try launch()
            let url = site.url.appendingPathComponent("page")
            _ = try await session.data(from: url)
            #expect(archive.copies.map(\.url) == [url])
            try archive.removeAll()
            for path in ["cookie", "page"] { _ = try await session.data(from: site.url.appendingPathComponent(path)) }
            #expect(site.requests.last?.headers["cookie"] == "id=1")
            #expect(archive.copies.isEmpty)
            #expect(archive.refusalCounts == [.responseField("Set-Cookie"): 1, .requestField("Cookie"): 1])
            let (allowing, next) = try launch("{}", makeArchive(hostsWithCredentials: ["127.0.0.1"]))
            for path in ["cookie", "page"] { _ = try await next.data(from: site.url.appendingPathComponent(path)) }
            #expect(allowing.copies.count == 2)
            site.stop()
            #expect(try await next.data(from: url).0 == Data("page".utf8))
        }

        @Test("A session that signs in by its own fields, and one that is not registered, keep nothing")
        func ownFields() async throws {
            let site = try LoopbackServer { _ in .text("page") }
            defer { site.stop() }
            let (archive, _) = try launch()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["Authorization": "Bearer x"]
            let unregistered = URLSessionConfiguration.ephemeral
            for session in [URLSession(substituting: configuration), .using(unregistered)] {
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
                case "/cut": .init(body: Data(count: 1000), transfer: .closing(after: 500))
                case "/way": .init(status: 302, headers: ["Location": "/page", "Set-Cookie": "id=1; Path=/page"])
                default: .text("page")
                }
            }
            defer { site.stop() }
            let url = site.url.absoluteString
            let (archive, session) = try launch(
                "{ \"\(url)/named\": \"a.txt\", \"\(url)/when\": { \"file\": \"a.txt\", \"when\": \"offline\" } }"
            )
            let other = URLSession(substituting: .ephemeral, delegate: StrictClient())
            let requests =
                ["404", "private", "vary", "long", "named", "kept"].map { site.request($0) } + [
                    site.request("token", "GET", ["Authorization": "Bearer x"]),
                    site.request("asked", "GET", ["Cache-Control": "no-store"]),
                ]
            for (kind, session) in [(TaskKind.async, other), (.delegate, session)] {
                for request in requests { _ = try await kind.load(request, in: session) }
            }
            _ = try await TaskKind.delegate.load(site.request("delegate"), in: other)
            // Foundation on Linux shows no redirect.
            _ = try await TaskKind.async.load(site.request("way"), in: other)
            #expect(
                archive.refusalCounts == [
                    .status: 2, .responseField("Cache-Control"): 2, .requestField("Cache-Control"): 2,
                    .responseField("Vary"): 2, .length: 2, .requestField("Authorization"): 2, .unseen: 3,
                ]
            )
            var optOut = site.request("opt-out")
            optOut.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
            for request in [optOut, site.request("post", "POST"), site.request("cut"), site.request("when")] {
                _ = try? await session.data(for: request)
            }
            try folder.cache("{}").install()
            _ = try await session.data(for: site.request("page"))
            #expect(archive.copies.map(\.url.lastPathComponent) == ["kept"])
        }

        /// A server whose answer a test sets, and an entry for the server's one page.
        private struct Page {
            let server: LoopbackServer
            let answer = Shared<LoopbackServer.Response>(.text(InstalledSuite.networkText))
            let request: URLRequest

            init() throws {
                server = try LoopbackServer { [answer] _ in answer.locked.value }
                request = server.request("page")
            }

            func manifest(when conditions: String = "\"offline\"", version: Int = 7) -> String {
                "{ \"$version\": \(version), \"\(server.url)/page\": { \"file\": \"a.txt\", \"when\": \(conditions) } }"
            }
        }

        private func setFileDate(_ date: Date) throws {
            let path = folder.url.appendingPathComponent("a.txt").path
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }

        /// Returns the source of an answer by its `Cache-Status`, or the kind of error.
        private func source(of request: URLRequest, _ kind: TaskKind, in session: URLSession) async throws -> String {
            do {
                let (head, data) = try await kind.load(request, in: session)
                guard let status = head.value(forHTTPHeaderField: "Cache-Status") else { return "network" }
                let isCopy = status.contains("detail=\"copy of ")
                #expect(data == Data((isCopy ? Self.networkText : Self.fileText).utf8))
                return isCopy ? "copy" : "file"
            } catch let error as URLError {
                return error.meansOffline ? "error" : "\(error)"
            }
        }

        enum Change: String, CaseIterable {
            case none, fileModified, versionRaised, versionLowered, keepsNoSuchCopies, removed, statusOnly
        }

        @Test(
            "Without a connection, the newer of copy and file answers",
            arguments: [
                Change.none: "copy", .fileModified: "file", .versionRaised: "file", .versionLowered: "copy",
                .keepsNoSuchCopies: "file", .removed: "file", .statusOnly: "copy",
            ]
        )
        func newest(change: Change, source expected: String) async throws {
            let page = try Page()
            try setFileDate(Date(timeIntervalSinceNow: -60))
            let (archive, session) = try launch(page.manifest(), makeArchive(keepsNetworkFirst: true))
            #expect(try await source(of: page.request, .async, in: session) == "network")
            #expect(archive.copies.map(\.url) == [page.request.url])
            switch change {
            case .fileModified: try setFileDate(Date(timeIntervalSinceNow: 60))
            case .removed: try archive.removeAll()
            default: break
            }
            let manifest = page.manifest(
                when: change == .statusOnly ? "404" : "\"offline\"",
                version: [.versionRaised: 8, .versionLowered: 6][change] ?? 7
            )
            let (_, next) = try launch(manifest, makeArchive(keepsNetworkFirst: change != .keepsNoSuchCopies))
            page.server.stop()
            for kind in TaskKind.receiving {
                #expect(try await source(of: page.request, kind, in: next) == expected, "\(kind)")
            }
        }

        @Test("After a status the file answers and the copy stays, and the response to a user's request is not kept")
        func status() async throws {
            let page = try Page()
            try setFileDate(Date(timeIntervalSinceNow: -60))
            let manifest = page.manifest(when: "[\"offline\", 404]")
            let (archive, session) = try launch(manifest, makeArchive(keepsNetworkFirst: true))
            let personal = page.request.with(["Authorization": "Bearer x"])
            #expect(try await source(of: personal, .async, in: session) == "network")
            #expect(archive.copies.isEmpty && archive.refusalCounts == [.requestField("Authorization"): 1])
            #expect(try await source(of: page.request, .async, in: session) == "network")
            _ = page.answer.locked.replace(with: .text("none", status: 404))
            #expect(try await source(of: page.request, .async, in: session) == "file")
            #expect(archive.copies.count == 1)
            page.server.stop()
            #expect(try await source(of: page.request, .async, in: session) == "copy")
            #expect(try await source(of: personal, .async, in: session) == "file")
        }

        @Test("After the network's silence, a newer copy answers, also after a reload during the load")
        func silence() async throws {
            let page = try Page()
            defer { page.server.stop() }
            try setFileDate(Date(timeIntervalSinceNow: -60))
            let (_, first) = try launch(page.manifest(when: "\"60s\""), makeArchive(keepsNetworkFirst: true))
            #expect(try await source(of: page.request, .async, in: first) == "network")
            let (_, session) = try launch(page.manifest(when: "\"1s\""), makeArchive(keepsNetworkFirst: true))
            _ = page.answer.locked.replace(with: .init(transfer: .silent))
            page.server.forgetRequests()
            async let load = TaskKind.async.load(page.request, in: session)
            await page.server.waitForRequests(1)
            try Installation.current?.cache.reload()
            let status = try await load.0.value(forHTTPHeaderField: "Cache-Status")
            #expect(status?.hasPrefix("LocalSubstitutionCache; fwd=bypass; detail=\"copy of ") == true)
            #expect(status?.hasSuffix(" (after 1 s)\"") == true)
        }
    }
}
