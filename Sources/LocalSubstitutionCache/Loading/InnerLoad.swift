import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One load in the ``InnerSession`` of a session that the app has registered; nothing of it reaches the app before this
/// object has seen it.
///
/// Everything happens where URL loading calls protocols. What the inner session reports is told there at once, or,
/// while the app's task is suspended, when it is resumed. The inner task belongs to the inner session's commands.
///
/// The app's delegate is asked here about redirects, on its own queue, and the inner task follows them. What differs
/// between systems is how a body is told: see the files for Linux and for Apple's systems.
// Only called where URL loading calls protocols; the task, only by commands.
final class InnerLoad: NetworkLoad, @unchecked Sendable {
    enum Stage {
        /// Not begun.
        case idle
        /// The network has been asked, and the file may still answer.
        case undecided
        /// The network answers.
        case answering
        /// The last of what happens is pending, or told; or the load was stopped.
        case ended
    }

    /// What has happened and was not told.
    struct Pending {
        /// The last thing that the client is told.
        enum Last {
            case end((any Error)?)
            case challenge(URLAuthenticationChallenge)
        }

        var head: URLResponse?
        var body = Data()
        var last: Last?
    }

    private(set) weak var owner: URLProtocol?
    let client: (any URLProtocolClient)?
    /// The app's session; nil when it has ended.
    private(set) weak var appSession: URLSession?
    let thread = CallingThread()
    let session: InnerSession
    private var task: URLSessionDataTask?
    private var isCancelled = false

    /// Nil when nobody takes note.
    let observed: ObservedLoad?

    var stage = Stage.idle
    private(set) var hasFinished = false
    private var fallback: Fallback?
    private var pending = Pending()
    /// The network's answer, if an archive may keep it.
    var incoming: IncomingCopy?
    /// The network's body as far as it was told; nil when nobody needs it whole.
    var body: Data? = Data()
    /// The same with what is pending.
    private var wholeBody: Data? { pending.body.isEmpty ? body : body.map { $0 + pending.body } }
    var receiver = Receiver()

    init(
        for owner: URLProtocol,
        _ fallback: Fallback?,
        in session: InnerSession,
        of appSession: URLSession?,
        _ observed: ObservedLoad? = nil
    ) {
        (self.owner, self.session, self.appSession, self.fallback) = (owner, session, appSession, fallback)
        self.observed = observed
        client = owner.client
    }

    private static let lock = NSLock()
    private nonisolated(unsafe) static var loads: [ObjectIdentifier: InnerLoad] = [:]

    /// The load that a task of an inner session is for.
    static func of(_ task: URLSessionTask) -> InnerLoad? { lock.withLock { loads[ObjectIdentifier(task)] } }

    /// The same, when the task has ended.
    static func ended(_ task: URLSessionTask) -> InnerLoad? {
        lock.withLock { loads.removeValue(forKey: ObjectIdentifier(task)) }
    }

    // MARK: - Called by URL loading

    func start() {
        guard stage == .idle, let request = owner?.request else { return deliver() }
        stage = .undecided
        // Where a file or copy can answer, nobody waits for a connection.
        let canWait = session.waits && fallback?.answer(after: .offline) == nil
        session.command { [self] in
            let task = session.task(for: request, canWait: canWait)
            self.task = task
            Self.lock.withLock { Self.loads[ObjectIdentifier(task)] = self }
            if session.runsTasks { task.resume() }
        }
    }

    func stop() {
        guard !isOnlyPaused else { return }
        (stage, pending) = (.ended, Pending())
        cancel()
    }

    /// Ends what the network still does.
    private func cancel() {
        session.command { [self] in
            isCancelled = true
            task?.cancel()
        }
    }

    private func deliver() {
        let told = pending
        pending = Pending()
        tell(told)
    }

    /// Tells the client what has happened.
    func tell(_ pending: Pending) {
        if case .end = pending.last { hasFinished = true }
        guard let owner else { return }
        if let head = pending.head { client?.urlProtocol(owner, didReceive: head, cacheStoragePolicy: .notAllowed) }
        if !pending.body.isEmpty {
            // Nothing is copied of a body that is told at once.
            if body?.isEmpty == true { body = pending.body } else { body?.append(pending.body) }
            tellBody(pending.body, isLast: pending.last != nil, as: owner)
        }
        switch pending.last {
        case .end(let error?): client?.urlProtocol(owner, didFailWithError: error)
        case .end(nil): tellEnd(as: owner)
        case .challenge(let challenge): tell(challenge, as: owner)
        case nil: break
        }
    }

    // MARK: - Called for the inner session

