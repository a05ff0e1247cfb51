// Foundation on Linux lets us instantiate the protocol class that comes next; Apple's does not.
#if canImport(FoundationNetworking) && !APPLE_LOADING
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
final class TaskLoad: GuardedLoad, @unchecked Sendable {
    private struct State {
        var fallback: Fallback?
        /// Whether the network's answer is being told.
        var isNetwork = false
        var incoming: IncomingCopy?
        /// What has passed through this object of the network's body, if that may be kept.
        var body: Data?
        var starts = 0
    }

    private let lock = NSLock()
    private var state: State
    private let isSystemClass: Bool

    /// - Parameters:
    ///   - owner: The protocol whose task is loaded.
    ///   - fallback: What may answer instead of the network.
    ///   - protocolClass: The class that loads.
    ///   - cachedResponse: What the app's cache has for the request.
    ///   - observed: Notes the steps.
    init?(
        for owner: URLProtocol,
        _ fallback: Fallback?,
        with protocolClass: URLProtocol.Type?,
        _ cachedResponse: CachedURLResponse?,
        _ observed: ObservedLoad?
    ) {
        isSystemClass = protocolClass.map(SystemProtocols.contains) ?? true
        state = State(fallback: fallback)
        super.init(for: owner, with: protocolClass, cachedResponse, observed)
    }

    private func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&state) }
    }

    override func start() {
        withState { $0.starts += 1 }
        super.start()
    }

    /// Whether the network's answer is to be told; decided once, and otherwise the file is told.
    private func networkStands(_ loader: URLProtocol, after outcome: Outcome?) -> Bool {
        var (isDecided, fallback) = withState { ($0.isNetwork, $0.fallback) }
        // The look-up may ask the app, so it is done outside the lock.
        guard !isDecided, let answer = answer(of: &fallback, after: outcome) else {
            withState { [fallback] in ($0.fallback, $0.isNetwork) = (fallback, true) }
            return true
        }
        guard end() != nil else { return false }
        if let response = task.response, outcome?.status != nil { observed?.note(.received(response)) }
        observed?.note(answer)
        client?.deliver(answer, as: loader)
        if !isSystemClass {
            // Only called on that queue, as by Foundation.
            nonisolated(unsafe) let loader = loader
            LoadingQueue.shared.async { loader.stopLoading() }
        }
        return false
    }

    private func answer(of fallback: inout Fallback?, after outcome: Outcome?) -> CachedURLResponse? {
        if let last = task.currentRequest, last.url != task.originalRequest?.url,
            let answer = fallback?.answer(redirectedTo: last)
        {
            return answer
        }
        return outcome.flatMap { fallback?.answer(after: $0) }
    }

    /// Collects a part of the body for the archive, or at the end none.
    private func collect(_ part: Data?) {
        withState { state in
            if state.incoming == nil { state.incoming = state.fallback?.incoming(task.response) }
            // Foundation on Linux may deliver the beginning of a body twice after a task was suspended.
            if state.starts > 1 { state.incoming?.refuse(.length) }
            guard let part else { return }
            if state.incoming?.hasRoom(for: part.count) == true {
                state.body = state.body ?? Data()
                state.body?.append(part)
            } else {
                state.body = nil
            }
        }
    }

    // MARK: - Told by the class that loads

    override func urlProtocol(
        _ loader: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        // Of the system's class: the task has a delegate, and its body may not come through here.
        if isSystemClass { withState { $0.isNetwork = true } }
        guard networkStands(loader, after: Outcome(response)) else { return }
        observed?.note(.received(response))
        super.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy)
    }

    override func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
        guard networkStands(loader, after: Outcome(task.response)) else { return }
        collect(data)
        observed?.note(.receivedPart(data))
        super.urlProtocol(loader, didLoad: data)
    }

    override func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
        guard networkStands(loader, after: Outcome(task.response)) else { return }
        collect(nil)
        let (incoming, body) = withState { ($0.incoming, $0.body) }
        // Only the system's class gives bodies to others.
        if body == nil, isSystemClass { incoming?.refuse(.unseen) }
        if let last = task.currentRequest { incoming?.end(body ?? Data(), after: last) }
        super.urlProtocolDidFinishLoading(loader)
    }

    override func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        if let outcome = Outcome(error), !networkStands(loader, after: outcome) { return }
        super.urlProtocol(loader, didFailWithError: error)
    }
}
#endif
