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

        @Test("Head, body and end are delivered once, in order, and the body in parts")
        func parts() throws {
            load.didReceive(try head(200))
            load.start()
            load.didReceive(data("net"))
            load.start()
            load.didReceive(data("work"))
            load.start()
            load.didComplete(task, nil)
            load.start()
            #expect(client.events == [.head(200), .data("net"), .data("work"), .end])
        }

        @Test("A body in parts is delivered before the failure of its load")
        func partsAndFailure() throws {
            load.didReceive(try head(200))
            load.didReceive(data("netw"))
            load.start()
            load.didComplete(task, URLError(.networkConnectionLost))
            load.start()
            #expect(client.events.last == .failure(.networkConnectionLost))
            #expect(client.data == data("netw"))
        }

        @Test("Network events after the file was chosen are not delivered")
        func networkAfterAnswer() throws {
            load.didReceive(try head(503))
            load.didReceive(data("network"))
            load.didComplete(task, URLError(.cancelled))
            load.start()
            #expect(client.events == [.head(200), .data("file"), .end])
        }

        @Test("Network events after the file was delivered are not delivered")
        func networkAfterTelling() throws {
            load.didReceive(try head(503))
            load.start()
            load.didReceive(data("network"))
            load.didComplete(task, nil)
            load.start()
            #expect(client.events == [.head(200), .data("file"), .end])
        }

        /// Counts the network events that a recording would contain.
        // Mutable state is only accessed inside the lock.
        private final class NetworkEvents: RequestObserver, @unchecked Sendable {
            private let lock = NSLock()
            private var events = 0

            var count: Int { lock.withLock { events } }

            func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?) {
                switch step {
                case .received, .receivedPart: lock.withLock { events += 1 }
                default: break
                }
            }
        }

        @Test("A recording holds the network's head, and nothing received after the file has answered")
        func recordedAfterAnswer() throws {
            let events = NetworkEvents()
            let load = BackingLoad(
                for: owner,
                fallback,
                in: BackingSession(like: .ephemeral),
                of: nil,
                ObservedLoad(owner.request, of: task, nil, RequestObservers([], events))
            )
            load.start()
            load.didReceive(try head(503))
            load.didReceive(data("network"))
            load.didReceive(try head(503))
            #expect(events.count == 1)
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

        @Test("A head before the end of the patience means the network's response, also that of a challenge")
        func headBeforeSilence() throws {
            load.didReceive(try head(103))
            load.didReceive(try head(200))
            load.endPatience(patience)
            load.didReceive(data("network"))
            load.didComplete(task, nil)
            #expect(client.events == [.head(200), .data("network"), .end])
            let other = BackingLoad(for: owner, fallback, in: BackingSession(like: .ephemeral), of: nil)
            other.start()
            let space = URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: nil, authenticationMethod: nil)
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space,
                proposedCredential: nil,
                previousFailureCount: 0,
                failureResponse: try head(401),
                error: nil,
                sender: Unanswered()
            )
            other.didReceive(challenge) { _, _ in }
            other.endPatience(patience)
            #expect(!client.events.contains(.data("file")))
        }

        @Test("After a cancelled load's patience, nothing is delivered")
        func silenceAfterStop() {
            load.stop()
            load.endPatience(patience)
            #expect(client.events.isEmpty)
        }

        @Test("If the connection fails before the head, the file answers")
        func offline() throws {
            load.didComplete(task, URLError(.notConnectedToInternet))
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

        @Test("Interim responses are ignored, and the final response decides", arguments: [100, 103])
        func interim(status: Int) throws {
            load.didReceive(try head(status))
            load.start()
            load.didReceive(try head(503))
            load.start()
            #expect(client.events == [.head(200), .data("file"), .end])
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

        @Test("Events after the load was stopped are not delivered")
        func stopped() throws {
            load.stop()
            load.didReceive(try head(200))
            load.didReceive(data("network"))
            load.didComplete(task, nil)
            load.start()
            #expect(client.events == [])
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

        @Test("A load that is stopped after a part was delivered delivers nothing more")
        func stoppedWhileTelling() throws {
            load.didReceive(try head(200))
            load.didReceive(data("network"))
            load.start()
            let delivered = client.events
            load.stop()
            load.didReceive(data("more"))
            load.didComplete(task, nil)
            load.start()
            #expect(client.events == delivered)
        }
    }
}

/// A sender that ignores the answer to its challenge.
private final class Unanswered: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
