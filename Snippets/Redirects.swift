// Lets a session follow redirects within one origin only.

// snippet.hide
import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// snippet.show
final class SameOrigin: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        func origin(_ url: URL?) -> [String?] { [url?.scheme, url?.host, url?.port.map { "\($0)" }] }
        completionHandler(origin(request.url) == origin(response.url) ? request : nil)
    }
}
// snippet.hide

_ = URLSession(configuration: .default, delegate: SameOrigin(), delegateQueue: nil)
