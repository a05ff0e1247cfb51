// Only Foundation on Linux lists its own protocol classes in a configuration.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
package import FoundationNetworking

/// The protocol classes of Foundation itself, which a default configuration lists.
enum SystemProtocols {
    private static let classes = (URLSessionConfiguration.default.protocolClasses ?? []).withoutSubstitutions

    static func contains(_ protocolClass: AnyClass) -> Bool { classes.contains { $0 == protocolClass } }

    /// Returns the first class that can load `request`; nil if none can.
    ///
    /// The classes in `listed` are consulted before the system's classes.
    static func first(for request: URLRequest, behind listed: [AnyClass] = []) -> URLProtocol.Type? {
        (listed + classes).lazy.compactMap { $0 as? URLProtocol.Type }.first { $0.canInit(with: request) }
    }
}

/// A protocol that passes each load to the system's class, through a ``TaskLoad``.
///
/// With this class, the process does not crash if a task is cancelled at the moment it ends, as Foundation's does.
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
