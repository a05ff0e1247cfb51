// Only Apple's systems need a second session: see BackingLoad.swift.
#if !canImport(FoundationNetworking) || APPLE_LOADING
import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of the library, which runs ``BackingLoad``s in place of a session of the app.
///
/// The configuration is copied from the app's session, with the same cookie storage, credentials, header fields and
/// limits. The copy lists the same protocol classes except `SubstitutionURLProtocol`, so that the loads never come
/// back to this library. (Classes that the app registers with `URLProtocol` are consulted only for the shared session.
/// So such classes do not see the redirects of a load in a backing session.)
// Mutable state is only accessed inside the lock.
final class BackingSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let configuration: URLSessionConfiguration
    private let lock = NSLock()
    /// The URL sessions, keyed by whether they may wait for connectivity; each is created with its first task.
    ///
    /// A URL session retains its delegate, which is this object, until the URL session is invalidated.
    private var sessionsByWaiting: [Bool: URLSession] = [:]
    private var loads: [ObjectIdentifier: BackingLoad] = [:]
    /// The hosts that have asked for a credential, which URL loading may send again without being asked.
    private var challengers: Set<String> = []
    private var hasEnded = false

    init(like configuration: URLSessionConfiguration) { self.configuration = configuration }

    /// True if the app's session waits for connectivity instead of failing.
    ///
    /// According to NSURLSession.h on `waitsForConnectivity`, a load then waits until the timeout for the resource.
    var waits: Bool { configuration.waitsForConnectivity }

    /// Creates a task, which is not started yet, for a load.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - load: The load, which receives the events of the task.
    ///   - canWait: If true, the task waits for connectivity whenever the app's session does; if false, it never waits,
    ///     because a file or copy can answer only after a load has failed.
    /// - Returns: The task.
    func task(for request: URLRequest, of load: BackingLoad, canWait: Bool) -> URLSessionDataTask {
        lock.withLock {
            let session = sessionsByWaiting[canWait] ?? makeSession(canWait: canWait)
            sessionsByWaiting[canWait] = hasEnded ? nil : session
            defer { if hasEnded { session.finishTasksAndInvalidate() } }
            let task = session.dataTask(with: request.marked)
            loads[ObjectIdentifier(task)] = load
            return task
        }
    }

    private func makeSession(canWait: Bool) -> URLSession {
        let copy = configuration.withoutSubstitutions()
        if !canWait { copy.waitsForConnectivity = false }
        // Without a queue, the session creates a serial one.
        return URLSession(configuration: copy, delegate: self, delegateQueue: nil)
    }

    /// Invalidates the URL sessions once their last tasks have ended.
    func finishAndInvalidate() {
        lock.withLock {
            for session in sessionsByWaiting.values { session.finishTasksAndInvalidate() }
            (sessionsByWaiting, hasEnded) = ([:], true)
        }
    }

    /// Returns whether the host of a URL has asked for a credential.
    func mayIdentifyUser(at url: URL?) -> Bool {
        lock.withLock { url?.host.map { challengers.contains($0.lowercased()) } ?? false }
    }

    private func load(for task: URLSessionTask) -> BackingLoad? { lock.withLock { loads[ObjectIdentifier(task)] } }

    // MARK: - URLSessionDataDelegate

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let load = load(for: task) else { return completionHandler(nil) }
        load.perform { load.didRedirect(response, request, completionHandler) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let load = load(for: task) else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        // The server's own certificate is no credential of the user. Foundation on Linux has no such challenge.
        #if canImport(FoundationNetworking)
        let asksUser = true
        #else
        let asksUser = challenge.protectionSpace.authenticationMethod != NSURLAuthenticationMethodServerTrust
        #endif
        if asksUser {
            lock.withLock { _ = challengers.insert(challenge.protectionSpace.host.lowercased()) }
        }
        load.perform { load.didReceive(challenge, completionHandler) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let load = load(for: dataTask) { load.perform { load.didReceive(response) } }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if let load = load(for: dataTask) { load.perform { load.didReceive(data) } }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let load = lock.withLock { loads.removeValue(forKey: ObjectIdentifier(task)) }
        if let load { load.perform { load.didComplete(task, error) } }
    }
}
#endif
