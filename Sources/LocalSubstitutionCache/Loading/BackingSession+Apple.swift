// The library's own sessions on Apple's systems. BackingSession+Linux.swift is for Linux.
#if !canImport(FoundationNetworking) || APPLE_LOADING
import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension BackingSession {
    /// Returns true if a load without a connection waits for a connection.
    ///
    /// According to NSURLSession.h on `waitsForConnectivity`, the load waits until the timeout for the resource.
    static func waitsForConnectivity(_ configuration: URLSessionConfiguration) -> Bool {
        configuration.waitsForConnectivity
    }

    /// Returns the configuration, changed so that loads without a connection fail immediately.
    ///
    /// Only after a load has failed can a file or copy answer.
    static func failingAtOnce(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        guard waitsForConnectivity(configuration), let copy = configuration.copy() as? URLSessionConfiguration else {
            return configuration
        }
        copy.waitsForConnectivity = false
        return copy
    }

    // Only Linux needs these two functions.
    static func prepare(_ configuration: URLSessionConfiguration) {}
    static func insertGuard(into configuration: URLSessionConfiguration) {}

    /// Returns a serial queue for the delegate of one of the library's own sessions.
    static func delegateQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    private static let mark = "LocalSubstitutionCache.isBacking"

    /// Returns the request with a mark, so that no protocol of this library loads it.
    ///
    /// According to NSURLSession.h on `protocolClasses`, classes that are registered with `URLProtocol` serve "the
    /// default session". If URL loading also consults them for a backing session, the mark prevents endless recursion.
    /// URL loading keeps the mark in the request of a redirect.
    static func marked(_ request: URLRequest) -> URLRequest {
        guard let copy = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return request }
        URLProtocol.setProperty(true, forKey: mark, in: copy)
        return copy as URLRequest
    }

    /// Returns the request without the mark, for the app, which may load the request itself.
    static func unmarked(_ request: URLRequest) -> URLRequest {
        guard let copy = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return request }
        URLProtocol.removeProperty(forKey: mark, in: copy)
        return copy as URLRequest
    }

    static func isMarked(_ request: URLRequest) -> Bool { URLProtocol.property(forKey: mark, in: request) != nil }

    /// Refuses a redirect that no longer matters.
    ///
    /// NSURLSession.h says: "You must invoke the completion routine".
    static func refuseObsoleteRedirect(_ completionHandler: (URLRequest?) -> Void) { completionHandler(nil) }
}
#endif
