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
        @Test("A response for a user who has given a password, at last, is not kept, whether asked again or not")
        func challenged() async throws {
            // Apple's systems may send the password to the second page without being asked again.
            let site = try LoopbackServer { request in
                request.path != "/2" && request.headers["authorization"] == nil ? Self.challenge : .text("Hello me")
            }
            defer { site.stop() }
            let (archive, notes) = (try installArchive(), Notes())
            Installation.current?.cache.observer = notes
            let client = StrictClient(onChallenge: { answer in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) {
                    answer(.useCredential, URLCredential(user: "me", password: "secret", persistence: .forSession))
                }
            })
            let session = client.session()
            for path in ["1", "2"] {
                let load = await client.load(session.dataTask(with: request(path, of: site)))
                #expect(load.text == "Hello me" && load.status == 200 && load.challenges == (path == "1" ? 1 : 0))
            }
            #expect(client.complaints == [])
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
            let archive = try installArchive()
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
            // An entry for the target wins over the copy.
            try installArchive("{ \"\(site.url)/page\": { \"file\": \"a.txt\", \"when\": \"offline\" } }")
            let client = StrictClient()
            #expect(await client.load(client.session().dataTask(with: request("a", of: site))).text == "")
        }

        @Test("While a copy is being read, other loads go on, and the task may be cancelled")
        func slowCopy() async throws {
            let site = try LoopbackServer { _ in .text("page") }
            let other = try LoopbackServer { _ in .text(Self.networkText) }
            defer { other.stop() }
            let (archive, client, second) = (try installArchive(), StrictClient(), StrictClient())
            let (session, otherSession) = (client.session(), second.session())
            _ = await client.load(session.dataTask(with: request("page", of: site)))
            archive.directory.queue.sync {}
            site.stop()
            let blocked = DispatchSemaphore(value: 0)
            for cancels in [false, true] {
                archive.directory.queue.async { blocked.wait() }
                let task = session.dataTask(with: request("page", of: site))
                async let load = client.load(task)
                let loaded = await second.load(otherSession.dataTask(with: request("page", of: other)))
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
