// The declarations here are documented by Apple.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation
public import FoundationNetworking

// These protocols have the methods that the library calls or implements. In Objective-C the methods are optional. Here,
// the default implementation does what the system does if a session's delegate lacks the method.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    )
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    )
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

extension URLSessionTaskDelegate {
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { completionHandler(.performDefaultHandling, nil) }
}

/// A session that returns copies of its configuration (NSURLSession.h).
///
/// This session always retains its delegate. A real session retains its delegate until the session is invalidated
/// (NSURLSession.h).
public final class URLSession: NSObject, @unchecked Sendable {
    public typealias AuthChallengeDisposition = FoundationNetworking.URLSession.AuthChallengeDisposition
    public typealias ResponseDisposition = FoundationNetworking.URLSession.ResponseDisposition

    public static let shared = URLSession(configuration: .default, delegateQueue: LoadingMode.serial.makeQueue())

    private let copied: URLSessionConfiguration
    public let delegate: (any URLSessionDelegate)?
    public let delegateQueue: OperationQueue

    public init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil
    ) {
        guard let copy = configuration.copy() as? URLSessionConfiguration else { fatalError("no copy") }
        (copied, self.delegate) = (copy, delegate)
        // The library lets URLSession make its queues; an app may bring a queue of any kind.
        let mode = delegate is BackingSession ? .serial : LoadingMode.current
        self.delegateQueue = delegateQueue ?? mode.makeQueue()
    }

    public var configuration: URLSessionConfiguration {
        guard let copy = copied.copy() as? URLSessionConfiguration else { fatalError("no copy") }
        return copy
    }

    public func dataTask(with request: URLRequest) -> URLSessionDataTask { URLSessionDataTask(request, in: self) }

    public func finishTasksAndInvalidate() {}

    public func invalidateAndCancel() { for task in tasks.withLock({ $0 }) { task.cancel() } }

    /// The tasks that have not ended.
    fileprivate let tasks = Locked<[URLSessionTask]>([])

    /// Returns the load for a request.
    ///
    /// The first protocol class that accepts the task loads the request. If no class accepts the task, the network
    /// loads the request.
    ///
    /// As documented, only the shared session consults registered classes. The real system may differ:
    /// `Network.asksRegisteredClasses` simulates a system in which every session consults registered classes.
    func load(_ request: URLRequest, for task: URLSessionTask) -> any Load {
        var classes = (copied.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type }
        if self === URLSession.shared || Network.shared.asksRegisteredClasses { classes += URLProtocol.registered }
        if let taker = classes.first(where: { $0.canInit(with: task) }) {
            return ProtocolLoad(taker, request, for: task)
        }
        let isReal = Network.shared.answer == nil
        return isReal ? ServerLoad(request, for: task, copied) : Exchange(request, for: task, copied)
    }
}

/// The load of one request of a task.
protocol Load: AnyObject, Sendable {
    func start()
    func stop()
}

public class URLSessionTask: NSObject, @unchecked Sendable {
    public enum State { case running, suspended, canceling, completed }

    public let originalRequest: URLRequest?
    public let taskIdentifier: Int
    private static let count = Locked(0)
    /// The task's own delegate.
    ///
    /// "Methods not implemented on this delegate will still be forwarded to the session delegate" (NSURLSession.h).
    /// This fake does not forward them.
    public var delegate: (any URLSessionTaskDelegate)?
    let session: URLSession
    private let calls = Locked<[@Sendable () -> Void]>([])
    private let turn = NSRecursiveLock()
    private let lock = NSLock()
    private var load: (any Load)?
    private typealias Values = (state: State, request: URLRequest?, response: URLResponse?)
    private var values: Values

    fileprivate init(_ request: URLRequest, in session: URLSession) {
        (originalRequest, self.session) = (request, session)
        values = (.suspended, request, nil)
        taskIdentifier = Self.count.withLock { count in
            count += 1
            return count
        }
        super.init()
        Living.add(self)
    }

