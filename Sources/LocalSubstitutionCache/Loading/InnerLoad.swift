import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One load in the ``InnerSession``, where nothing reaches the app before this has seen it.
///
/// What the network does is noted on that session's queue, and told to the client where URL loading calls protocols. On
/// Linux it is told at the end, because there a task with a completion handler keeps only the last piece of a body.
///
/// The app's delegate is never called from here: nothing public tells on which queue it expects that. A redirect, about
/// which it may want to decide, therefore ends this load before anything of it was told, and on Linux the app's own task
/// begins anew (`onRedirect`).
// What changes is only touched inside the lock, but for what has a queue of its own.
final class InnerLoad: NetworkLoad, @unchecked Sendable {
    /// What has been noted and not yet told, in the order in which it happens.
    private struct Note {
        var head: URLResponse?
        var body = Data()
        var last: Last?
    }

    private enum Last {
        case challenge(URLAuthenticationChallenge)
        case end((any Error)?)
        /// URL loading goes on with another load, in which the app's delegate is asked.
        case redirect(URLRequest, HTTPURLResponse)

        var endsLoad: Bool {
            // Linux answers a challenge with a load of its own.
            #if canImport(FoundationNetworking)
            return true
            #else
            if case .challenge = self { return false }
            return true
            #endif
        }
    }

    private weak var owner: URLProtocol?
    private let client: (any URLProtocolClient)?
    private let session: InnerSession
    /// Goes on after a redirect, where the client cannot be told of one.
    private let onRedirect: (Fallback) -> Void
    // Apple's systems call a protocol on the thread that started it, which has a run loop.
    #if !canImport(FoundationNetworking)
    private let runLoop = RunLoop.current
    private let mode = RunLoop.current.currentMode ?? .default
    /// A redirect that was told, in case the app's delegate refuses it; only touched inside the lock.
    ///
    /// Where it is followed, URL loading begins another load and stops this one. Where it is refused, nothing follows: the
    /// app would wait until its time-out. So what is not stopped within a grace gets the 3xx as its answer.
    private var refused: (head: HTTPURLResponse, body: Data, isWhole: Bool)?
    /// In seconds.
    private static let grace = 0.5
    #endif
    /// What is to be kept; only touched on the queue of the inner session's delegate.
    private var response: URLResponse?
    private var body: Data? = Data()
    /// Only touched where URL loading calls protocols.
    private var hasStarted = false
    /// Only touched on the queue of commands.
    private var task: URLSessionDataTask?

    private let lock = NSLock()
    private var fallback: Fallback
    private var note = Note()
    /// Whether a head has been noted, after which nothing can take the network's place.
    private var hasHead = false
    /// Whether nothing more is to be noted.
    private var isComplete = false
    /// Whether all has been told.
    private var isFinished = false

    /// Linux ends the process when a task that was cancelled is told where a redirect leads; so one excludes the other.
    private let redirecting = NSLock()
    private var isCancelled = false

    init(
        for owner: URLProtocol,
        _ fallback: Fallback,
        in session: InnerSession = .shared,
        onRedirect: @escaping (Fallback) -> Void = { _ in }
    ) {
        self.owner = owner
        self.fallback = fallback
        self.session = session
        self.onRedirect = onRedirect
        client = owner.client
    }

    // MARK: - Where URL loading calls protocols

    var hasFinished: Bool { lock.withLock { isFinished } }

    func start() {
        guard !hasStarted, let request = owner?.request else { return tell() }
        hasStarted = true
        session.command { [self] in
            task = session.startTask(for: self, request)
        }
    }

    /// What comes while the app's task is suspended is told when it is resumed.
    func stop() {
        // Foundation on Linux stops the protocol of a task that is suspended, which may have been resumed meanwhile.
        #if canImport(FoundationNetworking)
        if let state = owner?.task?.state, state == .suspended || state == .running { return }
        #endif
        lock.withLock {
            (isComplete, note) = (true, Note())
            // Only Apple's systems are told of redirects.
            #if !canImport(FoundationNetworking)
            refused = nil
            #endif
        }
        cancel()
    }

    /// Ends what the network still does.
    private func cancel() {
        session.command { [self] in
            redirecting.withLock {
                isCancelled = true
                task?.cancel()
            }
        }
    }

    /// Tells the client what has been noted.
    private func tell() {
        let note = lock.withLock {
            // On Linux it is told in one piece; this is also called when the app resumes its task in the middle.
            #if canImport(FoundationNetworking)
            if self.note.last == nil { return Note() }
            #endif
            let note = self.note
            self.note = Note()
            // After a challenge the task goes on, or is cancelled.
            if case .challenge = note.last { return note }
            if note.last?.endsLoad ?? false { isFinished = true }
            return note
        }
        guard let owner else { return }
        if let head = note.head { client?.urlProtocol(owner, didReceive: head, cacheStoragePolicy: .notAllowed) }
        if !note.body.isEmpty { client?.urlProtocol(owner, didLoad: note.body) }
        switch note.last {
        case .challenge(let challenge): client?.urlProtocol(owner, didReceive: challenge)
        case .redirect(let request, let response):
            // Foundation on Linux ends the process when a client is told of a redirect.
            #if canImport(FoundationNetworking)
            _ = (request, response)
            onRedirect(currentFallback)
            #else
            client?.urlProtocol(owner, wasRedirectedTo: request, redirectResponse: response)
            waitForRefusal()
            #endif
        case .end(let error?): client?.urlProtocol(owner, didFailWithError: error)
        case .end(nil): client?.urlProtocolDidFinishLoading(owner)
        case nil: break
        }
    }

