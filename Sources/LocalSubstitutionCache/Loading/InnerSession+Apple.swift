// How a session of ours loads on Apple's systems. InnerSession+Linux.swift is for Linux.
#if !canImport(FoundationNetworking)
import Foundation

/// The queue of the inner session's delegate.
typealias DelegateQueue = OperationQueue

extension InnerSession {
    // Nothing is needed.
    static func prepare(_ configuration: URLSessionConfiguration) {}
    func didMake(_ configuration: URLSessionConfiguration) {}
    static func prepareTask() {}
}
#endif
