// How a session of ours loads on Linux. InnerSession+Apple.swift is for Apple's systems.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// Runs at once what Foundation adds while it is on the queue on which it calls protocols: there, and in step with the
/// network.
private final class DelegateQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}

extension InnerSession {
    /// Called before the session is made.
    static func prepare(_ configuration: URLSessionConfiguration) {
        guardLoads(of: configuration)
        // What the app's cache answered is handed on by `GuardedProtocol`.
        configuration.urlCache = nil
        // The app's task has got its cookies when it was made; those that arrive are stored all the same.
        configuration.httpShouldSetCookies = false
    }

    /// Lets tasks be cancelled while they end, without an end of the process.
    static func guardLoads(of configuration: URLSessionConfiguration) {
        configuration.protocolClasses = [GuardedProtocol.self] + (configuration.protocolClasses ?? [])
    }

    /// The queue for the delegate of a session of ours; called before its first task is made.
    static func delegateQueue() -> OperationQueue {
        // It cannot be made where it is used: Foundation waits for that queue.
        _ = LoadingQueue.idleTask
        return DelegateQueue()
    }

    // Registered classes come behind the system's, which takes the request; and no mark survives a copy of it.
    static func marked(_ request: URLRequest) -> URLRequest { request }
    static func unmarked(_ request: URLRequest) -> URLRequest { request }
    static func isMarked(_ request: URLRequest) -> Bool { false }

    // Linux fails without a connection, and ends the process when a task that was cancelled is told where a redirect
    // leads.
    static func waits(_ configuration: URLSessionConfiguration) -> Bool { false }
    static func failingAtOnce(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration { configuration }
    static func abandon(_ completionHandler: (URLRequest?) -> Void) {}
}
#endif
