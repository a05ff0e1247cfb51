import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of the library, which runs ``BackingLoad``s in place of a session of the app.
///
/// The configuration is copied from the app's session, with the same cookie storage, credentials, header fields and
/// limits. The copy lists the same protocol classes except `SubstitutionProtocol`, so that the loads never come
/// back to this library. (Classes that the app registers with `URLProtocol` are consulted only for the shared session.
/// So such classes do not see the redirects of a load in a backing session.) On Linux ``prepare(_:)`` then changes the
/// copy further.
// `sessionsByWaiting` and `hasEnded` are only accessed inside `enqueue(_:)`.
final class BackingSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    /// False in tests that themselves report the network's events to the loads.
    ///
    /// If false, the loads neither start nor cancel their tasks.
    let runsTasks: Bool
    private let configuration: URLSessionConfiguration
    /// The URL sessions, keyed by whether they may wait for connectivity; each is created with its first task.
    ///
    /// A URL session retains its delegate, which is this object, until the URL session is invalidated.
    private var sessionsByWaiting: [Bool: URLSession] = [:]
    private var hasEnded = false

    init(like configuration: URLSessionConfiguration, runsTasks: Bool = true) {
        self.runsTasks = runsTasks
        self.configuration = configuration.withoutSubstitutions()
        Self.prepare(self.configuration)
    }

    private let queue = DispatchQueue(label: "LocalSubstitutionCache.BackingSession")

    /// Runs `body` later on the serial queue that starts and cancels tasks.
    ///
    /// Foundation on Linux calls the protocols of all sessions on one queue. Starting or cancelling a task waits for
    /// that queue, so on that queue either call would deadlock.
    func enqueue(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// True if the app's session waits for connectivity instead of failing.
    var waits: Bool { Self.waitsForConnectivity(configuration) }

    /// Creates a task; only called inside ``enqueue(_:)``.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - canWait: If true, the task waits for connectivity whenever the app's session does; if false, it never waits.
    /// - Returns: The task, which is not started yet.
    func task(for request: URLRequest, canWait: Bool = false) -> URLSessionDataTask {
        let session =
            sessionsByWaiting[canWait]
            ?? URLSession(
                configuration: canWait ? configuration : Self.failingAtOnce(configuration),
                delegate: self,
                delegateQueue: Self.delegateQueue()
            )
        sessionsByWaiting[canWait] = hasEnded ? nil : session
        defer { if hasEnded { session.finishTasksAndInvalidate() } }
        return session.dataTask(with: Self.marked(request))
    }

    /// Invalidates the URL sessions once their last tasks have ended.
    func finishAndInvalidate() {
        enqueue { [self] in
            for session in sessionsByWaiting.values { session.finishTasksAndInvalidate() }
            (sessionsByWaiting, hasEnded) = ([:], true)
        }
    }

    /// Returns true if `other` equals `configuration` in all values that Foundation on Linux reads at each load.
    ///
    /// On Linux the app can change its session's configuration even after the session was created.
    func matches(_ other: URLSessionConfiguration) -> Bool {
        func fields(_ configuration: URLSessionConfiguration) -> [String: String] {
            var fields: [String: String] = [:]
            for (name, value) in configuration.httpAdditionalHeaders ?? [:] { fields["\(name)"] = "\(value)" }
            return fields
        }
        return fields(configuration) == fields(other)
            && configuration.timeoutIntervalForRequest == other.timeoutIntervalForRequest
            && configuration.urlCredentialStorage === other.urlCredentialStorage
    }

    // MARK: - URLSessionDataDelegate

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let load = BackingLoad.load(for: task) else { return completionHandler(nil) }
        load.context.perform { load.didRedirect(response, request, completionHandler) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let load = BackingLoad.load(for: task) else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        load.context.perform { load.didReceive(challenge, completionHandler) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let load = BackingLoad.load(for: dataTask) { load.context.perform { load.didReceive(response) } }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if let load = BackingLoad.load(for: dataTask) { load.context.perform { load.didReceive(data) } }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let load = BackingLoad.removeLoad(for: task) { load.context.perform { load.didComplete(task, error) } }
    }
}
