// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

import LocalSubstitutionCache

/// A policy for redirects: follow them, refuse them, or change their target.
///
/// Use it as a session's delegate, or set it as a task's delegate before you call the task's `resume()`:
///
/// ```swift
/// let session = URLSession(configuration: .default, delegate: RedirectPolicy.sameOrigin, delegateQueue: nil)
/// ```
///
/// The policy reads the target from `Location` according to RFC 9110 §10.2.2 and RFC 3986 §5. Foundation on Linux does
/// not do so by itself: there `page2` from `/a/b` becomes `/page2`, and `%2F` becomes `/`.
///
/// The request's `Authorization` and `Cookie` fields are not sent to another origin (RFC 6454 §4: scheme, host and
/// port), even if a custom policy chooses a target of another origin. But URL loading itself adds such fields if the
/// session's `httpAdditionalHeaders` contain them. The request's method changes as usual in URL loading. An endless
/// chain of redirects fails with URL loading's usual error. (On Linux URL loading does not send the body again after a
/// 307 or 308.)
///
/// If a redirect is refused, the 3xx itself is the response. On Linux the body of this 3xx is empty, except in a
/// session with a data delegate. On Linux `data(for:delegate:)` never calls its delegate about redirects, so set the
/// policy on the session or the task.
package final class RedirectPolicy: NSObject, URLSessionTaskDelegate, Sendable {
    private let decide: @Sendable (_ request: URLRequest, _ response: HTTPURLResponse) -> URLRequest?

    /// A policy that follows every redirect.
    package static let follow = RedirectPolicy { request, _ in request }

    /// A policy that follows no redirect: the 3xx is the response.
    package static let refuse = RedirectPolicy { _, _ in nil }

    /// A policy that follows only redirects within the same origin (scheme, host and port).
    ///
    /// If a redirect leads to another origin, the 3xx is the response.
    package static let sameOrigin = RedirectPolicy { request, response in
        isSameOrigin(request.url, response.url) ? request : nil
    }

    /// Creates a custom policy.
    ///
    /// - Parameter decide: Returns the request to load next, or nil to refuse the redirect. It is called for each
    ///   redirect, on the session's delegate queue.
    package init(
        _ decide: @escaping @Sendable (_ request: URLRequest, _ response: HTTPURLResponse) -> URLRequest?
    ) {
        self.decide = decide
    }

    /// Called by URL loading for each redirect.
    ///
    /// - Parameters:
    ///   - session: The session of the task.
    ///   - task: The task that was redirected.
    ///   - response: The 3xx.
    ///   - request: The request that URL loading would load next.
    ///   - completionHandler: Called with the request to load next, or with nil to refuse the redirect.
    package func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let source = response.url, let target = Self.target(of: response, from: source) else {
            completionHandler(nil)
            return
        }
        var next = request
        next.url = target
        Self.removeCredentials(of: request, from: &next, sentBy: source)
        guard var decided = decide(next, response), decided.url != nil else {
            completionHandler(nil)
            return
        }
        // The closure may have changed the target, so check again. Credentials that the closure itself has set are
        // kept.
        Self.removeCredentials(of: request, from: &decided, sentBy: source)
        completionHandler(decided)
    }

    /// Removes the credentials of `request` from `next`, unless `source` and `next` have the same origin.
    private static func removeCredentials(of request: URLRequest, from next: inout URLRequest, sentBy source: URL) {
        guard !isSameOrigin(source, next.url) else { return }
        for name in ["Authorization", "Cookie"]
        where next.value(forHTTPHeaderField: name) == request.value(forHTTPHeaderField: name) {
            next.setValue(nil, forHTTPHeaderField: name)
        }
    }

    /// Returns the target of a redirect; nil if there is no `Location`, or if its value is not a URL reference.
    package static func target(of response: HTTPURLResponse, from source: URL) -> URL? {
        guard let location = response.field("Location"), !location.isEmpty,
            let target = URL(string: location, relativeTo: source)?.absoluteURL
        else { return nil }
        var components = URLComponents(url: target, resolvingAgainstBaseURL: true)
        // RFC 9110 §10.2.2: a target without a fragment inherits the fragment of the source.
        if components?.fragment == nil { components?.percentEncodedFragment = source.fragment(percentEncoded: true) }
        // A server may write a user name and password into a redirect to another server. URL loading would send them to
        // the other server as credentials.
        if !isSameOrigin(source, target) {
            components?.user = nil
            components?.password = nil
        }
        return components?.url ?? target
    }

    /// Returns true if two URLs have the same scheme, host and port; user names do not matter.
    private static func isSameOrigin(_ first: URL?, _ second: URL?) -> Bool {
        guard let first = Origin(first), let second = Origin(second) else { return false }
        return first == second
    }

    private struct Origin: Equatable {
        let scheme: String
        let host: String
        let port: Int?

        init?(_ url: URL?) {
            guard let url, let scheme = url.scheme?.lowercased(), let host = url.host?.lowercased() else { return nil }
            (self.scheme, self.host) = (scheme, host)
            port = url.port ?? ["http": 80, "https": 443][scheme]
        }
    }
}

extension HTTPURLResponse {
    /// Returns the value of a header field; nil also for a value whose comparison would take quadratic time.
    package func field(_ name: String) -> String? {
        value(forHTTPHeaderField: name).flatMap { $0.isStreamSafe ? $0 : nil }
    }
}
