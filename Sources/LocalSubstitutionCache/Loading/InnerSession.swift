import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of the library's own in which ``InnerLoad``s ask the network as one session of the app would.
///
/// It has the configuration of that session, and with it the cookies, credentials, headers and limits; nothing of
/// another. It does not list `SubstitutionProtocol`, so that it never asks itself, but every other class.
// Mutable state is only accessed inside the lock.
final class InnerSession: NSObject, @unchecked Sendable {
    /// Whether the session starts its tasks; false in tests that tell the loads themselves what happens.
    private let runsTasks: Bool

    private let lock = NSLock()
    private var loads: [ObjectIdentifier: InnerLoad] = [:]
    private let session: URLSession
    private let relay = Relay()
    private let commands = DispatchQueue(label: "LocalSubstitutionCache.InnerSession")

    init(like configuration: URLSessionConfiguration, runsTasks: Bool = true) {
        self.runsTasks = runsTasks
        let configuration = configuration.withoutSubstitutions()
        Self.prepare(configuration)
        let queue = DelegateQueue()
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: relay, delegateQueue: queue)
        super.init()
        relay.owner = self
        didMake(configuration)
    }

    /// Whether `configuration` still is what this session was made like, in what Foundation on Linux reads anew for
    /// each load: there the app may change the configuration of its session.
    func isLike(_ configuration: URLSessionConfiguration) -> Bool {
        func fields(_ configuration: URLSessionConfiguration) -> [String: String] {
            var fields: [String: String] = [:]
            for (name, value) in configuration.httpAdditionalHeaders ?? [:] { fields["\(name)"] = "\(value)" }
            return fields
        }
        let own = session.configuration
        return fields(own) == fields(configuration)
            && own.timeoutIntervalForRequest == configuration.timeoutIntervalForRequest
            && own.urlCredentialStorage === configuration.urlCredentialStorage
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Runs what starts and cancels tasks, in order.
    ///
    /// Foundation on Linux calls the protocols of all sessions on one queue; starting and cancelling both wait for it.
    func command(_ body: @escaping @Sendable () -> Void) {
        commands.async(execute: body)
    }

    /// Starts the task of `load`, which is told all that happens to it, on a queue of this session's.
    func startTask(for load: InnerLoad, _ request: URLRequest) -> URLSessionDataTask {
        Self.prepareTask()
        let task = session.dataTask(with: request)
        lock.withLock { loads[ObjectIdentifier(task)] = load }
        if runsTasks { task.resume() }
        return task
    }

    /// What the app's cache has for a load.
    func cachedResponse(for task: URLSessionTask) -> CachedURLResponse? { load(of: task)?.owner?.cachedResponse }

    fileprivate func load(of task: URLSessionTask) -> InnerLoad? { lock.withLock { loads[ObjectIdentifier(task)] } }

    fileprivate func end(_ task: URLSessionTask) -> InnerLoad? {
        lock.withLock { loads.removeValue(forKey: ObjectIdentifier(task)) }
    }

    /// The delegate of the session, which has to be there before it.
    // Set once, before the first task is made.
    private final class Relay: NSObject, URLSessionDataDelegate, @unchecked Sendable {
        weak var owner: InnerSession?

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            guard let load = owner?.load(of: task) else { return completionHandler(nil) }
            load.didRedirect(response, request, completionHandler)
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let load = owner?.load(of: task) else {
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            load.didReceive(challenge, completionHandler)
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            owner?.load(of: dataTask)?.didReceive(response)
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            owner?.load(of: dataTask)?.didReceive(data)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            owner?.end(task)?.didComplete(task, error)
        }
    }
}
