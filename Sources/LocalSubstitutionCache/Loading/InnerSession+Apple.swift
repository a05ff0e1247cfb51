// How a session of ours loads on Apple's systems. InnerSession+Linux.swift is for Linux.
#if !canImport(FoundationNetworking)
import Foundation

extension InnerSession {
    // Nothing is needed.
    static func prepare(_ configuration: URLSessionConfiguration) {}
    static func guardLoads(of configuration: URLSessionConfiguration) {}

    /// A serial queue, for the delegate of a session of ours.
    static func delegateQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }
}
#endif
