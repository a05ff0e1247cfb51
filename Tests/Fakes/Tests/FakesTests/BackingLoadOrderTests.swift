import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

extension InstalledTests {
    /// Tests that force every order of events that matters to a load in a backing session.
    ///
    /// A test acts as the network: it calls the load's callbacks. The test also acts as URL loading, which may call
    /// `start()` more than once. The fake network sends nothing.
    @Suite("Orders of events in a load of a backing session", .everyLoadingMode)
    struct BackingLoadOrderTests {
        private let client = RecordingClient()
        private let owner: SubstitutionURLProtocol
        private let load: BackingLoad
        private let fallback: Fallback?
        private let patience: NetworkFirst.Patience
        private let url: URL
        /// The task that the network's events are reported for.
        private let task: URLSessionDataTask

        init() throws {
            Network.shared.reset()
            let folder = try TemporaryFolder()
            try folder.write("file", to: "a.txt")
            // No server listens on this port, and no timeout passes before the end of a test.
            url = try #require(URL(string: "http://127.0.0.1:1/when"))
            let request = URLRequest(url: url)
            let cache = try folder.cache(
                "{ \"\(url.absoluteString)\": { \"file\": \"a.txt\", \"when\": [\"offline\", 503, \"3s\"] } }"
            )
            fallback = Fallback(for: request, cache.decision(on: request), cache, nil, nil)
            patience = try #require(NetworkFirst(fallback, nil).patience)
            owner = SubstitutionURLProtocol(request: request, cachedResponse: nil, client: client)
            load = BackingLoad(for: owner, fallback, in: BackingSession(like: .ephemeral), of: nil)
            task = URLSession(configuration: .ephemeral).dataTask(with: request)
            load.start()
        }

        private func head(_ status: Int) throws -> HTTPURLResponse {
            try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
        }

        private func data(_ text: String) -> Data { Data(text.utf8) }

        @Test("A recording holds the network's head, and nothing received after the file has answered")
        func recordedAfterAnswer() throws {
            let notes = Notes()
            let load = BackingLoad(
                for: owner,
                fallback,
                in: BackingSession(like: .ephemeral),
                of: nil,
                ObservedLoad(owner.request, of: task, nil, RequestObservers([], notes))
            )
            load.start()
            load.didReceive(try head(503))
            load.didReceive(data("network"))
            load.didReceive(try head(503))
            #expect(notes.all.filter { $0.contains(": received") || $0.contains(": part") }.count == 1)
        }

        @Test("After the network's silence the file answers, and nothing of the network follows")
        func silence() throws {
            load.endPatience(patience)
            load.didReceive(try head(200))
            load.didReceive(data("network"))
            load.didComplete(task, URLError(.cancelled))
            load.start()
            #expect(client.events == [.head(200), .data("file"), .end])
        }

        @Test("A connection that breaks after an undelivered head ends the load with the network's error")
        func offlineAfterHead() throws {
            load.didReceive(try head(200))
            load.didReceive(data("netw"))
            load.didComplete(task, URLError(.networkConnectionLost))
            load.start()
            #expect(client.events == [.head(200), .data("netw"), .failure(.networkConnectionLost)])
        }

        @Test("A redirect is followed if there is no delegate, and the status after it decides")
        func redirects() throws {
            let calls = Counter()
            load.didRedirect(try head(302), URLRequest(url: url.appendingPathComponent("other"))) { next in
                #expect(next?.url?.lastPathComponent == "other")
                calls.increment()
            }
            #expect(calls.value == 1)
            load.didReceive(try head(503))
            load.start()
            #expect(client.events == [.head(200), .data("file"), .end])
        }

        @Test("A cancelled load refuses a redirect")
        func redirectAfterCancel() throws {
            load.stop()
            let calls = Counter()
            load.didRedirect(try head(302), URLRequest(url: url)) { next in
                #expect(next == nil)
                calls.increment()
            }
            load.start()
            #expect(calls.value == 1)
            #expect(client.events == [])
        }

        @Test("Events after the load was stopped are not delivered", arguments: [false, true])
        func stopped(hasPart: Bool) throws {
            if hasPart {
                load.didReceive(try head(200))
                load.didReceive(data("network"))
            }
            let delivered = client.events
            load.stop()
            load.endPatience(patience)
            load.didReceive(try head(200))
            load.didReceive(data("more"))
            load.didComplete(task, nil)
            load.start()
            #expect(client.events == delivered)
        }

        @Test("A stopped load is not kept, even if the network succeeds before the cancellation takes effect")
        func stoppedAndArchived() throws {
            let folder = try TemporaryFolder()
            let archive = try OfflineArchive(directory: folder.url, capacity: 1000, hosts: ["127.0.0.1"])
            let request = URLRequest(url: url.appendingPathComponent("page"))
            let cache = try folder.cache("{}")
            for stops in [true, false] {
                let owner = SubstitutionURLProtocol(request: request, cachedResponse: nil, client: client)
                let fallback = Fallback(for: request, .unnamed, cache, archive, SessionFields(.ephemeral))
                let load = BackingLoad(for: owner, fallback, in: BackingSession(like: .ephemeral), of: nil)
                load.start()
                if stops { load.stop() }
                load.didReceive(try head(200))
                load.didReceive(data("network"))
                if stops { load.stop() }
                load.didComplete(task, nil)
                #expect(archive.copies.count == (stops ? 0 : 1))
            }
        }

        @Test("stop() returns after the event that runs on another thread")
        func stoppedDuringEvent() async throws {
            let (begun, ended) = (Flag(), Flag())
            load.perform {
                begun.set()
                usleep(50_000)
                ended.set()
            }
            try await wait(for: "the event") { begun.isSet }
            load.stop()
            #expect(ended.isSet)
        }
    }
}
