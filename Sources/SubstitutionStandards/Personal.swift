// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

import LocalSubstitutionCache

extension URLRequest {
    /// True if the request identifies its user: by cookies, credentials, or another secret in its URL, header fields
    /// or body.
    ///
    /// The response to such a request is kept only if the app allows it for the host.
    package var isPersonal: Bool {
        let isFieldPersonal = (allHTTPHeaderFields ?? [:]).contains(where: SecretScanner.isCredential(field:value:))
        // No server receives the fragment.
        let url = url?.absoluteString.prefix { $0 != "#" } ?? ""
        if isFieldPersonal || SecretScanner.isCertain(in: String(url), isURL: true) { return true }
        guard let body = httpBody else { return false }
        // A body of this length is not searched.
        return body.count > 1 << 16 || SecretScanner.isCertain(in: String(decoding: body, as: UTF8.self))
    }
}

extension SecretScanner {
    /// Returns whether a header field of a request identifies its user, by its name or its value.
    package static func isCredential(field name: String, value: String) -> Bool {
        // Agents that measure an app add fields with JSON in base64, and players count their sessions.
        !["newrelic", "x-playback-session-id"].contains(name.lowercased())
            && (SecretWords.isCredential(field: name) || isCertain(in: value))
    }
}

extension HTTPURLResponse {
    /// True if a header field holds a secret, such as a new token for the user, or cannot be read.
    ///
    /// `Set-Cookie` does not count, because no copy of the response has it.
    package var isPersonal: Bool {
        (allHeaderFields as? [String: String] ?? [:]).contains { name, value in
            guard value.isStreamSafe else { return true }
            let name = name.lowercased()
            let isChallenge = [401, 407].contains(statusCode) && name.hasSuffix("-authenticate")
            if isChallenge || Self.publicFields.contains(name) { return false }
            // In a response, most fields with a key are about caches.
            let namesSecret = !name.hasPrefix("access-control-") && SecretWords.suggestion(of: name) == .certain
            return namesSecret && !Self.isPolicy(value, of: name) || SecretScanner.isCertain(in: value)
        }
    }

    /// Fields that tell caches and browsers what they may do, and where to report; the keys in them are public.
    private static let publicFields: Set = [
        "content-security-policy", "content-security-policy-report-only", "expect-ct", "feature-policy", "nel",
        "netlify-vary", "permissions-policy", "public-key-pins", "public-key-pins-report-only",
        "report-to", "reporting-endpoints", "set-cookie", "set-cookie2", "signature", "signature-input",
        "x-accepted-oauth-scopes", "x-content-security-policy", "x-oauth-scopes", "x-webkit-csp",
    ]

    /// True for flags and short words, such as `1; mode=block`, which say how something is protected.
    ///
    /// A field whose last word names a secret, such as `x-auth-token`, has only flags.
    private static func isPolicy(_ value: String, of name: String) -> Bool {
        let mayHaveWords = SecretWords.suggestion(of: String(name.split(separator: "-").last ?? "")) != .certain
        return value.split { " ;,=".contains($0) }.allSatisfy { word in
            flags.contains(word.lowercased())
                || mayHaveWords
                    && word.split(separator: "-").allSatisfy { part in
                        part.utf8.count <= 12 && part.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
                    }
        }
    }

    private static let flags: Set = ["", "0", "1", "false", "no", "none", "off", "on", "true", "yes"]
}
