// Without this library, another protocol class would load the request. Foundation on Linux lets this library create an
// instance of that class. Foundation on Apple's systems does not.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

typealias NetworkLoad = TaskLoad

/// A load in the app's own task, by the protocol class that would load the request without this library.
///
/// So the headers, cookies, credentials, connections and delegate of the app's session are the same as without this
/// library. This object is the client of that class, and learns the outcome before the app does. It can then deliver a
/// file or an archived copy instead of the network's response. Until the load ends, this object passes everything else
/// on to the app's client. After that, it passes on no head, part or end.
///
/// If a task is cancelled at the moment it ends, Foundation on Linux also reports a failure to Foundation's client.
/// That client no longer finds the task, and the process crashes. This object does not pass on such a failure.
///
/// Foundation's own protocol class, the system's class, does not notify its client of everything:
/// - If a delegate receives the task's body, the class reports the head early. It then gives the body directly to the
///   delegate, and not to its client. For a task without a completion handler, this is the session's delegate. For
///   `data(for:delegate:)`, it is the delegate that the app passes to that method. Later, nothing shows how much of the
///   body the delegate has received. So once the class has reported a head, the app receives the network's response.
/// - If only a completion handler receives the body, the class reports no head, even if the session has a delegate. It
///   reports the whole body at the end of the load. This object then reads the head from the task, and the app has
///   received nothing yet.
/// - The class does not report a redirect before URL loading follows it. This object looks up the target afterwards.
///
/// A protocol class of the app reports everything to its client. So for such a class, this object chooses between the
/// network's response and the file or copy when the head is received. Such a class may call its client on any thread.
// Mutable state is only accessed inside the lock.
final class TaskLoad: NSObject, URLProtocolClient, @unchecked Sendable {
    private struct State {
        var first: NetworkFirst
        /// The instance that loads; nil once the load has ended.
        var loader: URLProtocol?
        /// True after a 401 that Foundation turns into a challenge.
        ///
        /// Foundation asks the app for a credential. Then the task continues or is cancelled.
        var isChallenged = false
        /// True while the transfer goes on: it was started, and not stopped since then because the task is suspended.
        var isRunning = false
        /// The patience that has passed.
        var silence: NetworkFirst.Patience?
        /// The file that answers after the silence, once the transfer is stopped.
        var answer: Fallback.Answer?
        /// True while this object keeps the task suspended.
        var isHeld = false
    }

    private let task: URLSessionTask
    private let client: (any URLProtocolClient)?
    /// True if Foundation's own protocol class loads the request.
    private let isSystemClass: Bool
    private let lock = NSLock()
    private var state: State
    /// Held while the class starts, because it is not stopped inside its own `startLoading()`.
    private let turn = NSLock()

    /// Creates a load; the result is nil if the owner has no task or if there is no class.
    ///
    /// - Parameters:
    ///   - owner: The protocol whose task is loaded.
    ///   - fallback: The file or archived copy that may answer instead of the network.
    ///   - protocolClass: The class that loads.
    ///   - cachedResponse: The response that the app's cache has for the request.
    ///   - observed: Records the steps of the load.
    init?(
        for owner: URLProtocol,
        _ fallback: Fallback? = nil,
        with protocolClass: URLProtocol.Type?,
        _ cachedResponse: CachedURLResponse?,
        _ observed: ObservedLoad? = nil
    ) {
        guard let task = owner.task, let protocolClass else { return nil }
        (self.task, client) = (task, owner.client)
        isSystemClass = SystemProtocols.contains(protocolClass)
        state = State(first: NetworkFirst(fallback, observed))
        super.init()
        state.loader = protocolClass.init(task: task, cachedResponse: cachedResponse, client: self)
        first.patience?.wait { [weak self] in self?.endPatience($0) }
    }

