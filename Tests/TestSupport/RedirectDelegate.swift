// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// A delegate without data methods that follows each redirect, or none.
package final class RedirectDelegate: NSObject, URLSessionTaskDelegate {
    package static let (follow, refuse) = (RedirectDelegate(true), RedirectDelegate(false))

    private let follows: Bool

    private init(_ follows: Bool) { self.follows = follows }

    package func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(follows ? request : nil)
    }
}
