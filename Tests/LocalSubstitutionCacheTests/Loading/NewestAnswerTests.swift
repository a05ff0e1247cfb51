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
    @Suite("The newer of an archive's copy and a network-first file")
    final class NewestAnswerTests: InstalledSuite {
        /// A server whose answer a test sets, and an entry for the server's one page.
        private struct Page {
            final class Next: Sendable {
                let response = Locked<LoopbackServer.Response>(.text(InstalledSuite.networkText))
                /// True to reload the installed cache before the response.
                let reloads = Locked(false)
            }

            let server: LoopbackServer
            let next = Next()
            let request: URLRequest

            init() throws {
                server = try LoopbackServer { [next] _ in
                    if next.reloads.value { try? Installation.current?.cache.reload() }
                    return next.response.value
                }
                request = URLRequest(url: server.url.appendingPathComponent("page"), timeoutInterval: 300)
            }

            func manifest(when conditions: String = "\"offline\"", version: Int = 7) -> String {
                "{ \"$version\": \(version), \"\(server.url)/page\": { \"file\": \"a.txt\", \"when\": \(conditions) } }"
            }
        }

        private final class Answered: Sendable {
            let files = Locked<[String?]>([])
        }

        /// Installs the manifest with an archive, and returns the archive and a session for each kind of task.
        private func launch(
            _ manifest: String,
            keepsNetworkFirst: Bool = true
        ) throws -> (archive: OfflineArchive, session: URLSession) {
            let archive = try makeArchive(keepsNetworkFirst: keepsNetworkFirst)
            try folder.cache(manifest).install(archive: archive)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.useSubstitutions()
            return (archive, .named(configuration, delegate: Collector()))
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
            case none, fileModified, versionRaised, versionLowered, keepsNoSuchCopies, removed,
                statusOnly
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
            let (archive, session) = try launch(page.manifest())
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
            let (_, next) = try launch(manifest, keepsNetworkFirst: change != .keepsNoSuchCopies)
            page.server.stop()
            for kind in TaskKind.receiving {
                #expect(try await source(of: page.request, kind, in: next) == expected, "\(kind)")
            }
        }

        @Test("After a status that the entry lists, the file answers, and the copy stays")
        func status() async throws {
            let page = try Page()
            try setFileDate(Date(timeIntervalSinceNow: -60))
            let (archive, session) = try launch(page.manifest(when: "[\"offline\", 404]"))
            #expect(try await source(of: page.request, .async, in: session) == "network")
            _ = page.next.response.replace(with: .text("none", status: 404))
            #expect(try await source(of: page.request, .async, in: session) == "file")
            #expect(archive.copies.count == 1)
            page.server.stop()
            #expect(try await source(of: page.request, .async, in: session) == "copy")
        }

        @Test("After the network's silence, the newer of copy and file answers")
        func silence() async throws {
            let page = try Page()
            defer { page.server.stop() }
            let (_, session) = try launch(page.manifest(when: "\"1s\""))
            #expect(try await source(of: page.request, .async, in: session) == "network")
            _ = page.next.response.replace(with: .init(transfer: .silent))
            let (head, _) = try await TaskKind.async.load(page.request, in: session)
            let status = head.value(forHTTPHeaderField: "Cache-Status")
            #expect(status?.hasPrefix("LocalSubstitutionCache; fwd=bypass; detail=\"copy of ") ?? false)
            #expect(status?.hasSuffix(" (after 1 s)\"") ?? false)
            try setFileDate(Date(timeIntervalSinceNow: 60))
            let (_, next) = try launch(page.manifest(when: "\"1s\""))
            #expect(try await source(of: page.request, .async, in: next) == "file")
        }

        @Test("A reload during the load does not hide a newer copy")
        func reloaded() async throws {
            let page = try Page()
            defer { page.server.stop() }
            try setFileDate(Date(timeIntervalSinceNow: -60))
            let (_, session) = try launch(page.manifest(when: "\"1s\""))
            #expect(try await source(of: page.request, .async, in: session) == "network")
            _ = page.next.response.replace(with: .init(transfer: .silent))
            _ = page.next.reloads.replace(with: true)
            let (head, _) = try await TaskKind.async.load(page.request, in: session)
            #expect(head.value(forHTTPHeaderField: "Cache-Status")?.contains("detail=\"copy of ") ?? false)
        }

        @Test("An event names the file, and no file for a copy")
        func events() async throws {
            let page = try Page()
            let (_, session) = try launch(page.manifest())
            #expect(try await source(of: page.request, .async, in: session) == "network")
            page.server.stop()
            let answered = Answered()
            let cache = try #require(Installation.current?.cache)
            let reporter = EventReporter { event in
                guard let event, event.kind == .fallback else { return }
                answered.files.withLock { $0.append(event.substitution?.path) }
            }
            cache.table.changeReporters { $0 + [reporter] }
            #expect(try await source(of: page.request, .async, in: session) == "copy")
            try setFileDate(Date(timeIntervalSinceNow: 60))
            try cache.reload()
            #expect(try await source(of: page.request, .async, in: session) == "file")
            reporter.queue.sync {}
            #expect(answered.files.value == [nil, "a.txt"])
        }

        @Test("The response to a user's request is not kept, and counted")
        func refused() async throws {
            let page = try Page()
            let (archive, session) = try launch(page.manifest())
            var request = page.request
            request.setValue("Bearer x", forHTTPHeaderField: "Authorization")
            #expect(try await source(of: request, .async, in: session) == "network")
            #expect(archive.copies.isEmpty)
            #expect(archive.refusalCounts == [.requestField("Authorization"): 1])
            page.server.stop()
            #expect(try await source(of: request, .async, in: session) == "file")
        }
    }
}
