// How a session of ours loads on Apple's systems. InnerSession+Linux.swift is for Linux.
#if !canImport(FoundationNetworking) || APPLE_LOADING
import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension InnerSession {
    /// Whether loads without a connection wait for one, until the time-out for the resource (NSURLSession.h on
    /// `waitsForConnectivity`).
    static func waits(_ configuration: URLSessionConfiguration) -> Bool { configuration.waitsForConnectivity }

    /// The same, but that loads without a connection fail: only then a file or copy can answer.
    static func failingAtOnce(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        guard waits(configuration), let copy = configuration.copy() as? URLSessionConfiguration else {
            return configuration
        }
        copy.waitsForConnectivity = false
        return copy
    }

    // Nothing is needed.
    static func prepare(_ configuration: URLSessionConfiguration) {}
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
    /// for others, too, no load asks itself. URL loading keeps the mark in the request of a redirect.
    static func marked(_ request: URLRequest) -> URLRequest {
        guard let copy = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return request }
        URLProtocol.setProperty(true, forKey: mark, in: copy)
        return copy as URLRequest
    }

    /// The same request without the mark: what the app may load once more.
    static func unmarked(_ request: URLRequest) -> URLRequest {
        guard let copy = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return request }
        URLProtocol.removeProperty(forKey: mark, in: copy)
        return copy as URLRequest
    }

    static func isMarked(_ request: URLRequest) -> Bool { URLProtocol.property(forKey: mark, in: request) != nil }

    /// Ends a redirect that nobody follows any more: "You must invoke the completion routine" (NSURLSession.h).
    static func abandon(_ completionHandler: (URLRequest?) -> Void) { completionHandler(nil) }
}
#endif