    private func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&state) }
    }

    /// The decisions so far.
    var first: NetworkFirst { withState(\.first) }

    /// True once this object has begun to report the end of the load, or the load was stopped before its end.
    ///
    /// It stays false after a 401 that Foundation turns into a challenge.
    var hasFinished: Bool { withState { $0.loader == nil && !$0.isChallenged } }

    /// Starts the load, or continues it after the task was suspended.
    func start() {
        if !withState(\.isRunning), let answer = answerAfterSilence(), let loader = finish() {
            client?.deliver(answer.response, as: loader)
            // The instance is stopped in mid-transfer. It keeps its client, and its timer keeps the instance.
            (loader.client, loader.task) = (nil, nil)
            return
        }
        let loader = withState { state in
            defer { (state.isRunning, state.isHeld) = (true, false) }
            // The system's class ignores the start of a transfer that goes on. But it begins no transfer after a
            // redirect that it follows while the task is suspended.
            return state.isRunning && !isSystemClass ? nil : state.loader
        }
        if let loader { turn.withLock(loader.startLoading) }
    }

    /// Stops the load without notifying the client.
    ///
    /// The protocol also calls this method when the app suspends the load's task. The load then only pauses, or
    /// continues if the app has already resumed the task. This method ends the load only if the task was cancelled or
    /// has completed.
    func stop() {
        switch task.state {
        // The task was suspended, then resumed before this call. If the system's class were stopped now, it would treat
        // the task as cancelled.
        case .running where isSystemClass: break
        case .running, .suspended:
            let isAnswered = answerAfterSilence() != nil
            let (loader, isHeld) = withState { state in
                defer { state.isHeld = false }
                // A head has come since this object suspended the task, so the transfer goes on.
                if state.isHeld, !isAnswered { return (URLProtocol?.none, true) }
                state.isRunning = false
                // Foundation on Linux may deliver the beginning of a body twice after a task was suspended. Then the
                // length is wrong.
                state.first.refuse(.incomplete)
                return (state.loader, state.isHeld)
            }
            loader?.stopLoading()
            // URL loading runs this method on the queue for which `resume()` waits.
            if isHeld { DispatchQueue.global().async { [task] in task.resume() } }
        // The task was suspended, then cancelled before this call. The system's class needs the task's error, which
        // Foundation sets next.
        case .canceling where task.error == nil: break
        default: finish()?.stopLoading()
        }
    }

    /// Lets the file answer if no head has come; called when the patience of its entry ends.
    ///
    /// URL loading ends a transfer only on its own queue, and only while the task is suspended. So this method
    /// suspends the task, ``stop()`` stops the transfer on that queue and resumes the task, and ``start()`` delivers
    /// the file. If the app itself has suspended the task, ``start()`` does so once the app resumes it.
    func endPatience(_ patience: NetworkFirst.Patience) {
        let isWaiting = withState { state in
            guard state.loader != nil, !state.first.hasHead else { return false }
            state.silence = patience
            state.isHeld = task.state == .running
            return state.isHeld
        }
        if isWaiting { task.suspend() }
    }

    /// True once the network has sent a head.
    ///
    /// If only a completion handler receives the body, the system's class shows no head. But then the task has the
    /// expected length of the body: -1 if the head names none. (It may be that of a redirect; then the network's
    /// response stands.)
    var hasHead: Bool {
        first.hasHead || task.response != nil || task.countOfBytesExpectedToReceive != 0
    }

    /// Returns the file's response that answers because the patience has ended without a head; nil if none does.
    private func answerAfterSilence() -> Fallback.Answer? {
        let isSilent = !hasHead
        return withState { state in
            if isSilent, let silence = state.silence, case .replace(let answer) = state.first.silence(silence) {
                state.answer = answer
            }
            return state.answer
        }
    }

    /// Ends the load, and returns the instance that loads; nil if the load has already ended.
    ///
    /// If the instance later reports a head, a part of a body or an end, the client does not receive this event.
    private func finish() -> URLProtocol? {
        withState { state in
            // This breaks a reference cycle: the instance retains this object as its client.
            defer { state.loader = nil }
            state.first.stop()
            return state.loader
        }
    }

    /// Decides about an event, after a redirect that URL loading has followed without a word.
    ///
    /// - Parameters:
    ///   - loader: The instance that loads.
    ///   - isDelivered: True if a delegate may have received bytes of the network, so nothing replaces them.
    ///   - event: Reports the event.
    /// - Returns: True if the app receives the event; if not, the response that replaces the network's is delivered.
    private func passesOn(
        _ loader: URLProtocol,
        isDelivered: Bool = false,
        _ event: (inout NetworkFirst) -> NetworkFirst.Decision
    ) -> Bool {
        let decision = withState { state -> NetworkFirst.Decision in
            if !isDelivered, let last = task.currentRequest, last.url != task.originalRequest?.url,
                case .replace(let answer) = state.first.redirect(nil, to: last)
            {
                return .replace(with: answer)
            }
            return event(&state.first)
        }
        if case .passOn = decision { return true }
        guard case .replace(let answer) = decision, finish() != nil else { return false }
        client?.deliver(answer.response, as: loader)
        // A class of the app may still be loading. The system's class needs no stop, because it waits for a whole
        // response.
        if !isSystemClass {
            nonisolated(unsafe) let loader = loader
            DispatchQueue.global().async { [turn] in turn.withLock { loader.stopLoading() } }
        }
        return false
    }

    /// Reads the head from the task if the class has not reported it; returns false if a file or copy replaced it.
    private func readHead(_ loader: URLProtocol) -> Bool {
        guard !first.hasHead, let response = task.response else { return true }
        return passesOn(loader) { $0.head(response) }
    }

    // MARK: - Called by the class that loads

    func urlProtocol(
        _ loader: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        // The system's class reports the head early only if it may give the body to a delegate directly.
        guard passesOn(loader, isDelivered: isSystemClass, { $0.head(response, isDelivered: isSystemClass) }) else {
            return
        }
        client?.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy)
    }

    func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
        if readHead(loader), withState({ $0.first.part(data) }) { client?.urlProtocol(loader, didLoad: data) }
    }

    func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
        guard readHead(loader) else { return }
        let head = task.response as? HTTPURLResponse
        let isChallenge = head?.statusCode == 401 && head?.value(forHTTPHeaderField: "WWW-Authenticate") != nil
        let hasEnded = withState { state in
            // If no part was reported, the system's class has given the body directly to a delegate, or the body is
            // empty; the two look the same here.
            if isSystemClass, !state.first.hasPart { state.first.refuse(.unseen) }
            // No step shows the response that follows a challenge. So a recording forgets the body of this response.
            if isChallenge, let head { _ = state.first.head(head, isPersonal: true, isDelivered: true) }
            guard state.first.end() else { return false }
            state.isChallenged = isChallenge
            return true
        }
        if hasEnded, finish() != nil { client?.urlProtocolDidFinishLoading(loader) }
    }

    func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        // The app receives every error that does not mean "no connection".
        guard !error.meansOffline || passesOn(loader, { $0.failure(error) }), finish() != nil else { return }
        client?.urlProtocol(loader, didFailWithError: error)
    }

    func urlProtocol(_ loader: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        first.observed?.report(.used(cachedResponse))
        client?.urlProtocol(loader, cachedResponseIsValid: cachedResponse)
    }

    func urlProtocol(_ loader: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        client?.urlProtocol(loader, wasRedirectedTo: request, redirectResponse: redirectResponse)
    }

    func urlProtocol(_ loader: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        client?.urlProtocol(loader, didReceive: challenge)
    }

    func urlProtocol(_ loader: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        client?.urlProtocol(loader, didCancel: challenge)
    }
}

