// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Decides about redirects: follow them, refuse them, or change where they lead.
///
/// It is the delegate of a session, or of a task before it is resumed:
///
/// ```swift
/// let session = URLSession(configuration: .default, delegate: RedirectPolicy.sameOrigin, delegateQueue: nil)
/// ```
///
/// Where a redirect leads is read from `Location` as RFC 9110 §10.2.2 and RFC 3986 §5 say, which Linux's own way of
/// following does not do: there `page2` from `/a/b` becomes `/page2`, and `%2F` becomes `/`. `Authorization` and
/// `Cookie` fields of the request are not sent to another origin (RFC 6454 §4: scheme, host and port), also when a
/// closure leads there; those of the session's `httpAdditionalHeaders` are URL loading's to add. Methods change as URL
/// loading changes them, and a chain without end ends with its usual error. (On Linux it sends no body again after a
/// 307 or 308.)
///
/// A refused redirect is the answer: the 3xx with its head. On Linux its body is empty except in a session with a
/// data delegate. On Linux `data(for:delegate:)` never asks its delegate; give the policy to the session, or to the
/// task.
public final class RedirectPolicy: NSObject, URLSessionTaskDelegate, Sendable {
    private let decide: @Sendable (_ request: URLRequest, _ response: HTTPURLResponse) -> URLRequest?

    /// Follows every redirect.
    public static let follow = RedirectPolicy { request, _ in request }

    /// Follows none: the 3xx is the answer.
    public static let refuse = RedirectPolicy { _, _ in nil }

    /// Follows redirects that stay on scheme, host and port; others are the answer.
    public static let sameOrigin = RedirectPolicy { request, response in
        isSameOrigin(request.url, response.url) ? request : nil
    }

    /// Makes a custom policy.
    ///
    /// - Parameter decide: Called for each redirect, on the queue of the session's delegate.
    public init(
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
    ///   - request: What URL loading would load next.
    ///   - completionHandler: Called with what is to be loaded next.
    public func urlSession(
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
        // The decision may have led elsewhere. What it set itself stays.
        Self.removeCredentials(of: request, from: &decided, sentBy: source)
        completionHandler(decided)
    }

    /// Removes what `next` has of the credentials of `request`, when it goes to another origin than `source`.
    private static func removeCredentials(of request: URLRequest, from next: inout URLRequest, sentBy source: URL) {
        guard !isSameOrigin(source, next.url) else { return }
        for name in ["Authorization", "Cookie"]
        where next.value(forHTTPHeaderField: name) == request.value(forHTTPHeaderField: name) {
            next.setValue(nil, forHTTPHeaderField: name)
        }
    }

    /// Where a redirect leads; nil without a `Location`, or with one that is no URL reference.
    package static func target(of response: HTTPURLResponse, from source: URL) -> URL? {
        guard let location = response.value(forHTTPHeaderField: "Location"), !location.isEmpty,
            let target = URL(string: location, relativeTo: source)?.absoluteURL
        else { return nil }
        var components = URLComponents(url: target, resolvingAgainstBaseURL: true)
        // RFC 9110 §10.2.2: without a fragment of its own the target inherits that of the source.
        if components?.fragment == nil { components?.percentEncodedFragment = source.fragment(percentEncoded: true) }
        // A user name and password that one server writes would be sent to the other as credentials.
        if !isSameOrigin(source, target) {
            components?.user = nil
            components?.password = nil
        }
        return components?.url ?? target
    }

    /// Whether two URLs have the same scheme, host and port; user names do not matter.
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
