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
        private func ask(_ word: String, _ cache: SubstitutionCache) throws {
            let url = try #require(URL(string: "http://127.0.0.1:1/\(word)"))
            let asker = Asker()
            for step: RequestStep in [.asked, .ended(nil)] {
                try #require(cache.observer).observe(step, of: URLRequest(url: url), by: asker)
            }
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
                let first = try one.record(to: file, options: .init(hosts: ["127.0.0.1"]))
                for number in 0..<40 { try ask("FIRST\(round)-\(number)", one) }
                async let stopped: Void = onThread { try? first.stop() }
                let second = try two.record(to: file, options: .init(hosts: ["127.0.0.1"]))
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
            let first = try one.record(to: file, options: .init(hosts: ["127.0.0.1"]))
            try ask("FIRST", one)
            try FileManager.default.moveItem(at: there, to: away)
            #expect(throws: (any Error).self) { try first.stop() }
            try FileManager.default.moveItem(at: away, to: there)
            let second = try two.record(to: file, options: .init(hosts: ["127.0.0.1"]))
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
            let first = try one.record(to: link.appendingPathComponent("app.har"), options: .init(hosts: ["127.0.0.1"]))
            try FileManager.default.removeItem(at: link)
            try FileManager.default.createSymbolicLink(
                at: link,
                withDestinationURL: folder.url.appendingPathComponent("two")
            )
            let second = try two.record(
                to: link.appendingPathComponent("app.har"),
                options: .init(hosts: ["127.0.0.1"])
            )
            try ask("FIRST", one)
            try first.save()
            #expect(try !holds("FIRST", folder.url.appendingPathComponent("two/app.har")))
            #expect(try holds("FIRST", folder.url.appendingPathComponent("one/app.har")))
            try first.stop()
            try second.stop()
        }

        @Test("A copy that was read before it was removed does not answer")
        func removedCopy() throws {
            let archive = try makeArchive()
            let url = try #require(URL(string: "https://example.com/a"))
            let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
            try archive.keep(response, Data("old".utf8), for: URLRequest(url: url))
            archive.directory.queue.sync {}
            try folder.cache("{}").install(archive: archive)
            let installation = try #require(Installation.current)
            let request = URLRequest(url: url)
            let fallback = Fallback(for: request, .unnamed, installation.cache, archive, SessionFields(.ephemeral))
            #expect(fallback.archived?.readCopy {} == true)
            archive.directory.queue.sync {}
            #expect(fallback.answer(after: .offline) != nil)
            try archive.removeAll()
            #expect(fallback.answer(after: .offline) == nil)
        }
    }
}
