import Foundation
import TestSupport
import Testing

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

/// Every order of events that matters to a load in the inner session, brought about on purpose.
///
/// The test is the network: it tells the load what happens. It is URL loading, too: `start()` has told what was noted,
/// as when a task is resumed. No task runs.
@Suite("Orders of events in an inner load")
struct InnerLoadOrderTests {
    private let client = RecordingClient()
    private let owner: SubstitutionProtocol
    private let load: InnerLoad
    private let fallback: Fallback?
    private let url: URL
    /// Stands for the task that the network's events are about.
    private let task: URLSessionDataTask

    init() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", to: "a.txt")
        // Nothing listens there, and no time-out comes before the end of a test.
        url = try #require(URL(string: "http://127.0.0.1:1/when"))
        let request = URLRequest(url: url)
        let cache = try folder.cache(
            "{ \"\(url.absoluteString)\": { \"file\": \"a.txt\", \"when\": [\"offline\", 503] } }"
        )
        guard case .afterNetwork(let match) = cache.verdict(on: request) else { throw CancellationError() }
        let installation = Installation(cache: cache, archive: nil, insteadOf: .shared)
        fallback = Fallback(.file(match), for: request, since: 0, installation)
        owner = SubstitutionProtocol(request: request, cachedResponse: nil, client: client)
        load = InnerLoad(for: owner, fallback, in: .silent, of: nil)
        task = URLSession(configuration: .ephemeral).dataTask(with: request)
        load.start()
    }

    private func head(_ status: Int) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
    }

    private func data(_ text: String) -> Data { Data(text.utf8) }

    @Test("Head, body and end before the task looks: all is told in order, once")
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

    /// A task with a completion handler keeps only the last part on Linux.
    @Test("A body in parts: on Linux it is told again as a whole, unless a part is kept by somebody who waits for it")
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
            // What is empty takes the place of a part in the client.
            let parts: [RecordingClient.Event] = [.data("net"), .data(""), .data("work"), .data("")]
            #expect(client.events == [.head(200)] + parts + [.data("network"), .end])
        } else {
            #expect(client.events == [.head(200), .data("net"), .data("work"), .end])
        }
    }

    // On Apple's systems nothing is collected.
    #if canImport(FoundationNetworking)
    @Test("As soon as a part is kept, the body is told in parts only, and not collected")
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

    @Test("A body in parts whose load then fails")
    func partsAndFailure() throws {
        load.didReceive(try head(200))
        load.didReceive(data("netw"))
        load.start()
        load.didComplete(task, URLError(.networkConnectionLost))
        load.start()
        #expect(client.events.last == .failure(.networkConnectionLost))
        #expect(client.data == data("netw"))
    }

    @Test("The file is noted, and then the network goes on: nothing of it is told")
    func networkAfterAnswer() throws {
        load.didReceive(try head(503))
        load.didReceive(data("network"))
        load.didComplete(task, URLError(.cancelled))
        load.start()
        #expect(client.events == [.head(200), .data("file"), .end])
    }

    @Test("The network goes on after the file was told")
    func networkAfterTelling() throws {
        load.didReceive(try head(503))
        load.start()
        load.didReceive(data("network"))
        load.didComplete(task, nil)
        load.start()
        #expect(client.events == [.head(200), .data("file"), .end])
    }

    /// Counts the network's events that a recording would hold.
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

    @Test("A recording holds the network's head, and nothing that arrives after the file has answered")
    func recordedAfterAnswer() throws {
        let events = NetworkEvents()
        let load = InnerLoad(for: owner, fallback, in: .silent, of: nil, ObservedLoad(owner.request, of: task, events))
        load.start()
        load.didReceive(try head(503))
        load.didReceive(data("network"))
        load.didReceive(try head(503))
        #expect(events.count == 1)
    }

    @Test("No connection before a head is a reason for the file, and after one it is the network's end")
    func offline() throws {
        load.didComplete(task, URLError(.notConnectedToInternet))
        load.start()
        #expect(client.events == [.head(200), .data("file"), .end])
    }

    @Test("The connection breaks after the head was noted, and before it was told")
    func offlineAfterHead() throws {
        load.didReceive(try head(200))
        load.didReceive(data("netw"))
        load.didComplete(task, URLError(.networkConnectionLost))
        load.start()
        #expect(client.events == [.head(200), .data("netw"), .failure(.networkConnectionLost)])
    }

    @Test("Interim responses are no answer: what comes after them decides", arguments: [100, 103])
    func interim(status: Int) throws {
        load.didReceive(try head(status))
        load.start()
        load.didReceive(try head(503))
        load.start()
        #expect(client.events == [.head(200), .data("file"), .end])
    }

    // On Apple's systems the client is told of a redirect.
    #if canImport(FoundationNetworking)
    @Test("A redirect that nobody decides about is followed, and one to a URL with a file ends the load")
    func redirects() async throws {
        let calls = Counter()
        load.didRedirect(try head(302), URLRequest(url: url.appendingPathComponent("other"))) { next in
            #expect(next?.url?.lastPathComponent == "other")
            calls.increment()
        }
        await InnerSession.silent.settle()
        #expect(calls.value == 1)
        load.didReceive(try head(503))
        load.start()
        #expect(client.events == [.head(200), .data("file"), .end])
    }
    #endif

    @Test("A redirect of a load that was cancelled has no handler called, which would end the process")
    func redirectAfterCancel() async throws {
        load.stop()
        await InnerSession.silent.settle()
        let calls = Counter()
        load.didRedirect(try head(302), URLRequest(url: url)) { _ in calls.increment() }
        await InnerSession.silent.settle()
        load.start()
        #expect(calls.value == 0)
        #expect(client.events == [])
    }

    @Test("What happens after the load was stopped is not told")
    func stopped() throws {
        load.didReceive(try head(200))
        load.stop()
        load.didReceive(data("network"))
        load.didComplete(task, nil)
        load.start()
        #expect(client.events == [])
    }

    @Test("A load that is stopped is not kept, also when the network ends well before it hears of that")
    func stoppedAndArchived() throws {
        let folder = try TemporaryFolder()
        let archive = try OfflineArchive(directory: folder.url, capacity: 1000)
        let request = URLRequest(url: url.appendingPathComponent("page"))
        let installation = Installation(cache: try folder.cache("{}"), archive: archive, insteadOf: .shared)
        for stops in [true, false] {
            let owner = SubstitutionProtocol(request: request, cachedResponse: nil, client: client)
            let fallback = Fallback(.copy(archive), for: request, since: 0, installation)
            let load = InnerLoad(for: owner, fallback, in: .silent, of: nil)
            load.start()
            if stops { load.stop() }
            load.didReceive(try head(200))
            load.didReceive(data("network"))
            if stops { load.stop() }
            load.didComplete(task, nil)
            #expect(archive.copies.count == (stops ? 0 : 1))
        }
    }

    @Test("A load that is stopped after a part was told tells no more")
    func stoppedWhileTelling() throws {
        load.didReceive(try head(200))
        load.didReceive(data("network"))
        load.start()
        let told = client.events
        load.stop()
        load.didReceive(data("more"))
        load.didComplete(task, nil)
        load.start()
        #expect(client.events == told)
    }
}

extension InnerSession {
    /// Makes tasks that never run.
    fileprivate static let silent = InnerSession(like: .ephemeral, runsTasks: false)

    /// Returns when the commands have run that came before.
    fileprivate func settle() async {
        await withCheckedContinuation { done in command { done.resume() } }
    }
}
