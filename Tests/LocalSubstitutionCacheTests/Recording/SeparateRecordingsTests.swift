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

extension InstalledTests {
    @Suite("Recordings beside each other")
    final class SeparateRecordingsTests: InstalledSuite {
        /// Lets a cache's recording observe a request whose URL holds a word.
        private func ask(_ word: String, _ cache: LocalSubstitutionCache) throws {
            let url = try #require(URL(string: "http://127.0.0.1:1/\(word)"))
            try #require(cache.observer).observe(.asked, of: URLRequest(url: url), by: Asker())
        }

        private final class Asker: Sendable {}

        private func holds(_ word: String, _ file: URL) throws -> Bool {
            try String(contentsOf: file, encoding: .utf8).contains(word)
        }

        @Test("A recording that is being stopped writes nothing into the next one's file")
        func beingStopped() async throws {
            let file = folder.url.appendingPathComponent("app.har")
            for round in 0..<20 {
                let (one, two) = (try folder.cache("{}"), try folder.cache("{}"))
                let first = try one.record(to: file)
                for number in 0..<40 { try ask("FIRST\(round)-\(number)", one) }
                async let stopped: Void = onThread { try? first.stop() }
                let second = try two.record(to: file)
                try await stopped
                #expect(try !holds("FIRST\(round)-", file), "round \(round)")
                try second.stop()
            }
        }

        @Test("A recording that could not be written when it was stopped does not write over the next one")
        func failedStop() async throws {
            let (there, away) = (folder.url.appendingPathComponent("there"), folder.url.appendingPathComponent("away"))
            try FileManager.default.createDirectory(at: there, withIntermediateDirectories: true)
            let file = there.appendingPathComponent("app.har")
            let (one, two) = (try folder.cache("{}"), try folder.cache("{}"))
            let first = try one.record(to: file)
            try ask("FIRST", one)
            try FileManager.default.moveItem(at: there, to: away)
            #expect(throws: (any Error).self) { try first.stop() }
            try FileManager.default.moveItem(at: away, to: there)
            let second = try two.record(to: file)
            try? first.save()
            #expect(try !holds("FIRST", file))
            try second.stop()
        }

        @Test("A recording stays in its folder if the link that led there leads elsewhere")
        func changedLink() async throws {
            let link = folder.url.appendingPathComponent("link")
            for name in ["one", "two"] {
                let target = folder.url.appendingPathComponent(name)
                try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
            }
            try FileManager.default.createSymbolicLink(
                at: link,
                withDestinationURL: folder.url.appendingPathComponent("one")
            )
            let (one, two) = (try folder.cache("{}"), try folder.cache("{}"))
            let first = try one.record(to: link.appendingPathComponent("app.har"))
            try FileManager.default.removeItem(at: link)
            try FileManager.default.createSymbolicLink(
                at: link,
                withDestinationURL: folder.url.appendingPathComponent("two")
            )
            let second = try two.record(to: link.appendingPathComponent("app.har"))
            try ask("FIRST", one)
            try first.save()
            #expect(try !holds("FIRST", folder.url.appendingPathComponent("two/app.har")))
            #expect(try holds("FIRST", folder.url.appendingPathComponent("one/app.har")))
            try first.stop()
            try second.stop()
        }

        @Test(
            "A body after a redirect is not recorded, because a request or response before it may have identified the user",
            arguments: ["r?x=Ab3dE5gH7jK9mN1pQ", "r?code=483920", "r?token=hunter2", "rtoken", "r"]
        )
        func redirected(path: String) async throws {
            let site = try LoopbackServer { request in
                request.path.hasPrefix("/r")
                    ? .init(
                        status: 302,
                        headers: ["Location": "/page"].merging(
                            request.path == "/rtoken" ? ["X-CSRF-Token": "hunter2"] : [:]
                        ) { $1 }
                    ) : .text("the page")
            }
            defer { site.stop() }
            let cache = try folder.cache("{}")
            cache.install(archive: try makeArchive())
            let recording = try cache.record(to: folder.url.appendingPathComponent("app.har"))
            let configuration = URLSessionConfiguration.ephemeral
            configuration.useSubstitutions()
            let session = URLSession(configuration: configuration, delegate: Collector(), delegateQueue: nil)
            session.registerForSubstitutions()
            let url = try #require(URL(string: "\(site.url.absoluteString)/\(path)"))
            _ = try await TaskKind.async.load(URLRequest(url: url), in: session)
            await session.settle()
            try recording.stop()
            let bodies = try RecordedEntry.all(in: recording.file).map(\.body)
            #expect(!bodies.contains("the page"), "\(bodies)")
        }

        @Test("A copy that was read before it was removed does not answer")
        func removedCopy() throws {
            let archive = try makeArchive()
            let url = try #require(URL(string: "https://example.com/a"))
            let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
            archive.keep(response, Data("old".utf8), for: URLRequest(url: url))
            archive.waitUntilWritten()
            try folder.cache("{}").install(archive: archive)
            let installation = try #require(Installation.current)
            let request = URLRequest(url: url)
            let fallback = Fallback(for: request, .unnamed, installation.cache, archive)
            #expect(fallback.archived?.readCopy {} == true)
            archive.readingQueue.sync {}
            #expect(fallback.answer(after: .offline) != nil)
            archive.removeAll()
            #expect(fallback.answer(after: .offline) == nil)
        }
    }
}
