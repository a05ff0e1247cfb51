import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The first requests of those loads that were redirected, or that a network-first entry may still answer.
// Mutable state is only accessed inside the lock.
final class FirstRequests: @unchecked Sendable {
    struct First: Sendable {
        /// The URL as the browser spells it.
        let url: String
        let request: URLRequest

        init?(_ held: HeldRequest) {
            guard let request = URLRequest(held) else { return nil }
            (url, self.request) = (held.request.url, request)
        }
    }

    private let lock = NSLock()
    private var requests: [String: First] = [:]

    /// Keeps the first request of the load to which a held request belongs.
    func keep(_ first: First?, of held: HeldRequest) {
        lock.withLock { requests[held.identifier] = first }
    }

    /// Returns the first request of a load, and forgets it; nil if none was kept.
    func take(of held: HeldRequest) -> First? {
        lock.withLock {
            for key in [held.identifier, held.redirectedRequestId].compactMap(\.self) {
                if let first = requests.removeValue(forKey: key) { return first }
            }
            return nil
        }
    }
}
