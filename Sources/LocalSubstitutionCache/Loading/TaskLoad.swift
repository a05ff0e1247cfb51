// Foundation on Linux lets us instantiate the protocol class that comes next; Apple's does not.
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking

/// One load in the app's own task, by the class that would load it without this library; this object sees the outcome
/// before the app does.
///
/// Headers, cookies, credentials, connections and delegate of the app's session are therefore what they would be
/// without this library.
///
/// Of the system's class it cannot see two things. The first is the body of a task that has a delegate: that class
/// tells the head early, and then gives the body to a data delegate directly, past its client. No public API tells
/// whether that is the session's delegate, the task's own or the argument of `data(for:delegate:)`; so once the head
/// was told, the network's answer stands. For a task with a completion handler and no delegate of its own the head
/// comes with the end, before the app has seen anything. The second is a redirect before it is followed: its target is
/// looked up afterwards.
///
/// A class of the app's own tells its client everything, on any thread; so its head decides.
// Mutable state is only accessed inside the lock.
final class TaskLoad: NSObject, NetworkLoad, @unchecked Sendable {
    private enum Stage {
        /// Nothing has been told to the app.
        case waiting
        /// The network's answer is being told.
        case delivering
        /// The answer has been told, or the load was cancelled.
        case finished
    }

    private struct State {
        var stage = Stage.waiting
        var fallback: Fallback?
        var loader: URLProtocol?
        /// What has passed through this object of the network's body.
        var body: Data?
        /// Whether that is the whole of it, unless there is nothing; not when it is too long to be kept.
        var isWhole = true
        var hasStarted = false
        /// Whether Foundation on Linux treats this end as a challenge: it then asks for a password, and the task goes
        /// on.
        var isChallenge = false
    }

    private let task: URLSessionTask
    private let client: (any URLProtocolClient)?
    private let isSystemClass: Bool
    private let lock = NSLock()
    private var state: State

    /// - Parameters:
    ///   - owner: The protocol whose task is loaded.
    ///   - fallback: What may answer instead of the network.
    ///   - protocolClass: The class that loads.
    ///   - cachedResponse: What the session's cache has for the request; not an entry's file, which does not answer
    ///     here.
    init?(
        for owner: URLProtocol,
        _ fallback: Fallback?,
        with protocolClass: URLProtocol.Type?,
        cachedResponse: CachedURLResponse?
    ) {
        guard let task = owner.task, let protocolClass else { return nil }
        self.task = task
        isSystemClass = SessionLink.isSystemClass(protocolClass)
        client = owner.client
        state = State(fallback: fallback)
        super.init()
        state.loader = protocolClass.init(task: task, cachedResponse: cachedResponse, client: self)
    }

    private func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&state) }
    }

    var hasFinished: Bool { withState { $0.stage == .finished && !$0.isChallenge } }

    func start() {
        let loader = withState { state in
            // Foundation on Linux may deliver the beginning of a body twice after a task was suspended.
            if state.hasStarted { state.isWhole = false }
            state.hasStarted = true
            return state.loader
        }
        loader?.startLoading()
    }

    func stop() {
        switch task.state {
        // The task was suspended, and resumed before this call: the system's class would take it for cancelled.
        case .running: break
        case .suspended: withState { $0.loader }?.stopLoading()
        // From here on this object ignores whatever the class still reports.
        default: finish()?.stopLoading()
        }
    }

    /// Marks the load as finished, and breaks the reference cycle; nil if it was finished before.
    private func finish() -> URLProtocol? {
        withState { state in
            guard state.stage != .finished else { return nil }
            defer { state.loader = nil }
            state.stage = .finished
            return state.loader
        }
    }

    /// Whether the network's answer is to be told; decided once, and otherwise the file is told.
    private func networkStands(_ loader: URLProtocol, after outcome: Fallback.Outcome?) -> Bool {
        var (stage, fallback) = withState { ($0.stage, $0.fallback) }
        guard stage == .waiting else { return stage == .delivering }
        // The look-up may ask the app, so it is done outside the lock.
        guard let answer = answer(of: &fallback, after: outcome) else {
            return withState { [fallback] state in
                state.fallback = fallback
                if state.stage == .waiting { state.stage = .delivering }
                return state.stage == .delivering
            }
        }
        guard finish() != nil else { return false }
        client?.deliver(answer, as: loader)
        if !isSystemClass {
            // Only called on that queue, as by Foundation.
            nonisolated(unsafe) let loader = loader
            LoadingQueue.shared.async { loader.stopLoading() }
        }
        return false
    }

    private func answer(of fallback: inout Fallback?, after outcome: Fallback.Outcome?) -> CachedURLResponse? {
        if let last = task.currentRequest, last.url != task.originalRequest?.url,
            let answer = fallback?.answer(redirectedTo: last)
        {
            return answer
        }
        return outcome.flatMap { fallback?.answer(after: $0) }
    }

    private func outcome(of response: URLResponse?) -> Fallback.Outcome? {
        (response as? HTTPURLResponse).map { .status($0.statusCode) }
    }
}

extension TaskLoad: URLProtocolClient {
    func urlProtocol(
        _ loader: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        if isSystemClass {
            // The task has a delegate, and its body may not come through here.
            let isFinished = withState { state in
                if state.stage == .waiting { state.stage = .delivering }
                return state.stage == .finished
            }
            if isFinished { return }
        } else if !networkStands(loader, after: outcome(of: response)) {
            return
        }
        client?.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy)
    }

    func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
        guard networkStands(loader, after: outcome(of: task.response)) else { return }
        withState { state in
            let body = state.body ?? Data()
            state.isWhole = state.isWhole && data.count <= (state.fallback?.collectedLength ?? 0) - body.count
            state.body = state.isWhole ? body + data : nil
        }
        client?.urlProtocol(loader, didLoad: data)
    }

    func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
        guard networkStands(loader, after: outcome(of: task.response)) else { return }
        let (fallback, told, isWhole) = withState { ($0.fallback, $0.body, $0.isWhole) }
        let head = task.response as? HTTPURLResponse
        // Only the system's class gives bodies to others.
        if isWhole, let body = told ?? (isSystemClass ? nil : Data()), let head {
            fallback?.keep(head, body, after: task.currentRequest)
        } else {
            fallback?.count(isWhole ? .unseen : .length)
        }
        let isChallenge = head?.statusCode == 401 && head?.value(forHTTPHeaderField: "WWW-Authenticate") != nil
        withState { $0.isChallenge = isChallenge }
        if finish() != nil { client?.urlProtocolDidFinishLoading(loader) }
    }

    func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        if withState({ $0.stage == .waiting }), let outcome = Fallback.Outcome(error),
            !networkStands(loader, after: outcome)
        {
            return
        }
        if finish() != nil { client?.urlProtocol(loader, didFailWithError: error) }
    }

    func urlProtocol(_ loader: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
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
#endif