extension SubstitutionURLProtocol {
    /// True if this class can load from the network.
    static var canLoad: Bool { true }

    /// Returns whether this class loads a request only so that the observers see it.
    ///
    /// There is no other way to observe such a request: `canInit(with:)` receives no task, and the session may use a
    /// cache that is not from this library.
    static func loads(_ request: URLRequest, for observers: RequestObservers?) -> Bool {
        observers != nil && SystemProtocols.first(for: request) != nil
    }

    /// Returns the file's response that a cache of this library has found for this load; nil if there is none.
    func handedOverResponse() -> (CachedURLResponse, Row?)? {
        guard let handed = cachedResponse as? FrontCache.HandedOverResponse, handed.task === task else { return nil }
        observed = ObservedLoad(request, of: task, nil, handed.observed?.by)
        return (handed.answer, handed.observed?.row)
    }

    /// True if this class may deliver a response; if it finishes a download, Foundation crashes.
    var canDeliver: Bool { !(task is URLSessionDownloadTask) }

    func makeLoad(_ decision: Decision, _ fallback: Fallback?) -> NetworkLoad? {
        // Without a fallback, the cached response may be an entry's file, which must not answer here. But if the
        // request is loaded only for the observers, no entry's file answers the request. So then the cached response is
        // used.
        let isOnlyObserved = observed != nil && fallback == nil && decision.file == nil
        if !canDeliver { fallback?.archived?.countUnseen() }
        let own = canDeliver ? fallback : nil
        return TaskLoad(
            for: self,
            own,
            with: SystemProtocols.first(for: request, behind: Self.link?.others ?? []),
            own != nil || isOnlyObserved ? cachedResponse : nil,
            observed
        )
    }

    /// True while the task waits for a response.
    ///
    /// Foundation may start a load after its task was suspended or cancelled. It may even do so after another instance
    /// has finished the task. If such a load delivers a response, Foundation crashes. The load of a suspended task
    /// starts again when the task is resumed.
    var isWanted: Bool {
        guard let task else { return true }
        return task.state == .running && (task.response == nil || load != nil)
    }

    /// Stops the load, and releases the client if the load has ended.
    ///
    /// If a task is cancelled at the moment it finishes, Foundation reports a failure to the client. The client no
    /// longer finds the task, and crashes the process. (On a busy machine, Foundation's own class crashes in the same
    /// way when it delivers a response from any cache.)
    func stopLoad() { stop(load, hasFinished: hasFinished) }
}

extension URLProtocol {
    /// Stops a load, and releases the client if the load has ended.
    func stop(_ load: TaskLoad?, hasFinished: Bool = false) {
        let wasFinished = hasFinished || load?.hasFinished ?? false || task?.state == .completed
        load?.stop()
        if wasFinished { client = nil }
    }
}
#endif
