// How Foundation on Linux loads. InnerLoad+Apple.swift is for Apple's systems.
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking

/// Where URL loading calls protocols.
struct CallingThread {
    /// Runs `body` there, later.
    func async(_ body: @escaping @Sendable () -> Void) { LoadingQueue.shared.async(body) }
}

/// The client is told everything at the end, because a task with a completion handler keeps only the last piece of a
/// body. An answer to a challenge starts the task anew, in a protocol object of the system's. A client that is told of
/// a redirect ends the process; so the app's own task begins anew, and decides about redirects itself.
extension InnerLoad {
    static let deliversParts = false
    static let endsWithChallenge = true

    /// Whether the load is stopped because the app suspended its task, which it may have resumed meanwhile.
    ///
    /// What comes while it is suspended is told when it is resumed.
    var isOnlyPaused: Bool { owner?.task?.state == .suspended || owner?.task?.state == .running }

    func haveDelivered(_ phase: Phase) {
        guard phase == .complete, owner?.task != nil else { return }
        thread.async { [self] in
            // A suspended task gets its answer when it is resumed, and a cancelled task gets none.
            if owner?.task?.state == .running { deliver() }
        }
    }

    func answer(redirectedTo request: URLRequest, _ response: HTTPURLResponse) -> CachedURLResponse? { nil }

    func tellRedirect(to request: URLRequest, _ response: HTTPURLResponse, as owner: URLProtocol) {
        onRedirect(withState { $0.fallback })
    }
}
#endif
