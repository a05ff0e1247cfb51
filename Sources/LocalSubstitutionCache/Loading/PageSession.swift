// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Sessions in which the library loads the requests of web pages, not those of the app's tasks.
///
/// No protocol of this library loads their requests.
package enum PageSession {
    /// Creates a session.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the session; this call changes it.
    ///   - delegate: The delegate, whose methods are called one at a time.
    /// - Returns: The session, which retains its delegate until it is invalidated.
    package static func make(
        _ configuration: URLSessionConfiguration,
        delegate: any URLSessionDataDelegate
    ) -> URLSession {
        // Only Foundation on Linux crashes if a task is cancelled at the moment it ends.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        configuration.protocolClasses = [GuardedProtocol.self] + (configuration.protocolClasses ?? [])
        #endif
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    /// Returns the request in a form that no protocol of this library loads.
    ///
    /// This holds even if URL loading consults registered protocol classes for the session.
    package static func unsubstituted(_ request: URLRequest) -> URLRequest { request.marked }
}

// See above.
#if canImport(FoundationNetworking) && !APPLE_LOADING
/// A protocol that passes each load to the system's class, through a ``TaskLoad``.
private final class GuardedProtocol: URLProtocol {
    private lazy var load = TaskLoad(for: self, with: SystemProtocols.first(for: request), nil)

    override class func canInit(with request: URLRequest) -> Bool { SystemProtocols.first(for: request) != nil }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() { load?.start() }

    override func stopLoading() {
        let wasFinished = load?.hasFinished ?? false || task?.state == .completed
        load?.stop()
        if wasFinished { client = nil }
    }
}
#endif
