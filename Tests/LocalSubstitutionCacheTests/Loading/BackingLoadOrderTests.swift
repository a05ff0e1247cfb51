import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache

/// Tests that force every order of events that matters to a load in a backing session.
///
/// A test acts as the network: it calls the load's callbacks. The test also acts as URL loading, which calls `start()`
/// when a task is resumed. `start()` delivers pending events. No task runs.
@Suite("Orders of events in a load of a backing session")
struct BackingLoadOrderTests {
    private let client = RecordingClient()
    private let owner: SubstitutionProtocol
    private let load: BackingLoad
    private let fallback: Fallback?
    private let url: URL
    /// The task that the network's events are reported for.
    private let task: URLSessionDataTask

    init() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", to: "a.txt")
        // No server listens on this port, and no timeout passes before the end of a test.
        url = try #require(URL(string: "http://127.0.0.1:1/when"))
        let request = URLRequest(url: url)
        let cache = try folder.cache(
            "{ \"\(url.absoluteString)\": { \"file\": \"a.txt\", \"when\": [\"offline\", 503] } }"
        )
        let installation = Installation(cache: cache, archive: nil, insteadOf: .shared)
        fallback = Fallback(for: request, cache.decision(on: request), installation)
        owner = SubstitutionProtocol(request: request, cachedResponse: nil, client: client)
        load = BackingLoad(for: owner, fallback, in: .silent, of: nil)
        task = URLSession(configuration: .ephemeral).dataTask(with: request)
        load.start()
    }

    private func head(_ status: Int) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
    }

    private func data(_ text: String) -> Data { Data(text.utf8) }

    @Test("Head, body and end received before the task resumes are delivered once, in order")
    func wholeBeforeTelling() throws {
        load.didReceive(try head(200))
        load.didReceive(data("net"))
        load.didReceive(data("work"))
        load.didComplete(task, nil)
        #expect(client.events == [])
        load.start()
        load.start()
        #expect(client.events == [.head(200), .data("network"), .end])
    }

    /// On Linux a task with a completion handler keeps only the last part it receives.
    @Test("On Linux, the whole body is delivered after its parts, unless a delegate receives the parts")
    func parts() throws {
        load.didReceive(try head(200))
        load.start()
        load.didReceive(data("net"))
        load.start()
        load.didReceive(data("work"))
        load.start()
        load.didComplete(task, nil)
        load.start()
        if Platform.isLinux {
            // After each part the load delivers an empty part. In Foundation's client, the empty part replaces the
            // previous part.
            let parts: [RecordingClient.Event] = [.data("net"), .data(""), .data("work"), .data("")]
            #expect(client.events == [.head(200)] + parts + [.data("network"), .end])
        } else {
            #expect(client.events == [.head(200), .data("net"), .data("work"), .end])
        }
    }

    // These tests run only on Linux. On Apple's systems the load delivers each byte of a body only once.
    #if canImport(FoundationNetworking)
    /// If the app has no credential, versions of Foundation after 6.3 finish the task with the 401 response.
    @Test("If a challenge follows the parts of a body, the whole body is delivered before the end")
    func partsAndChallenge() throws {
        load.didReceive(try head(401))
        load.didReceive(data("un"))
        load.start()
        load.didReceive(data("authorized"))
        load.start()
        let space = URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: nil, authenticationMethod: nil)
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space,
            proposedCredential: nil,
            previousFailureCount: 0,
            failureResponse: nil,
            error: nil,
            sender: UnusedSender()
        )
        load.didReceive(challenge) { _, _ in }
        load.start()
        let parts: [RecordingClient.Event] = [.data("un"), .data(""), .data("authorized"), .data("")]
        #expect(client.events == [.head(401)] + parts + [.data("unauthorized"), .end])
    }

    /// A challenge must have a sender, which Foundation on Linux never calls.
    private final class UnusedSender: NSObject, URLAuthenticationChallengeSender, Sendable {
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }

    @Test("Once a part is kept, the body is delivered in parts only, and no longer collected")
    func keptParts() throws {
        client.keepsParts = true
        load.didReceive(try head(200))
        load.start()
        load.didReceive(data("fifteen bytes, +"))
        load.start()
        #expect(load.body == nil)
        load.didReceive(data("net"))
        load.start()
        load.didReceive(data("work"))
        load.didComplete(task, nil)
        load.start()
        let parts: [RecordingClient.Event] = [
            .data("fifteen bytes, +"), .data(""), .data("net"), .data("work"),
        ]
        #expect(client.events == [.head(200)] + parts + [.end])
    }
    #endif

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
            in: .silent,
            of: nil,
            ObservedLoad(owner.request, of: task, events)
        )
        load.start()
        load.didReceive(try head(503))
        load.didReceive(data("network"))
        load.didReceive(try head(503))
        #expect(events.count == 1)
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

    // This test runs only on Linux.
    #if canImport(FoundationNetworking)
    @Test("A redirect is followed if there is no delegate, and the status after it decides")
    func redirects() async throws {
        let calls = Counter()
        load.didRedirect(try head(302), URLRequest(url: url.appendingPathComponent("other"))) { next in
            #expect(next?.url?.lastPathComponent == "other")
            calls.increment()
        }
        await BackingSession.silent.settle()
        #expect(calls.value == 1)
        load.didReceive(try head(503))
        load.start()
        #expect(client.events == [.head(200), .data("file"), .end])
    }
    #endif

    @Test("A cancelled load does not call a redirect's completion handler, which would crash")
    func redirectAfterCancel() async throws {
        load.stop()
        await BackingSession.silent.settle()
        let calls = Counter()
        load.didRedirect(try head(302), URLRequest(url: url)) { _ in calls.increment() }
        await BackingSession.silent.settle()
        load.start()
        #expect(calls.value == 0)
        #expect(client.events == [])
    }

    @Test("Events after the load was stopped are not delivered")
    func stopped() throws {
        load.didReceive(try head(200))
        load.stop()
        load.didReceive(data("network"))
        load.didComplete(task, nil)
        load.start()
        #expect(client.events == [])
    }

    @Test("A stopped load is not kept, even if the network succeeds before the cancellation takes effect")
    func stoppedAndArchived() throws {
        let folder = try TemporaryFolder()
        let archive = try OfflineArchive(directory: folder.url, capacity: 1000)
        let request = URLRequest(url: url.appendingPathComponent("page"))
        let installation = Installation(cache: try folder.cache("{}"), archive: archive, insteadOf: .shared)
        for stops in [true, false] {
            let owner = SubstitutionProtocol(request: request, cachedResponse: nil, client: client)
            let fallback = Fallback(for: request, .unnamed, installation)
            let load = BackingLoad(for: owner, fallback, in: .silent, of: nil)
            load.start()
            if stops { load.stop() }
            load.didReceive(try head(200))
            load.didReceive(data("network"))
            if stops { load.stop() }
            load.didComplete(task, nil)
            #expect(archive.copies.count == (stops ? 0 : 1))
        }
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

extension BackingSession {
    /// A backing session whose tasks never run.
    fileprivate static let silent = BackingSession(like: .ephemeral, runsTasks: false)

    /// Returns once all blocks that were enqueued earlier have run.
    fileprivate func settle() async {
        await withCheckedContinuation { done in enqueue { done.resume() } }
    }
}
