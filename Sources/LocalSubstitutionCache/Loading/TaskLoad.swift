// Foundation on Linux lets this library create an instance of the next protocol class; Apple's does not.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// A load in the app's own task, by the protocol class that would load it without this library.
///
/// So the headers, cookies, credentials, connections and delegate of the app's session are the same as without this
/// library. This object is the client of that class, and sees the outcome before the app does. It can then deliver a
/// file or an archived copy instead of the network's response.
///
/// If that class is the system's, its client is not notified of two things:
/// - The body of a task that has a delegate. The class reports the response head early, and then gives the body to a
///   data delegate directly. No public API says whether that is the session's delegate, the task's own or the argument
///   of `data(for:delegate:)`. So once the head has been reported, the network's response is delivered, and no file or
///   copy replaces it. If a task has a completion handler and no task-specific delegate, this object learns the head
///   only at the end of the load, before the app has received anything.
/// - A redirect, before URL loading follows it. This object looks up the target afterwards.
///
/// A protocol class of the app reports everything to its client, on any thread. So for such a class the decision is
/// made when the head is received.
// Mutable state is only accessed inside the lock.
final class TaskLoad: GuardedLoad, @unchecked Sendable {
    private struct State {
        var fallback: Fallback?
        /// True once it is decided that the app receives the network's response.
        var networkStands = false
        var incoming: IncomingCopy?
        /// The network's body so far; nil if the archive does not keep it.
        var body: Data?
        var starts = 0
    }

    private let lock = NSLock()
    private var state: State
    private let isSystemClass: Bool

    /// - Parameters:
    ///   - owner: The protocol whose task is loaded.
    ///   - fallback: The file or archived copy that may answer instead of the network.
    ///   - protocolClass: The class that loads.
    ///   - cachedResponse: The response that the app's cache has for the request.
    ///   - observed: Records the steps of the load.
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

    /// Returns true if the app receives the network's response; if not, delivers the fallback's response.
    ///
    /// The decision is made once.
    private func decideIfNetworkStands(_ loader: URLProtocol, after outcome: Outcome?) -> Bool {
        var (isDecided, fallback) = withState { ($0.networkStands, $0.fallback) }
        // The lookup may call the app, so it happens outside the lock.
        guard !isDecided, let answer = answer(of: &fallback, after: outcome) else {
            withState { [fallback] in ($0.fallback, $0.networkStands) = (fallback, true) }
            return true
        }
        guard finish() != nil else { return false }
        if let response = task.response, outcome?.status != nil { observed?.report(.received(response)) }
        observed?.report(answer)
        client?.deliver(answer, as: loader)
        if !isSystemClass {
            // Foundation calls protocols only on this queue, so the call is made there, too.
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

    /// Collects a part of the body for the archive; `part` is nil at the end of the load.
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

    // MARK: - Called by the class that loads

    override func urlProtocol(
        _ loader: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        // The system's class calls this if the task has a delegate, and may then give that delegate the body directly.
        if isSystemClass { withState { $0.networkStands = true } }
        guard decideIfNetworkStands(loader, after: Outcome(response)) else { return }
        observed?.report(.received(response))
        super.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy)
    }

    override func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
        guard decideIfNetworkStands(loader, after: Outcome(task.response)) else { return }
        collect(data)
        observed?.report(.receivedPart(data))
        super.urlProtocol(loader, didLoad: data)
    }

    override func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
        guard decideIfNetworkStands(loader, after: Outcome(task.response)) else { return }
        collect(nil)
        let (incoming, body) = withState { ($0.incoming, $0.body) }
        // Only the system's class can give a body directly to a delegate, past its client.
        if body == nil, isSystemClass { incoming?.refuse(.unseen) }
        if let last = task.currentRequest { incoming?.finish(body ?? Data(), after: last) }
        super.urlProtocolDidFinishLoading(loader)
    }

    override func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        if let outcome = Outcome(error), !decideIfNetworkStands(loader, after: outcome) { return }
        super.urlProtocol(loader, didFailWithError: error)
    }
}
#endif
