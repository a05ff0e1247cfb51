// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

import LocalSubstitutionCache

extension HTTPURLResponse {
    /// The target of a redirect; nil if `Location` is missing, or is not a URL reference (RFC 9110 §10.2.2).
    ///
    /// Foundation on Linux does not read it so: there `page2` from `/a/b` becomes `/page2`, and `%2F` becomes `/`.
    package var redirectTarget: URL? {
        guard let source = url, let location = field("Location"), !location.isEmpty,
            let target = URL(string: location, relativeTo: source)?.absoluteURL
        else { return nil }
        var components = URLComponents(url: target, resolvingAgainstBaseURL: true)
        // RFC 9110 §10.2.2: a target without a fragment inherits the fragment of the source.
        if components?.fragment == nil { components?.percentEncodedFragment = source.fragment(percentEncoded: true) }
        // A server may write a user name and password into a redirect to another server. URL loading would send them to
        // the other server as credentials.
        if !isSameOrigin(target) {
            components?.user = nil
            components?.password = nil
        }
        return components?.url ?? target
    }

    /// Returns the request to load after this redirect; nil without a target.
    ///
    /// `Authorization` and `Cookie` are not sent to another origin. But URL loading itself adds such fields if the
    /// session's `httpAdditionalHeaders` contain them.
    ///
    /// - Parameter request: The request that URL loading would load next.
    /// - Returns: The request, with the target and without other sites' credentials.
    package func redirected(_ request: URLRequest) -> URLRequest? {
        guard let target = redirectTarget else { return nil }
        var next = request
        next.url = target
        if !isSameOrigin(target) {
            for name in ["Authorization", "Cookie"] { next.setValue(nil, forHTTPHeaderField: name) }
        }
        return next
    }

    /// Returns whether a URL has the response's origin (RFC 6454 §4: scheme, host and port).
    private func isSameOrigin(_ other: URL) -> Bool {
        let origins = [url, other].map { url in
            [url?.scheme?.lowercased(), url?.host?.lowercased(), (url?.port ?? url?.defaultPort).map(String.init)]
        }
        return origins[0] == origins[1]
    }

    /// Returns the value of a header field; nil also for a value whose comparison would take quadratic time.
    package func field(_ name: String) -> String? {
        value(forHTTPHeaderField: name).flatMap { $0.isStreamSafe ? $0 : nil }
    }
}

extension URL {
    fileprivate var defaultPort: Int? { ["http": 80, "https": 443][scheme?.lowercased() ?? ""] }
}
