import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One load in the ``InnerSession`` of a session that the app has named; nothing of it reaches the app before this
/// object has seen it.
///
///     URL loading's thread                 the inner session
///
///     start() ─────── command ───────────▶ the task is resumed
///                                          head, body, end: each is put into `pending`
///     deliver() ◀───────────────────────── something is pending
///     stop() ──────── command ───────────▶ the task is cancelled
///
/// Mutable state lies in `state`, behind one lock, and is updated before anything is called. The task belongs to
/// the inner session's commands.
///
/// What differs between systems is who asks the app about redirects, and how a body is told: see the files for Linux
/// and for Apple's systems.
// Mutable state is only accessed inside the lock, except for the task.
final class InnerLoad: NetworkLoad, @unchecked Sendable {
    enum Phase {
        /// Not begun.
        case idle
        /// The network has been asked, and the file may still answer.
        case waiting
        /// It is decided who answers.
        case answering
        /// The last of what happens is pending, or told.
        case complete
        /// The client has been told the end.
        case finished
        /// The task was cancelled; nothing more is told.
        case stopped

        /// Whether what the network does still matters.
        var isOpen: Bool { self == .waiting || self == .answering }
    }

    /// The last thing that the client is told.
    enum Last {
        case end((any Error)?)
        case challenge(URLAuthenticationChallenge)
    }

    /// What has happened and was not told.
    struct Pending {
        var head: URLResponse?
        var body = Data()
        var last: Last?

        init(head: URLResponse? = nil, body: Data = Data(), last: Last? = nil) {
            (self.head, self.body, self.last) = (head, body, last)
        }

        /// A whole answer.
        init(_ answer: CachedURLResponse) {
            self.init(head: answer.response, body: answer.data, last: .end(nil))
        }
    }

    struct State {
        var phase = Phase.idle
        /// What may answer instead of the network; nil when nothing does.
        var fallback: Fallback?
        var pending = Pending()
        /// The head and body of the network; no body when it is too long to be kept, and nobody else needs it whole.
        var head: URLResponse?
        var body: Data? = Data()
        var receiver = Receiver()
        /// On Apple's systems the 3xx of a redirect that was told: the app may refuse to follow it.
        var redirect: Pending?
    }

    private(set) weak var owner: URLProtocol?
    let client: (any URLProtocolClient)?
    /// The app's session; nil when it has ended.
    private(set) weak var appSession: URLSession?
    private let session: InnerSession
    let thread = CallingThread()
    private let lock = NSLock()
    private var state: State
    /// Only touched by commands.
    private var task: URLSessionDataTask?
    private var isCancelled = false

    init(for owner: URLProtocol, _ fallback: Fallback?, in session: InnerSession, of appSession: URLSession?) {
        self.owner = owner
        self.session = session
        self.appSession = appSession
        client = owner.client
        state = State(fallback: fallback)
    }