    /// Adds to what is pending, unless the client is to be told nothing more, and tells it.
    ///
    /// - Parameters:
    ///   - goesOn: Whether the network goes on after the last event, as after a challenge on Apple's systems.
    ///   - change: Adds an event.
    func add(goesOn: Bool = false, _ change: (inout Pending) -> Void) {
        guard stage == .undecided || stage == .answering else { return }
        change(&pending)
        if pending.head != nil { stage = .answering }
        if pending.last != nil, !goesOn { stage = .ended }
        if canTell { deliver() }
    }

    /// Answers instead of the network, and ends its load.
    func answer(_ answer: CachedURLResponse) {
        observed?.note(answer)
        add { $0 = Pending(head: answer.response, body: answer.data, last: .end(nil)) }
        cancel()
    }

    func didReceive(_ response: URLResponse) {
        let outcome = Outcome(response)
        // An interim response, such as 103, is not the answer (RFC 9110 §15.2).
        if let status = outcome?.status, (100..<200).contains(status) { return }
        guard stage != .ended else { return }
        observed?.note(.received(response))
        if stage == .undecided {
            if let answer = outcome.flatMap({ fallback?.answer(after: $0) }) { return self.answer(answer) }
            incoming = fallback?.incoming(response)
        }
        add { $0.head = response }
    }

    func didReceive(_ data: Data) {
        // The network may send a part after a file has answered, until its load is cancelled.
        guard stage != .ended else { return }
        observed?.note(.receivedPart(data))
        if stage == .answering {
            let mayBeKept = incoming?.hasRoom(for: data.count) ?? false
            if !mayBeKept, !receiver.needsWhole { body = nil }
        }
        add { $0.body.append(data) }
    }

    /// Records the end; on Linux only the task has the head of a 3xx that leads nowhere.
    func didComplete(_ task: URLSessionTask, _ error: (any Error)?) {
        if stage == .undecided {
            if let answer = error.flatMap({ Outcome($0) }).flatMap({ fallback?.answer(after: $0) }) {
                return self.answer(answer)
            }
            if error == nil, let response = task.response { didReceive(response) }
        }
        // A load that was stopped may have missed parts.
        if error == nil, stage == .answering, let last = task.currentRequest { incoming?.end(wholeBody, after: last) }
        add { $0.last = .end(error) }
    }

    /// Asks the app about a redirect, and goes on when it has decided.
    func didRedirect(
        _ response: HTTPURLResponse,
        _ request: URLRequest,
        _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard !isOver else { return InnerSession.abandon(completionHandler) }
        let request = InnerSession.unmarked(request)
        guard let app = appSession, let task = owner?.task, let delegate = app.redirectDelegate(of: task) else {
            return decided(request, after: response, completionHandler)
        }
        app.delegateQueue.addOperation { [self] in
            // After its end a delegate is told nothing of a task.
            guard !task.hasEnded else { return InnerSession.abandon(completionHandler) }
            delegate(response, request) { [self] next in
                thread.enter { [self] in decided(next, after: response, completionHandler) }
            }
        }
    }

    /// Whether nothing may be told any more.
    private var isOver: Bool { stage != .undecided || owner?.task?.hasEnded ?? false }

    /// Goes on after the app has decided about a redirect; nil for the 3xx itself.
    private func decided(
        _ next: URLRequest?,
        after response: HTTPURLResponse,
        _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard !isOver else { return InnerSession.abandon(completionHandler) }
        // What the app refuses to follow is the answer, whatever becomes of it.
        guard let next else {
            fallback = nil
            return follow(nil, completionHandler)
        }
        observed?.note(.redirected(response, to: next))
        guard let answer = fallback?.answer(redirectedTo: next) else { return follow(next, completionHandler) }
        InnerSession.abandon(completionHandler)
        self.answer(answer)
    }

    private func follow(_ next: URLRequest?, _ completionHandler: @escaping @Sendable (URLRequest?) -> Void) {
        session.command { [self] in
            if isCancelled {
                InnerSession.abandon(completionHandler)
            } else {
                completionHandler(next.map(InnerSession.marked))
            }
        }
    }
}

extension URLSessionTask {
    /// Whether the task was cancelled, or is done.
    fileprivate var hasEnded: Bool { state == .canceling || state == .completed }
}

extension URLSession {
    fileprivate typealias RedirectDelegate =
        @Sendable (
            _ response: HTTPURLResponse, _ request: URLRequest, _ decision: @escaping @Sendable (URLRequest?) -> Void
        ) -> Void

    /// Who decides about the redirects of a task, to be called on the delegate's queue; nil for nobody.
    fileprivate func redirectDelegate(of task: URLSessionTask) -> RedirectDelegate? {
        let delegates = [task.delegate, delegate as? any URLSessionTaskDelegate].compactMap(\.self)
        if delegates.isEmpty { return nil }
        return { [self] response, request, decision in
            for delegate in delegates {
                // In Objective-C a delegate may lack the method. "Methods not implemented on this delegate will still
                // be forwarded to the session delegate", says NSURLSession.h of a task's.
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
