import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A load from the network for one task of a registered session, run by a second task in a backing session.
///
/// The app's task stays open while a task of a ``BackingSession``, the backing task, loads the request. This object
/// receives each event of the backing task before the app does, so a file or an archived copy can still answer.
///
/// URL loading calls protocols on one queue (Linux) or on one thread for each load (Apple's systems): see
/// ``CallingContext``. All methods run there. Each event of the backing task is usually delivered to the protocol's
/// client immediately. On Linux, events are held back while the app's task is suspended. When the app resumes that
/// task, Foundation calls `startLoading()` again. The protocol then calls ``start()`` again, which delivers the events.
///
/// The backing task is started, cancelled and made to follow redirects inside ``BackingSession/enqueue(_:)``. On Linux
/// each of these calls would deadlock on the queue on which URL loading calls protocols.
///
/// The protocol's client is never notified of a redirect. On Linux such a notification crashes the process. On Apple's
/// systems, according to reports, the app would wait for its timeout if its delegate refused the redirect. So this
/// object itself asks the app's delegate, on the delegate queue. The backing task follows the redirects that the
/// delegate accepts.
///
/// Bodies and challenges are delivered differently on each system: see BackingLoad+Linux.swift and
/// BackingLoad+Apple.swift. Each of the two files also has its own `isOnlyPaused`, `canDeliver` and `Receiver`.
// Only called where URL loading calls protocols; `task` and `isCancelled` are only accessed inside `enqueue(_:)`.
final class BackingLoad: NetworkLoad, @unchecked Sendable {
    enum Stage {
        /// The load has not started.
        case idle
        /// The request is on the network, and the fallback may still answer.
        case undecided
        /// The network's response is being delivered, and no file or copy replaces it.
        case answering
        /// The last event is pending or delivered, or the load was stopped.
        case ended
    }

    /// The events that have not been delivered to the client yet.
    struct Pending {
        /// The event that is delivered after the head and the body.
        enum Completion {
            case end((any Error)?)
            case challenge(URLAuthenticationChallenge)
        }

        var head: URLResponse?
        var body = Data()
        var completion: Completion?
    }

    /// The protocol that loads the app's task; weak, because the protocol retains this object.
    private(set) weak var owner: URLProtocol?
    /// The client of ``owner``, to which all events are delivered.
    let client: (any URLProtocolClient)?
    /// The app's session; nil once it is deallocated.
    private(set) weak var appSession: URLSession?
    let context = CallingContext()
    let session: BackingSession
    private var task: URLSessionDataTask?
    private var isCancelled = false

    /// Records the steps of this load; nil without an observer.
    let observed: ObservedLoad?

    var stage = Stage.idle
    /// True once this object has begun to report the end of the load to the client.
    ///
    /// It stays false if the load was stopped first, or if a challenge was delivered last. On Linux,
    /// ``SubstitutionProtocol/stopLoading()`` releases the client if this property is true.
    private(set) var hasFinished = false
    private(set) var fallback: Fallback?
    private var pending = Pending()
    /// The body so far: all parts that have been delivered.
    ///
    /// Nil once neither an archive nor a completion handler needs the whole body. On Linux the client hands only the
    /// last part to a completion handler, so the whole body must be delivered at the end.
    var body: Data? = Data()
    /// ``body`` followed by the pending part.
    private var wholeBody: Data? { pending.body.isEmpty ? body : body.map { $0 + pending.body } }
    /// The known facts about the recipient of the body.
    var receiver = Receiver()

    init(
        for owner: URLProtocol,
        _ fallback: Fallback?,
        in session: BackingSession,
        of appSession: URLSession?,
        _ observed: ObservedLoad? = nil
    ) {
        (self.owner, self.session, self.appSession, self.fallback) = (owner, session, appSession, fallback)
        self.observed = observed
        client = owner.client
    }

    private static let lock = NSLock()
    private nonisolated(unsafe) static var loads: [ObjectIdentifier: BackingLoad] = [:]

    /// Returns the load for which a task of a backing session runs.
    static func load(for task: URLSessionTask) -> BackingLoad? { lock.withLock { loads[ObjectIdentifier(task)] } }

    /// Returns the load for which an ended task ran, and forgets that task.
    static func removeLoad(for task: URLSessionTask) -> BackingLoad? {
        lock.withLock { loads.removeValue(forKey: ObjectIdentifier(task)) }
    }

    // MARK: - Called by URL loading

