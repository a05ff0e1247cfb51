import Foundation
import LocalSubstitutionArchive
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionStandards

/// The signs that a response is for one person only.
///
/// A file of an app is a copy that all its users share, so the rules are those of shared caches (RFC 9111).
struct Privacy: Sendable {
    /// The value of the response's `Cache-Control`.
    var cacheControl: String?
    /// The value of the response's `Vary`.
    var vary: String?
    /// True if the request carried cookies.
    var hasCookies = false
    /// True if the request carried `Authorization`, or another field whose name or value is one of a secret.
    var isAuthorized = false
    /// True if the server sent the same bytes to a request without cookies and credentials.
    ///
    /// Nil if no such request was sent.
    var isSameForAll: Bool?

    /// True if the server forbids shared copies (RFC 9111 §5.2.2.5 and §5.2.2.7).
    var isForbidden: Bool { has("no-store") || has("private") }

    /// True if only a request without cookies and credentials shows whether the response is for one person.
    var isUncertain: Bool { !isForbidden && (hasCookies || isAuthorized) }

    /// Explains why a response may be for one person.
    ///
    /// - Parameter kind: The kind of the resource. Browsers send cookies with stylesheets, scripts, pictures and fonts,
    ///   but these are the same for all visitors, unless the server says something else.
    /// - Returns: A clause that begins with "it" or "its"; nil if the response is for all.
    func reason(_ kind: ResourceKind) -> String? {
        if isForbidden { return "its server forbids shared copies (Cache-Control: \(shortened(cacheControl ?? "")))" }
        if isSameForAll == true { return nil }
        if isSameForAll == false { return "it differs without the browser's cookies and credentials" }
        if isAuthorized { return "it was requested with a password or token, so it is for one person" }
        guard hasCookies else { return nil }
        // RFC 9111 §4.1: with these values, a response answers only requests with the same cookies.
        let varying = (vary ?? "").lowercased()
        if varying.contains("cookie") || varying.contains("*") {
            return "it depends on cookies (Vary: \(shortened(vary ?? "")))"
        }
        let isShared = has("public") || has("s-maxage")
        return isShared || [.stylesheet, .script, .image, .font].contains(kind)
            ? nil : "it was requested with cookies, so it may be for one person"
    }

    private func has(_ directive: String) -> Bool {
        guard let cacheControl else { return false }
        // In a field that is malformed, a word counts wherever it is.
        return CacheControl.directives(cacheControl)?.contains(directive)
            ?? cacheControl.lowercased().contains(directive)
    }
}

extension CommandOption where Self == Option<Bool> {
    static var includePrivate: Self {
        Self(
            "include-private",
            "Also take responses that may be for one person: those whose Cache-Control has\nno-store or private, those that depend on cookies or credentials, and those whose\nURL holds an access token."
        )
    }
}
