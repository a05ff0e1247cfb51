// How a session of ours loads on Linux. InnerSession+Apple.swift is for Apple's systems.
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking

/// The queue of the inner session's delegate: none.
///
/// Foundation adds what it tells a delegate to a queue while it is on the queue on which it calls protocols. Run at
/// once, it is told there, and in step with the network.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}

/// Loads the tasks of the inner session, or of another of the library's own, by the system's class, as if it were that
/// class.
///
/// A task that is cancelled while it ends would end the process: Foundation tells the client of the protocol that it
/// failed, and finds it gone.
class InnerProtocol: URLProtocol {
    private var load: TaskLoad?

    override class func canInit(with request: URLRequest) -> Bool {
        SessionLink.nextClass(for: request, behind: nil) != nil
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        if load == nil {
            let systemClass = SessionLink.nextClass(for: request, behind: nil)
            load = TaskLoad(for: self, nil, with: systemClass, cachedResponse: cachedResponse)
        }
        load?.start()
    }

    override func stopLoading() {
        let wasFinished = load?.hasFinished ?? false
        load?.stop()
        if wasFinished { client = nil }
    }
}

/// Hands over what the app's cache has answered already, to the app's own task.
// Set once, before the first task is made.
private final class AnsweredCache: URLCache, @unchecked Sendable {
    weak var session: InnerSession?

    init() { super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil) }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(session?.cachedResponse(for: dataTask))
    }

    override func removeCachedResponse(for dataTask: URLSessionDataTask) {}
}

extension InnerSession {
    /// Called before the session is made.
    static func prepare(_ configuration: URLSessionConfiguration) {
        configuration.protocolClasses = [InnerProtocol.self] + (configuration.protocolClasses ?? [])
        configuration.urlCache = AnsweredCache()
        // The app's task has got its cookies when it was made; those that arrive are stored all the same.
        configuration.httpShouldSetCookies = false
    }

    /// Called when it is made.
    func didMake(_ configuration: URLSessionConfiguration) {
        (configuration.urlCache as? AnsweredCache)?.session = self
    }

    /// Called before a task is made, on the queue of the commands.
    static func prepareTask() {
        // It cannot be made where it is used: Foundation waits for that queue.
        _ = LoadingQueue.idleTask
    }
}
#endif