    func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&state) }
    }

    // MARK: - Called by URL loading

    var hasFinished: Bool { withState { $0.phase == .finished } }

    func start() {
        let isFirst = withState { state in
            defer { if state.phase == .idle { state.phase = .waiting } }
            return state.phase == .idle
        }
        guard isFirst, let request = owner?.request else { return deliver() }
        session.command { [self] in
            task = session.startTask(for: self, request)
        }
    }

    func stop() {
        guard !isOnlyPaused else { return }
        withState { state in
            (state.phase, state.pending, state.redirect) = (.stopped, Pending(), nil)
        }
        cancel()
    }

    /// Ends what the network still does.
    private func cancel() {
        session.command { [self] in
            isCancelled = true
            task?.cancel()
        }
    }

    /// Tells the client what is pending.
    func deliver() {
        let pending = withState { state -> Pending in
            defer { state.pending = Pending() }
            switch state.pending.last {
            // After a challenge the task goes on, or is cancelled.
            case .challenge, nil: break
            case .end: state.phase = .finished
            }
            return state.pending
        }
        if let owner { tell(pending, as: owner) }
    }

    func tell(_ pending: Pending, as owner: URLProtocol) {
        if let head = pending.head { client?.urlProtocol(owner, didReceive: head, cacheStoragePolicy: .notAllowed) }
        if !pending.body.isEmpty { tellBody(pending.body, isLast: pending.last != nil, as: owner) }
        switch pending.last {
        case .end(let error?): client?.urlProtocol(owner, didFailWithError: error)
        case .end(nil): tellEnd(as: owner)
        case .challenge(let challenge): tell(challenge, as: owner)
        case nil: break
        }
    }

    // MARK: - Called by the inner session

    /// Adds an event to `pending`, unless the client is to be told nothing more, and has it delivered.
    func add(_ change: (inout Pending) -> Void) {
        let isOpen = withState { state -> Bool in
            guard state.phase.isOpen else { return false }
            change(&state.pending)
            if state.pending.head != nil { state.phase = .answering }
            switch state.pending.last {
            case .end: state.phase = .complete
            case .challenge where Self.endsWithChallenge: state.phase = .complete
            case .challenge, nil: break
            }
            return true
        }
        if isOpen { haveDelivered() }
    }

    /// Answers instead of the network, and ends its load.
    func answer(_ answer: CachedURLResponse) {
        add { $0 = Pending(answer) }
        cancel()
    }

    func didReceive(_ response: URLResponse) {
        let status = (response as? HTTPURLResponse)?.statusCode
        // An interim response, such as 103, is not the answer (RFC 9110 §15.2).
        if let status, (100..<200).contains(status) { return }
        let (fallback, isOpen) = withState { ($0.fallback, $0.phase.isOpen) }
        guard isOpen else { return }
        if let answer = status.flatMap({ fallback?.answer(after: .status($0)) }) {
            self.answer(answer)
        } else {
            withState { $0.head = response }
            add { $0.head = response }
        }
    }

    func didReceive(_ data: Data) {
        withState { state in
            state.redirect?.body.append(data)
            guard state.phase == .answering else { return }
            let room = state.receiver.needsWhole ? Int.max : state.fallback?.collectedLength ?? 0
            if data.count <= room - (state.body?.count ?? 0) { state.body?.append(data) } else { state.body = nil }
        }
        add { $0.body.append(data) }
    }

    /// Records the end; on Linux only the task has the head of a 3xx that leads nowhere.
    func didComplete(_ task: URLSessionTask, _ error: (any Error)?) {
        let (fallback, isUndecided) = withState { state in
            state.redirect?.last = .end(error)
            return (state.fallback, state.phase == .waiting)
        }
        if isUndecided, let outcome = error.flatMap({ Fallback.Outcome($0) }),
            let answer = fallback?.answer(after: outcome)
        {
            self.answer(answer)
            return
        }
        if isUndecided, error == nil, let response = task.response { didReceive(response) }
        let (head, body) = withState { ($0.head, $0.body) }
        // A load that was stopped may have missed parts.
        if error == nil, let head, withState({ $0.phase == .answering }) {
            if let body { fallback?.keep(head, body, after: task.currentRequest) } else { fallback?.count(.length) }
        }
        add { $0.last = .end(error) }
    }

    func didReceive(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let sender = ChallengeSender(completionHandler)
        add { $0.last = .challenge(URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender)) }
        // Not here, where Linux waits for the very queue that it cancels on.
        if Self.endsWithChallenge {
            session.command { completionHandler(.cancelAuthenticationChallenge, nil) }
        }
    }

    func didRedirect(
        _ response: HTTPURLResponse,
        _ request: URLRequest,
        _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // Linux ends the process when a task that was cancelled is told where a redirect leads.
        redirected(response, request) { [self] next in
            session.command { [self] in
                if !isCancelled { completionHandler(next) }
            }
        }
    }

    /// What answers the URL that a redirect leads to; nil when the network must be asked.
    func fileAnswer(redirectedTo request: URLRequest) -> CachedURLResponse? {
        // The look-up may ask the app, by the archive's `including`, so it is done outside the lock.
        var fallback = withState { $0.fallback }
        let answer = fallback?.answer(redirectedTo: request)
        withState { [fallback] state in state.fallback = fallback }
        return answer
    }
}

/// Hands the app's answer to a challenge to the inner session.
private final class ChallengeSender: NSObject, URLAuthenticationChallengeSender, Sendable {
    private let answer: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    init(_ answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) {
        self.answer = answer
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        answer(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer(.useCredential, nil) }

    func cancel(_ challenge: URLAuthenticationChallenge) { answer(.cancelAuthenticationChallenge, nil) }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer(.performDefaultHandling, nil) }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        answer(.rejectProtectionSpace, nil)
    }
}
