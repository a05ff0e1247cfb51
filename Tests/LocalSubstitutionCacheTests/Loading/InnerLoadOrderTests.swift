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
    /// How often the app's own task was asked to begin anew.
    private let redirects = Counter()
    private let client = RecordingClient()
    private let owner: SubstitutionProtocol
    private let load: InnerLoad
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
        let fallback = Fallback(match, for: request, installation)
        owner = SubstitutionProtocol(request: request, cachedResponse: nil, client: client)
        load = InnerLoad(for: owner, fallback, in: .silent) { [redirects] _ in redirects.increment() }
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

    /// A task with a completion handler keeps only the last piece on Linux.
    @Test("The app resumes its task in the middle of a body: on Linux the body is told in one piece all the same")
    func resumedInTheMiddle() throws {
        load.didReceive(try head(200))
        load.start()
        load.didReceive(data("net"))
        load.start()
        load.didReceive(data("work"))
        load.start()
        load.didComplete(task, nil)
        load.start()
        if Platform.isLinux {
            #expect(client.events == [.head(200), .data("network"), .end])
        } else {
            #expect(client.events == [.head(200), .data("net"), .data("work"), .end])
        }
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
    @Test("The task ends inside the handler that refuses a redirect: the app's task begins anew, and nothing is told")
    func endInsideRedirectHandler() async throws {
        let (moved, load, task) = (try head(302), load, task)
        load.didRedirect(moved, URLRequest(url: url)) { next in
            #expect(next == nil)
            // As another thread may do, before the caller's next line.
            load.didReceive(moved)
            load.didComplete(task, nil)
            load.start()
        }
        await InnerSession.silent.settle()
        load.start()
        #expect(client.events == [])
        #expect(redirects.value == 1)
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
    fileprivate static let silent = InnerSession(runsTasks: false)

    /// Returns when the commands have run that came before.
    fileprivate func settle() async {
        await withCheckedContinuation { done in command { done.resume() } }
    }
}
