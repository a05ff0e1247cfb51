// The library's own sessions on Linux. BackingSession+Apple.swift is for Apple's systems.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// An operation queue that runs each block immediately, on the caller's thread.
///
/// Foundation adds each call of a delegate to the session's delegate queue. It does so on the queue on which it calls
/// protocols. So the delegate of a backing session is called on the protocols' queue, while Foundation handles the
/// network's event.
private final class DelegateQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}

extension BackingSession {
    /// Prepares the configuration of a backing session, before the session is created.
    static func prepare(_ configuration: URLSessionConfiguration) {
        insertGuard(into: configuration)
        // `GuardedProtocol` uses the cached response that the protocol in the app's session already has. So no cache is
        // consulted again.
        configuration.urlCache = nil
        // The app's task received its cookies when it was created, so the backing task adds none. Cookies in responses
        // are still stored.
        configuration.httpShouldSetCookies = false
    }

    /// Adds ``GuardedProtocol``, so that cancelling a task at the moment it ends does not crash the process.
    static func insertGuard(into configuration: URLSessionConfiguration) {
        configuration.protocolClasses = [GuardedProtocol.self] + (configuration.protocolClasses ?? [])
    }

    /// Returns a queue for the delegate of one of the library's own sessions.
    ///
    /// Called before the session's first task is created.
    static func delegateQueue() -> OperationQueue {
        // Backing loads use the idle task on the loading queue. Creating a task there would deadlock, so the idle task
        // is created now.
        _ = LoadingQueue.idleTask
        return DelegateQueue()
    }

    // A backing session's request needs no mark to keep `SubstitutionProtocol` from loading it. Foundation consults
    // registered classes only after the classes of the configuration. The first of these is `GuardedProtocol`, which
    // passes the load to Foundation's own class. A mark would also be lost whenever the request is copied.
    static func marked(_ request: URLRequest) -> URLRequest { request }
    static func unmarked(_ request: URLRequest) -> URLRequest { request }
    static func isMarked(_ request: URLRequest) -> Bool { false }

    // Loads on Linux never wait for a connection; without one they fail. `refuseObsoleteRedirect` does not call the
    // completion handler: after the task was cancelled, such a call crashes the process.
    static func waitsForConnectivity(_ configuration: URLSessionConfiguration) -> Bool { false }
    static func failingAtOnce(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration { configuration }
    static func refuseObsoleteRedirect(_ completionHandler: (URLRequest?) -> Void) {}
}
#endif