    func start() {
        guard stage == .idle, let request = owner?.request else { return deliverPending() }
        stage = .undecided
        // If a file or copy can answer offline, a load without a connection fails immediately instead of waiting.
        let canWait = session.waits && fallback?.answer(afterStatus: nil) == nil
        session.enqueue { [self] in
            let task = session.task(for: request, canWait: canWait)
            self.task = task
            Self.lock.withLock { Self.loads[ObjectIdentifier(task)] = self }
            // Some tests report the network's events themselves, and do not run the task.
            if session.runsTasks { task.resume() }
        }
    }

    /// Ends the load and cancels the backing task; does nothing if the app has only suspended its task.
    func stop() {
        guard !isOnlyPaused else { return }
        (stage, pending) = (.ended, Pending())
        cancel()
    }

    /// Cancels the backing task.
    private func cancel() {
        session.enqueue { [self] in
            isCancelled = true
            if session.runsTasks { task?.cancel() }
        }
    }

    private func deliverPending() {
        let events = pending
        pending = Pending()
        deliver(events)
    }

    /// Delivers events to the client.
    func deliver(_ pending: Pending) {
        if case .end = pending.completion { hasFinished = true }
        guard let owner else { return }
        if let head = pending.head { client?.urlProtocol(owner, didReceive: head, cacheStoragePolicy: .notAllowed) }
        if !pending.body.isEmpty {
            body?.appendOrAssign(pending.body)
            deliverBody(pending.body, isLast: pending.completion != nil, as: owner)
        }
        switch pending.completion {
        case .end(let error?): client?.urlProtocol(owner, didFailWithError: error)
        case .end(nil): deliverEnd(as: owner)
        case .challenge(let challenge): deliver(challenge, as: owner)
        case nil: break
        }
    }

    // MARK: - Called by the backing session

    /// Adds an event to the pending ones, and delivers all of them if ``canDeliver`` is true.
    ///
    /// Does nothing before the load has started or after it has ended.
    ///
    /// - Parameters:
    ///   - continues: True if the load continues after `completion`, as it does after a challenge on Apple's systems.
    ///   - change: Adds the event.
    func record(continues: Bool = false, _ change: (inout Pending) -> Void) {
        guard stage == .undecided || stage == .answering else { return }
        change(&pending)
        if pending.head != nil { stage = .answering }
        if pending.completion != nil, !continues { stage = .ended }
        if canDeliver { deliverPending() }
    }

    /// Answers with a file or an archived copy instead of the network's response, and cancels the backing task.
    func answer(_ answer: CachedURLResponse) {
        observed?.report(answer)
        record { $0 = Pending(head: answer.response, body: answer.data, completion: .end(nil)) }
        cancel()
    }

    func didReceive(_ response: URLResponse) {
        // An interim response, such as 103, is not the answer (RFC 9110 §15.2).
        if (100..<200).contains(response.status) { return }
        guard stage != .ended else { return }
        observed?.report(.received(response))
        if stage == .undecided {
            if let answer = fallback?.answer(afterStatus: response.status) { return self.answer(answer) }
            fallback?.archived?.receive(response)
        } else {
            // The archive keeps no mixture of two bodies.
            fallback?.archived?.refuse(.incomplete)
        }
        record { $0.head = response }
    }

    func didReceive(_ data: Data) {
        // After a file or copy has answered, the backing task may still report parts of the network's body until that
        // task is cancelled.
        guard stage != .ended else { return }
        observed?.report(.receivedPart(data))
        if stage == .answering {
            // URLSession reports the head first, so the archive has received it by now.
            let mayBeKept = fallback?.archived?.hasRoom(for: data.count) ?? false
            if !mayBeKept, !receiver.needsWhole { body = nil }
        }
        record { $0.body.appendOrAssign(data) }
    }

    /// Records the end of the backing task.
    ///
    /// If a 3xx is not followed, Foundation on Linux reports neither its head nor a part of its body to the delegate
    /// before the end. In that case, only `task.response` contains the head.
    func didComplete(_ task: URLSessionTask, _ error: (any Error)?) {
        if stage == .undecided {
            let isReading = fallback?.readCopy(after: error) { [self] in
                context.enter { [self] in didComplete(task, error) }
            }
            if isReading == true { return }
            if error?.meansOffline == true, let answer = fallback?.answer(afterStatus: nil) {
                return self.answer(answer)
            }
            if error == nil, let response = task.response { didReceive(response) }
        }
        // If the load was stopped, the stage is `ended`, and the body may lack parts. Such a body is not archived.
        if error == nil, stage == .answering, let last = task.currentRequest {
            fallback?.archived?.finish(wholeBody, after: last)
        }
        record { $0.completion = .end(error) }
    }

