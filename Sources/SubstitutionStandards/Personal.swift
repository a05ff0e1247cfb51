// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension URLRequest {
    /// True if the request identifies its user: by cookies, credentials, or another secret in its URL, header fields
    /// or body.
    ///
    /// The response to such a request is kept only if the app allows it for the host.
    package var isPersonal: Bool {
        // No server receives the fragment.
        let url = url?.absoluteString.prefix { $0 != "#" } ?? ""
        if (allHTTPHeaderFields ?? [:]).contains(where: holdsSecret)
            || SecretScanner.isCertain(in: String(url), isURL: true)
        {
            return true
        }
        guard let body = httpBody else { return false }
        // A body of this length is not searched.
        return body.count > 1 << 16 || SecretScanner.isCertain(in: String(decoding: body, as: UTF8.self))
    }
}

extension HTTPURLResponse {
    /// True if a header field holds a secret, such as a new token for the user.
    ///
    /// `Set-Cookie` does not count, because no copy of the response has it.
    package var isPersonal: Bool {
        (allHeaderFields as? [String: String] ?? [:]).contains { name, value in
            !Self.fieldsForBrowsers.contains(name.lowercased()) && holdsSecret(name, value)
        }
    }

    /// Fields that tell a browser what it may do, where to report, and how to sign in; the keys in them are public.
    private static let fieldsForBrowsers: Set = [
        "content-security-policy", "content-security-policy-report-only", "expect-ct", "feature-policy", "nel",
        "permissions-policy", "proxy-authenticate", "report-to", "reporting-endpoints", "set-cookie", "set-cookie2",
        "www-authenticate",
    ]
}

private func holdsSecret(_ name: String, _ value: String) -> Bool {
    SecretWords.isCredential(field: name) || SecretScanner.isCertain(in: value)
}