    // Only Apple's systems are told of redirects.
    #if !canImport(FoundationNetworking)
    /// Tells the 3xx when the grace is over and nobody has stopped this load: both happen on this thread, so never at once.
    private func waitForRefusal() {
        let timer = Timer(timeInterval: Self.grace, repeats: false) { [weak self] _ in self?.tellRefused() }
        for mode in [.common, mode] { runLoop.add(timer, forMode: mode) }
    }

    private func tellRefused() {
        let refused = lock.withLock { self.refused }
        guard let refused, let owner else { return }
        guard refused.isWhole else { return waitForRefusal() }
        lock.withLock { self.refused = nil }
        client?.urlProtocol(owner, didReceive: refused.head, cacheStoragePolicy: .notAllowed)
        if !refused.body.isEmpty { client?.urlProtocol(owner, didLoad: refused.body) }
        client?.urlProtocolDidFinishLoading(owner)
    }
    #endif

    // MARK: - On the queue of the inner session

    /// Notes something, if anything is still to be noted, and has it told.
    private func note(_ change: (inout Note) -> Void) {
        let isLast: Bool? = lock.withLock {
            guard !isComplete else { return nil }
            change(&note)
            if note.head != nil { hasHead = true }
            isComplete = note.last?.endsLoad ?? false
            return isComplete
        }
        if let isLast { call(isLast: isLast) }
    }

    /// Has ``tell()`` called where URL loading calls protocols.
    private func call(isLast: Bool) {
        // Each system calls protocols in its own way.
        #if canImport(FoundationNetworking)
        guard isLast, owner?.task != nil else { return }
        LoadingQueue.shared.async { [self] in
            // One that is suspended is told when it is resumed, and one that was cancelled not at all.
            if owner?.task?.state == .running { tell() }
        }
        #else
        runLoop.perform(inModes: [.common, mode]) { [weak self] in self?.tell() }
        CFRunLoopWakeUp(runLoop.getCFRunLoop())
        #endif
    }

    private var currentFallback: Fallback { lock.withLock { fallback } }

    // On Linux the app's own task follows redirects.
    #if !canImport(FoundationNetworking)
    /// What answers the URL that a redirect leads to.
    private func lookUp(redirectedTo request: URLRequest) -> CachedURLResponse? {
        var fallback = currentFallback
        let answer = fallback.answer(redirectedTo: request)
        lock.withLock { self.fallback = fallback }
        return answer
    }
    #endif

    /// Notes an answer instead of the network's, and ends the network's load.
    private func note(_ answer: CachedURLResponse) {
        note { note in
            note.head = answer.response
            note.body = answer.data
            note.last = .end(nil)
        }
        cancel()
    }

    func didReceive(_ response: URLResponse) {
        let status = (response as? HTTPURLResponse)?.statusCode
        // An interim response, such as 103, is not the answer (RFC 9110 §15.2).
        if let status, (100..<200).contains(status) { return }
        if let answer = status.flatMap({ currentFallback.answer(after: .status($0)) }) {
            note(answer)
        } else {
            self.response = response
            note { $0.head = response }
        }
    }

    func didReceive(_ data: Data) {
        // Only Apple's systems are told of redirects.
        #if !canImport(FoundationNetworking)
        lock.withLock { refused?.body.append(data) }
        #endif
        if let count = body?.count, data.count <= currentFallback.collectedLength - count {
            body?.append(data)
        } else {
            body = nil
        }
        note { $0.body.append(data) }
    }

    /// Linux tells nothing of the head of a 3xx that leads nowhere before this.
    func didComplete(_ task: URLSessionTask, _ error: (any Error)?) {
        // Only Apple's systems are told of redirects.
        #if !canImport(FoundationNetworking)
        lock.withLock { refused?.isWhole = true }
        #endif
        let isReplaceable = lock.withLock { !hasHead }
        if isReplaceable, let answer = error.flatMap({ Outcome($0) }).flatMap({ currentFallback.answer(after: $0) }) {
            note(answer)
        } else {
            if isReplaceable, error == nil, let response = task.response { didReceive(response) }
            if error == nil, let response, let body {
                currentFallback.keep(response, body, after: task.currentRequest)
            }
            note { $0.last = .end(error) }
        }
    }

    func didReceive(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let sender = ChallengeSender(completionHandler)
        note { $0.last = .challenge(URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender)) }
        // Foundation on Linux answers a challenge with a load of its own.
        #if canImport(FoundationNetworking)
        completionHandler(.cancelAuthenticationChallenge, nil)
        #endif
    }

    /// Notes what comes next before the task is told to go no further: it may end on another thread at once.
    func didRedirect(
        _ response: HTTPURLResponse,
        _ request: URLRequest,
        _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The app's task, which begins anew on Linux, looks up where it was led itself.
        #if canImport(FoundationNetworking)
        note { $0.last = .redirect(request, response) }
        #else
        if let answer = lookUp(redirectedTo: request) {
            note(answer)
        } else {
            lock.withLock { refused = (response, Data(), false) }
            note { $0.last = .redirect(request, response) }
        }
        #endif
        redirecting.withLock {
            if !isCancelled { completionHandler(nil) }
        }
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
