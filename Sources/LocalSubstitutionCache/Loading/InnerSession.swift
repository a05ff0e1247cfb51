import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of the library's own in which ``InnerLoad``s ask the network as one session of the app would.
///
/// It has the configuration of that session, and with it the cookies, credentials, headers and limits; nothing of
/// another. It does not list `SubstitutionProtocol`, so that it never asks itself, but every other class. (Classes that
/// the app has registered serve the shared session alone, and so no redirect of a load here.)
// `live` and `hasEnded` are only touched by commands.
final class InnerSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    /// Whether tasks are resumed; not in tests that tell the loads themselves what happens.
    let runsTasks: Bool
    private let configuration: URLSessionConfiguration
    /// Made with their first tasks, by whether they wait for connectivity; they keep this object, their delegate, until
    /// they are invalidated.
    private var live: [Bool: URLSession] = [:]
    private var hasEnded = false

    init(like configuration: URLSessionConfiguration, runsTasks: Bool = true) {
        self.runsTasks = runsTasks
        self.configuration = configuration.withoutSubstitutions()
        Self.prepare(self.configuration)
    }

    private let commands = DispatchQueue(label: "LocalSubstitutionCache.InnerSession")

    /// Runs what starts and cancels tasks, in order.
    ///
    /// Foundation on Linux calls the protocols of all sessions on one queue; starting and cancelling both wait for it.
    func command(_ body: @escaping @Sendable () -> Void) { commands.async(execute: body) }

    /// Whether the app's session waits for connectivity instead of failing.
    var waits: Bool { Self.waits(configuration) }

    /// Makes a task; called by commands.
    ///
    /// - Parameters:
    ///   - request: What it loads.
    ///   - canWait: Whether it may wait for connectivity, if the app's session does.
    /// - Returns: The task.
    func task(for request: URLRequest, canWait: Bool = false) -> URLSessionDataTask {
        let session =
            live[canWait]
            ?? URLSession(
                configuration: canWait ? configuration : Self.failingAtOnce(configuration),
                delegate: self,
                delegateQueue: Self.delegateQueue()
            )
        live[canWait] = hasEnded ? nil : session
        defer { if hasEnded { session.finishTasksAndInvalidate() } }
        return session.dataTask(with: Self.marked(request))
    }

    /// Lets go of what was made for the app's session, when its last load has ended.
    func end() {
        command { [self] in
            for session in live.values { session.finishTasksAndInvalidate() }
            (live, hasEnded) = ([:], true)
        }
    }

    /// Whether `configuration` still is what this session was made like, in what Foundation on Linux reads anew for
    /// each load: there the app may change the configuration of its session.
    func isLike(_ other: URLSessionConfiguration) -> Bool {
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
        guard let load = InnerLoad.of(task) else { return completionHandler(nil) }
        load.thread.perform { load.didRedirect(response, request, completionHandler) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let load = InnerLoad.of(task) else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        load.thread.perform { load.didReceive(challenge, completionHandler) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let load = InnerLoad.of(dataTask) { load.thread.perform { load.didReceive(response) } }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if let load = InnerLoad.of(dataTask) { load.thread.perform { load.didReceive(data) } }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let load = InnerLoad.ended(task) { load.thread.perform { load.didComplete(task, error) } }
    }
}