    /// Asks the app's delegate about a redirect, and continues once the delegate has decided.
    ///
    /// On Apple's systems the request has a mark, so that no protocol of this library loads it: see
    /// ``BackingSession/marked(_:)``. The app receives the request without the mark, because the app may load that
    /// request itself.
    ///
    /// A redirect that no longer matters is left to ``BackingSession/refuseObsoleteRedirect(_:)``. On Linux that
    /// function does not call the handler: after the backing task was cancelled, such a call would crash the process.
    func didRedirect(
        _ response: HTTPURLResponse,
        _ request: URLRequest,
        _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard !isOver else { return BackingSession.refuseObsoleteRedirect(completionHandler) }
        let request = BackingSession.unmarked(request)
        guard let app = appSession, let task = owner?.task, let delegate = app.redirectDelegate(of: task) else {
            return continueRedirect(to: request, after: response, completionHandler)
        }
        app.delegateQueue.addOperation { [self] in
            // URLSession does not call a delegate about a task that has ended.
            guard !task.hasEnded else { return BackingSession.refuseObsoleteRedirect(completionHandler) }
            delegate(response, request) { [self] next in
                context.enter { [self] in continueRedirect(to: next, after: response, completionHandler) }
            }
        }
    }

    /// True once a redirect no longer matters: the answer's source is decided, or the app's task has ended.
    private var isOver: Bool { stage != .undecided || owner?.task?.hasEnded ?? false }

    /// Continues after the app's decision about a redirect; if `next` is nil, the 3xx itself is the response.
    private func continueRedirect(
        to next: URLRequest?,
        after response: HTTPURLResponse,
        _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard !isOver else { return BackingSession.refuseObsoleteRedirect(completionHandler) }
        // If the app refuses a redirect, the 3xx is the response. No fallback replaces it, even if the load then fails.
        guard let next else {
            fallback = nil
            return follow(nil, completionHandler)
        }
        observed?.report(.redirected(response, to: next))
        guard let answer = fallback?.answer(redirectedTo: next) else { return follow(next, completionHandler) }
        BackingSession.refuseObsoleteRedirect(completionHandler)
        self.answer(answer)
    }

    private func follow(_ next: URLRequest?, _ completionHandler: @escaping @Sendable (URLRequest?) -> Void) {
        session.enqueue { [self] in
            if isCancelled {
                BackingSession.refuseObsoleteRedirect(completionHandler)
            } else {
                completionHandler(next.map(BackingSession.marked))
            }
        }
    }
}

extension Data {
    /// Appends `other`; if this value is empty, it shares the bytes of `other` instead of copying them.
    ///
    /// `Data.append(_:)` copies even into an empty value. With this method, a body that arrives in one piece is never
    /// copied.
    fileprivate mutating func appendOrAssign(_ other: Data) {
        if isEmpty { self = other } else { append(other) }
    }
}

extension URLSessionTask {
    /// True once the task has been cancelled or has completed.
    fileprivate var hasEnded: Bool { state == .canceling || state == .completed }
}

extension URLSession {
    fileprivate typealias RedirectDelegate =
        @Sendable (
            _ response: HTTPURLResponse, _ request: URLRequest, _ decision: @escaping @Sendable (URLRequest?) -> Void
        ) -> Void

    /// Returns a closure that asks a task's delegates about a redirect; nil if there is no delegate.
    ///
    /// Call the closure on the delegate queue.
    fileprivate func redirectDelegate(of task: URLSessionTask) -> RedirectDelegate? {
        let delegates = [task.delegate, delegate as? any URLSessionTaskDelegate].compactMap(\.self)
        if delegates.isEmpty { return nil }
        return { [self] response, request, decision in
            for delegate in delegates {
                // In Objective-C the method is optional. NSURLSession.h says of a task's delegate: "Methods not
                // implemented on this delegate will still be forwarded to the session delegate". On Linux each delegate
                // has the method: a task's delegate that does not implement the method inherits an implementation that
                // asks the session's delegate.
                #if canImport(FoundationNetworking)
                return delegate.urlSession(
                    self,
                    task: task,
                    willPerformHTTPRedirection: response,
                    newRequest: request,
                    completionHandler: decision
                )
                #else
                let asked: Void? = delegate.urlSession?(
                    self,
                    task: task,
                    willPerformHTTPRedirection: response,
                    newRequest: request,
                    completionHandler: decision
                )
                if asked != nil { return }
                #endif
            }
            decision(request)
        }
    }
}
