// How a session of ours loads on Apple's systems. InnerSession+Linux.swift is for Linux.
#if !canImport(FoundationNetworking) || APPLE_LOADING
import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension InnerSession {
    /// Lets a load without a connection fail, as only then a file or copy can answer.
    ///
    /// A session that waits for connectivity would go on for days (NSURLSession.h on `waitsForConnectivity`).
    static func prepare(_ configuration: URLSessionConfiguration) { configuration.waitsForConnectivity = false }

    // Nothing is needed.
    static func guardLoads(of configuration: URLSessionConfiguration) {}

    /// A serial queue, for the delegate of a session of ours.
    static func delegateQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    private static let mark = "LocalSubstitutionCache.InnerSession"

    /// Marks a request, which no protocol of this library takes then.
    ///
    /// Registered classes serve "the default session" (NSURLSession.h on `protocolClasses`). Should a system ask them
    /// for others, too, no load asks itself. A redirect keeps the mark unless the app makes its request itself.
    static func marked(_ request: URLRequest) -> URLRequest {
        guard let copy = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return request }
        URLProtocol.setProperty(true, forKey: mark, in: copy)
        return copy as URLRequest
    }

    static func isMarked(_ request: URLRequest) -> Bool { URLProtocol.property(forKey: mark, in: request) != nil }
}
#endif
