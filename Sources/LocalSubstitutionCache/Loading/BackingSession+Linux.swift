// The library's own sessions on Linux. BackingSession+Apple.swift is for Apple's systems.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// An operation queue that runs each block immediately, on the caller's thread.
///
/// Foundation adds delegate calls from the queue on which it calls protocols. So the delegate calls run on that queue,
/// in step with the network.
private final class DelegateQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}

extension BackingSession {
    /// Prepares the configuration of a backing session, before the session is created.
    static func prepare(_ configuration: URLSessionConfiguration) {
        insertGuard(into: configuration)
        // `GuardedProtocol` passes on the response of the app's cache.
        configuration.urlCache = nil
        // The app's task received its cookies when it was created. Cookies in responses are still stored.
        configuration.httpShouldSetCookies = false
    }

    /// Adds ``GuardedProtocol``, so that cancelling a task while it ends does not crash the process.
    static func insertGuard(into configuration: URLSessionConfiguration) {
        configuration.protocolClasses = [GuardedProtocol.self] + (configuration.protocolClasses ?? [])
    }

    /// Returns a queue for the delegate of one of the library's own sessions.
    ///
    /// Called before the session's first task is created.
    static func delegateQueue() -> OperationQueue {
        // The idle task is used on the loading queue but cannot be created there: creating a task waits for that queue.
        _ = LoadingQueue.idleTask
        return DelegateQueue()
    }

    // A mark is not needed: registered classes are consulted after the system's class, which loads the request. A mark
    // is not possible either: copying a request loses it.
    static func marked(_ request: URLRequest) -> URLRequest { request }
    static func unmarked(_ request: URLRequest) -> URLRequest { request }
    static func isMarked(_ request: URLRequest) -> Bool { false }

    // Loads on Linux never wait for a connection; they fail without one. And calling the completion handler of a
    // redirect after its task was cancelled crashes the process, so `refuseObsoleteRedirect` does not call it.
    static func waitsForConnectivity(_ configuration: URLSessionConfiguration) -> Bool { false }
    static func failingAtOnce(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration { configuration }
    static func refuseObsoleteRedirect(_ completionHandler: (URLRequest?) -> Void) {}
}
#endif
