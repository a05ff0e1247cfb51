import Foundation
import FoundationNetworking
import LoopbackServer
import TestSupport
import Testing

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

extension InstalledTests {
    @Suite("Archives in registered sessions", .everyLoadingMode)
    final class RegisteredArchiveTests: ServerSuite {
        private func makeArchive() throws -> OfflineArchive {
            let archive = try OfflineArchive(
                directory: folder.url.appendingPathComponent("archive"),
                capacity: 10_000_000,
                hosts: ["127.0.0.1"]
            )
            try install("{}", archive)
            return archive
        }

        @Test("A body that arrives in parts is kept, and replayed once the server is gone")
        func kept() async throws {
            let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
            let site = try LoopbackServer { _ in .init(body: body, transfer: .chunked(1000)) }
            let archive = try makeArchive()
            for isOnline in [true, false] {
                if !isOnline { site.stop() }
                let client = StrictClient()
                let load = await client.load(client.session().dataTask(with: request("page", of: site)))
                #expect(load.body == body && load.error == nil)
                let status = load.heads.last?.value(forHTTPHeaderField: "Cache-Status")
                #expect((status?.contains("fwd=bypass; detail=\"copy of") ?? false) == !isOnline)
                #expect(archive.copies.count == 1)
                #expect(client.complaints == [])
            }
        }

        @Test("A response for a user who has given a password is not kept, whether asked again or not")
        func challenged() async throws {
            // Apple's systems may send the password to the second page without being asked again.
            let site = try LoopbackServer { request in
                request.path != "/2" && request.headers["authorization"] == nil
                    ? .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""], body: Data("no".utf8))
                    : .text("Hello me")
            }
            defer { site.stop() }
            let archive = try makeArchive()
            let notes = Notes()
            Installation.current?.cache.observer = notes
            defer { Installation.current?.cache.observer = nil }
            let client = StrictClient(onChallenge: { answer in
                answer(.useCredential, URLCredential(user: "me", password: "secret", persistence: .forSession))
            })
            let session = client.session()
            for path in ["1", "2"] {
                #expect(await client.load(session.dataTask(with: request(path, of: site))).text == "Hello me")
            }
            archive.directory.queue.sync {}
            #expect(archive.copies.isEmpty)
            #expect(archive.refusalCounts == [.challenge: 2])
            #expect(notes.all.filter { $0.hasSuffix("challenged") } == ["/1: challenged", "/2: challenged"])
            let other = StrictClient()
            #expect(await other.load(other.session().dataTask(with: request("2", of: site))).text == "Hello me")
            archive.directory.queue.sync {}
            #expect(archive.copies.count == 1)
        }

        @Test("A redirected load is kept if each step of it may be, and its copy answers the first URL")
        func redirected() async throws {
            let site = try LoopbackServer { request in
                switch request.path {
                case "/a": .init(status: 302, headers: ["Location": "/page"])
                case "/c": .init(status: 302, headers: ["Location": "/page", "Set-Cookie": "id=1"])
                default: .text("page")
                }
            }
            let archive = try makeArchive()
            for isOnline in [true, false] {
                if !isOnline { site.stop() }
                let client = StrictClient()
                let session = client.session()
                for path in ["a", "c"] {
                    let load = await client.load(session.dataTask(with: request(path, of: site)))
                    #expect(load.text == (isOnline || path == "a" ? "page" : ""))
                    if !isOnline, path == "a" { #expect(load.heads.last?.url?.path == "/page") }
                }
                archive.directory.queue.sync {}
                #expect(archive.copies.map(\.url.path) == ["/a"])
                #expect(archive.refusalCounts == [.responseField("Set-Cookie"): 1])
            }
        }

        @Test("While a copy is being read, other loads go on, and the task may be cancelled")
        func slowCopy() async throws {
            let site = try LoopbackServer { _ in .text("page") }
            let other = try LoopbackServer { _ in .text(Self.networkText) }
            defer { other.stop() }
            let archive = try makeArchive()
            let client = StrictClient()
            let session = client.session()
            _ = await client.load(session.dataTask(with: request("page", of: site)))
            archive.directory.queue.sync {}
            site.stop()
            let blocked = DispatchSemaphore(value: 0)
            for cancels in [false, true] {
                archive.directory.queue.async { blocked.wait() }
                let task = session.dataTask(with: request("page", of: site))
                async let load = client.load(task)
                let second = StrictClient()
                let loaded = await second.load(second.session().dataTask(with: request("page", of: other)))
                #expect(loaded.text == Self.networkText)
                if cancels { task.cancel() }
                blocked.signal()
                let result = await load
                #expect(cancels ? result.error == .cancelled : result.text == "page")
            }
            #expect(client.complaints == [])
        }
    }
}
