// What follows is how Foundation on Linux loads; InnerLoad+Apple.swift has the other systems.
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking

/// Where URL loading calls protocols.
struct CallingThread {
    /// Runs `body` there, later.
    func async(_ body: @escaping @Sendable () -> Void) { LoadingQueue.shared.async(body) }
}

/// A load is told in one piece at its end, because a task with a completion handler keeps only the last piece of a
/// body. A challenge is answered with a load of its own. A client that is told of a redirect ends the process; so the
/// app's own task begins anew, and decides about redirects itself.
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
            // One that is suspended is told when it is resumed, and one that was cancelled not at all.
            if owner?.task?.state == .running { deliver() }
        }
    }

    func answer(redirectedTo request: URLRequest, _ response: HTTPURLResponse) -> CachedURLResponse? { nil }

    func tellRedirect(to request: URLRequest, _ response: HTTPURLResponse, as owner: URLProtocol) {
        onRedirect(withState { $0.fallback })
    }
}
#endif
