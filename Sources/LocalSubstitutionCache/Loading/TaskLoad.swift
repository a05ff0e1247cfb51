// Without this library, another protocol class would load the request. Foundation on Linux lets this library create an
// instance of that class. Foundation on Apple's systems does not.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// A load in the app's own task, by the protocol class that would load the request without this library.
///
/// So the headers, cookies, credentials, connections and delegate of the app's session are the same as without this
/// library. This object is the client of that class, and learns the outcome before the app does. It can then deliver a
/// file or an archived copy instead of the network's response. Until `finish()` is called, ``GuardedLoad`` passes
/// everything else on to the app's client. After that, it passes on no head, part or end.
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
final class TaskLoad: GuardedLoad, @unchecked Sendable {
    private struct State {
        var fallback: Fallback?
        /// True once it is decided that the app receives the network's response.
        var networkStands = false
        /// True once the observer knows the head of the network's response.
        var isHeadObserved = false
        /// The network's body so far; nil before the first part, and if the archive does not keep the body.
        var body: Data?
        /// The failure of the class that loads, which is reported once the archived copy is read.
        var failure: (any Error)?
        var isCopyRead = false
        /// The number of calls of ``start()``: one at the beginning, and one whenever the app resumes a suspended task.
        var starts = 0
    }

    private let lock = NSLock()
    private var state: State
    /// True if Foundation's own protocol class loads the request; without a class, the initialiser returns nil.
    private let isSystemClass: Bool

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
        // The class that loads has already failed, so it does not begin again.
        if withState({ $0.failure != nil }) { return reportFailure() }
        super.start()
    }

    /// Reports the failure that came before the archived copy was read, unless the app has suspended its task.
    private func reportFailure() {
        let failure = withState { $0.isCopyRead && task.state == .running ? $0.failure : nil }
        if let failure, let openLoader { urlProtocol(openLoader, didFailWithError: failure) }
    }

    /// Returns true if the app receives the network's response; if not, delivers the fallback's response.
    ///
    /// The status is the one that the server sent; nil means that there was no connection.
    ///
    /// After this method has returned true once, it returns true for the rest of the load. If the fallback has a
    /// response, but the load has already finished, the method delivers nothing and returns false.
    private func decideIfNetworkStands(_ loader: URLProtocol, afterStatus status: Int?) -> Bool {
        var (isDecided, fallback) = withState { ($0.networkStands, $0.fallback) }
        // A redirect may change `fallback`, so it is stored in the state again. `answer(of:afterStatus:)` may call the app,
        // so it is called outside the lock.
        guard !isDecided, let answer = answer(of: &fallback, afterStatus: status) else {
            withState { [fallback] in ($0.fallback, $0.networkStands) = (fallback, true) }
            return true
        }
        guard finish() != nil else { return false }
        // If the network has failed, no response is reported.
        if let response = task.response, status != nil { observed?.report(.received(response)) }
        observed?.report(answer)
        client?.deliver(answer, as: loader)
        if !isSystemClass {
            // A class of the app may still be loading, so it is stopped. Foundation calls protocols only on the loading
            // queue, and this method may run on any thread. The system's class gets here only at the end of its load.
            nonisolated(unsafe) let loader = loader
            LoadingQueue.shared.async { loader.stopLoading() }
        }
        return false
    }

    private func answer(of fallback: inout Fallback?, afterStatus status: Int?) -> CachedURLResponse? {
        if let last = task.currentRequest, last.url != task.originalRequest?.url,
            let answer = fallback?.answer(redirectedTo: last)
        {
            return answer
        }
        return fallback?.answer(afterStatus: status)
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

    override func urlProtocol(
        _ loader: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        // The system's class reports the head early only if it may give the body to a delegate directly.
        if isSystemClass { withState { $0.networkStands = true } }
        guard decideIfNetworkStands(loader, afterStatus: response.status) else { return }
        observeHead(response)
        super.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy)
    }

    override func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
        guard decideIfNetworkStands(loader, afterStatus: task.response?.status ?? 0) else { return }
        collect(data)
        if let response = task.response, !withState(\.isHeadObserved) { observeHead(response) }
        observed?.report(.receivedPart(data))
        super.urlProtocol(loader, didLoad: data)
    }

    override func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
        guard decideIfNetworkStands(loader, afterStatus: task.response?.status ?? 0) else { return }
        collect(nil)
        let (archived, body) = withState { ($0.fallback?.archived, $0.body) }
        // If no part was reported, the system's class has given the body directly to a delegate, or the body is empty;
        // the two look the same here. (If the response or its body was refused before, the first reason stays, and
        // `unseen` is ignored.)
        if body == nil, isSystemClass { archived?.refuse(.unseen) }
        if let last = task.currentRequest { archived?.finish(body ?? Data(), after: last) }
        super.urlProtocolDidFinishLoading(loader)
    }

    override func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        withState { $0.failure = error }
        let isReading = withState { $0.networkStands ? nil : $0.fallback }?.readCopy(after: error) { [self] in
            LoadingQueue.shared.async { [self] in
                withState { $0.isCopyRead = true }
                reportFailure()
            }
        }
        if isReading == true { return }
        withState { $0.failure = nil }
        // The app receives every error that does not mean "no connection".
        if error.meansOffline, !decideIfNetworkStands(loader, afterStatus: nil) { return }
        super.urlProtocol(loader, didFailWithError: error)
    }
}
#endif
