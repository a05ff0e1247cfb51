// Only Foundation on Linux crashes if a task is cancelled at the moment it ends.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
package import FoundationNetworking

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