    /// Runs `body` later on the delegate queue, and all these calls in order, even if the queue is concurrent.
    func call(_ body: @escaping @Sendable () -> Void) {
        calls.withLock { $0.append(body) }
        session.delegateQueue.addOperation { [self] in turn.withLock { calls.withLock { $0.removeFirst() }() } }
    }

    public var state: State { lock.withLock { values.state } }
    public var currentRequest: URLRequest? { lock.withLock { values.request } }
    public var response: URLResponse? { lock.withLock { values.response } }

    public func resume() {
        let isFirst = lock.withLock { () -> Bool in
            guard values.state == .suspended else { return false }
            values.state = .running
            // Whoever sees that the task runs can cancel it through the session.
            if load == nil { session.tasks.withLock { $0.append(self) } }
            return load == nil
        }
        guard isFirst, let originalRequest else { return }
        begin(originalRequest)
    }

    public func cancel() {
        let load = lock.withLock { () -> (any Load)? in
            guard values.state == .running || values.state == .suspended else { return nil }
            values.state = .canceling
            return self.load
        }
        load?.stop()
        complete(URLError(.cancelled))
    }

    // MARK: - Called by loads

    /// Loads a request for this task, instead of the task's previous request.
    func begin(_ request: URLRequest) {
        if LoadingMode.current == .classic { start(request) } else { call { [self] in start(request) } }
    }

    private func start(_ request: URLRequest) {
        lock.withLock { values.request = request }
        let load = session.load(request, for: self)
        let isWanted = lock.withLock {
            self.load = load
            return values.state == .running
        }
        if isWanted { load.start() }
    }

    private var taskDelegate: (any URLSessionTaskDelegate)? {
        delegate ?? session.delegate as? any URLSessionTaskDelegate
    }

    func receive(_ response: URLResponse) {
        enqueueWhileRunning({ $0.response = response }) {
            $2?.urlSession($0, dataTask: $1, didReceive: response) { _ in }
        }
    }

    func receive(_ data: Data) {
        enqueueWhileRunning { $2?.urlSession($0, dataTask: $1, didReceive: data) }
    }

    /// Calls the delegate on its queue, unless the task has ended.
    ///
    /// The lock is held until the call is in the queue, so that no call follows the end of the task.
    private func enqueueWhileRunning(
        _ change: (inout Values) -> Void = { _ in },
        _ call: @escaping @Sendable (URLSession, URLSessionDataTask, (any URLSessionDataDelegate)?) -> Void
    ) {
        lock.withLock {
            guard values.state == .running, let task = self as? URLSessionDataTask else { return }
            change(&values)
            self.call { [session, taskDelegate] in call(session, task, taskDelegate as? any URLSessionDataDelegate) }
        }
    }

    /// Asks the delegate about a redirect.
    func redirect(
        _ response: HTTPURLResponse,
        to request: URLRequest,
        decided: @escaping @Sendable (URLRequest?) -> Void
    ) {
        call { [self, session, taskDelegate] in
            guard let taskDelegate else { return decided(request) }
            taskDelegate.urlSession(
                session,
                task: self,
                willPerformHTTPRedirection: response,
                newRequest: request,
                completionHandler: decided
            )
        }
    }

    func receive(
        _ challenge: URLAuthenticationChallenge,
        answered: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        call { [self, session, taskDelegate] in
            guard let taskDelegate else { return answered(.performDefaultHandling, nil) }
            taskDelegate.urlSession(session, task: self, didReceive: challenge, completionHandler: answered)
        }
    }

    func complete(_ error: (any Error)?) {
        lock.withLock {
            guard values.state != .completed else { return }
            (values.state, load) = (.completed, nil)
            session.tasks.withLock { $0.removeAll { $0 === self } }
            call { [self, session, taskDelegate] in
                taskDelegate?.urlSession(session, task: self, didCompleteWithError: error)
            }
        }
    }
}

public final class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
