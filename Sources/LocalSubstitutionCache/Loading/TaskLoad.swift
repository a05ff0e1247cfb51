// Without this library, another protocol class would load the request. Foundation on Linux lets this library create an
// instance of that class. Foundation on Apple's systems does not.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
package import FoundationNetworking

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
    private enum Stage {
        case open
        /// The load ended with a 401 that Foundation turns into a challenge.
        ///
        /// Foundation asks the app for a credential. Then the task continues or is cancelled.
        case challenged
        case finished
    }

    private struct State {
        var stage = Stage.open
        /// The instance that loads; nil once the load has ended.
        var loader: URLProtocol?
        var fallback: Fallback?
        /// True once it is decided that the app receives the network's response.
        var networkStands = false
        /// True once the observers know the head of the network's response.
        var isHeadObserved = false
        /// The network's body so far; nil before the first part, and if the archive does not keep the body.
        var body: Data?
        /// The number of calls of ``start()``: one at the beginning, and one whenever the app resumes a suspended task.
        var starts = 0
        /// True while `startLoading()` of the class runs.
        var isStarting = false
        /// An instance of a class of the app that is stopped once its `startLoading()` returns.
        var obsolete: URLProtocol?
        /// The seconds of the entry's patience once they have passed, until ``start()`` has decided.
        var silence: Int?
        /// True while this object keeps the task suspended.
        var isHeld = false
        /// True while the instance is stopped because the task is suspended.
        var isStopped = false
    }

    private let task: URLSessionTask
    private let client: (any URLProtocolClient)?
    /// Reports the steps of this load; nil without an observer.
    private let observed: ObservedLoad?
    /// True if Foundation's own protocol class loads the request.
    private let isSystemClass: Bool
    private let lock = NSLock()
    private var state: State

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
        (self.task, client, self.observed) = (task, owner.client, observed)
        isSystemClass = SystemProtocols.contains(protocolClass)
        state = State(fallback: fallback)
        super.init()
        state.loader = protocolClass.init(task: task, cachedResponse: cachedResponse, client: self)
    }

    private func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&state) }
    }

    /// True once this object has begun to report the end of the load, or the load was stopped before its end.
    ///
    /// It stays false after a 401 that Foundation turns into a challenge.
    var hasFinished: Bool { withState { $0.stage == .finished } }

    /// Starts the load, or continues it after the task was suspended.
    func start() {
        let (isStopped, starts) = withState { ($0.isStopped, $0.starts) }
        if isStopped, let answer = answerAfterSilence(), let loader = finish() {
            observed?.report(answer.response, from: answer.substitution)
            client?.deliver(answer.response, as: loader)
            return
        }
        withState { ($0.silence, $0.isStopped, $0.isHeld) = (nil, false, false) }
        // The transfer was not stopped, so it goes on.
        if starts > 0, !isStopped { return }
        let loader = withState { state in
            state.starts += 1
            state.isStarting = state.loader != nil
            return state.loader
        }
        loader?.startLoading()
        let obsolete = withState { state in
            state.isStarting = false
            defer { state.obsolete = nil }
            return state.obsolete
        }
        obsolete?.stopLoading()
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
            let (loader, isHeld) = withState { state in
                defer { state.isHeld = false }
                return (state.loader, state.isHeld)
            }
            if !isHeld || answerAfterSilence() != nil {
                withState { $0.isStopped = true }
                loader?.stopLoading()
            }
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
    func endPatience(after seconds: Int) {
        let isWaiting = withState { state in
            guard state.stage == .open, !state.networkStands else { return false }
            state.silence = seconds
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
        withState(\.networkStands) || task.response != nil || task.countOfBytesExpectedToReceive != 0
    }

    /// Returns the file's response or the archived one if the patience has ended without a head.
    private func answerAfterSilence() -> Fallback.Answer? {
        var (silence, fallback) = withState { ($0.silence, $0.fallback) }
        guard let silence, !hasHead, let answer = answer(of: &fallback, after: .silence(seconds: silence))
        else { return nil }
        withState { [fallback] in $0.fallback = fallback }
        return answer
    }

    /// Ends the load, and returns the instance that loads; nil if the load has already ended.
    ///
    /// If the instance later reports a head, a part of a body or an end, the client does not receive this event.
    private func finish(isChallenge: Bool = false) -> URLProtocol? {
        withState { state in
            // This breaks a reference cycle: the instance retains this object as its client.
            defer { state.loader = nil }
            if state.loader != nil { state.stage = isChallenge ? .challenged : .finished }
            return state.loader
        }
    }

    private var isOpen: Bool { withState { $0.stage == .open } }

    /// Returns true if the app receives the network's response; if not, delivers the fallback's response.
    ///
    /// After this method has returned true once, it returns true for the rest of the load. If the fallback has a
    /// response, but the load has already finished, the method delivers nothing and returns false.
    private func decideIfNetworkStands(_ loader: URLProtocol, after outcome: NetworkOutcome) -> Bool {
        var (isDecided, fallback) = withState { ($0.networkStands, $0.fallback) }
        // A redirect may change `fallback`, so it is stored in the state again. `answer(of:after:)` may call the
        // app, so it is called outside the lock.
        guard !isDecided, let answer = answer(of: &fallback, after: outcome) else {
            withState { [fallback] in ($0.fallback, $0.networkStands) = (fallback, true) }
            return true
        }
        guard finish() != nil else { return false }
        // If the network has failed, no response is reported.
        if let response = task.response, case .status = outcome { observed?.report(.received(response)) }
        observed?.report(answer.response, from: answer.substitution)
        client?.deliver(answer.response, as: loader)
        if !isSystemClass { stopLater(loader) }
        return false
    }

    /// Stops an instance of a class of the app, which may still be loading, but not inside its own call.
    ///
    /// The system's class needs no stop, because it waits for a whole response.
    private func stopLater(_ loader: URLProtocol) {
        let isStarting = withState { state in
            if state.isStarting { state.obsolete = loader }
            return state.isStarting
        }
        nonisolated(unsafe) let loader = loader
        if !isStarting { DispatchQueue.global().async { loader.stopLoading() } }
    }

    private func answer(of fallback: inout Fallback?, after outcome: NetworkOutcome) -> Fallback.Answer? {
        if let last = task.currentRequest, last.url != task.originalRequest?.url,
            let answer = fallback?.answer(redirectedTo: last)
        {
            return answer
        }
        return fallback?.answer(after: outcome)
    }

    /// Collects a part of the body for the archive; at the end of the load, `part` is nil.
    private func collect(_ part: Data?) {
        withState { state in
            let archived = state.fallback?.archived
            archived?.receive(task.response)
            // Foundation on Linux may deliver the beginning of a body twice after a task was suspended. Then the length
            // is wrong.
            if state.starts > 1 { archived?.refuse(.incomplete) }
            guard let part else { return }
            if archived?.hasRoom(for: part.count) == true {
                state.body = state.body ?? Data()
                state.body?.append(part)
            } else {
                // From here on the archive has no room for any part, so no later part begins a new body.
                state.body = nil
            }
        }
    }

    private func observeHead(_ response: URLResponse) {
        withState { state in
            // A class of the app may report a second response. The archive keeps no mixture of two bodies.
            if state.isHeadObserved { state.fallback?.archived?.refuse(.incomplete) }
            state.isHeadObserved = true
        }
        observed?.report(.received(response))
    }

    // MARK: - Called by the class that loads

    func urlProtocol(
        _ loader: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        // The system's class reports the head early only if it may give the body to a delegate directly.
        if isSystemClass { withState { $0.networkStands = true } }
        guard decideIfNetworkStands(loader, after: .status(response.status)) else { return }
        observeHead(response)
        if isOpen { client?.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy) }
    }

    func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
        guard decideIfNetworkStands(loader, after: .status(task.response?.status ?? 0)) else { return }
        collect(data)
        if let response = task.response, !withState(\.isHeadObserved) { observeHead(response) }
        observed?.report(.receivedPart(data))
        if isOpen { client?.urlProtocol(loader, didLoad: data) }
    }

    func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
        guard decideIfNetworkStands(loader, after: .status(task.response?.status ?? 0)) else { return }
        collect(nil)
        let (archived, body) = withState { ($0.fallback?.archived, $0.body) }
        // If no part was reported, the system's class has given the body directly to a delegate, or the body is empty;
        // the two look the same here. (If the response or its body was refused before, the first reason stays, and
        // `unseen` is ignored.)
        if body == nil, isSystemClass { archived?.refuse(.unseen) }
        if let last = task.currentRequest { archived?.finish(body ?? Data(), after: last) }
        let head = task.response as? HTTPURLResponse
        let isChallenge = head?.statusCode == 401 && head?.value(forHTTPHeaderField: "WWW-Authenticate") != nil
        // No step shows the response that follows a challenge. So a recording forgets the body of this response.
        if isChallenge, let head {
            observed?.report(.received(head))
            observed?.report(.challenged)
        }
        if finish(isChallenge: isChallenge) != nil { client?.urlProtocolDidFinishLoading(loader) }
    }

    func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        // The app receives every error that does not mean "no connection".
        if error.meansOffline, !decideIfNetworkStands(loader, after: .offline) { return }
        if finish() != nil { client?.urlProtocol(loader, didFailWithError: error) }
    }

    func urlProtocol(_ loader: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        observed?.report(.used(cachedResponse))
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

    /// Notifies the archive of a load that may begin.
    ///
    /// Foundation calls `canInit(with:)` inside `resume()`, and starts the load later. The app may remove copies in
    /// between. If the app itself calls `canInit(with:)`, no load may follow.
    static func willLoad(_ request: URLRequest, for archive: any ResponseArchive) {
        if SystemProtocols.mayBeResuming { type(of: archive).resume(request) }
    }

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
        isLogged = !handed.mayBeAwaited
        observed = ObservedLoad(request, of: task, handed.observed?.by)
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
    fileprivate func stop(_ load: TaskLoad?, hasFinished: Bool = false) {
        let wasFinished = hasFinished || load?.hasFinished ?? false || task?.state == .completed
        load?.stop()
        if wasFinished { client = nil }
    }
}

/// A protocol that passes each load to the system's class, through a ``TaskLoad``.
///
/// With this class, the process does not crash if a task is cancelled at the moment it ends.
package final class GuardedProtocol: URLProtocol {
    private lazy var load = TaskLoad(for: self, with: SystemProtocols.first(for: request), nil)

    package override class func canInit(with request: URLRequest) -> Bool {
        SystemProtocols.first(for: request) != nil
    }

    package override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    package override func startLoading() { load?.start() }

    package override func stopLoading() { stop(load) }
}
#endif
