import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A copy of the cookies in a web view's store, for one load or for several.
///
/// Each cookie that a site sets or deletes is reported to the store, because this copy is discarded after the loads.
// The storage is thread-safe, but Foundation on Linux does not declare it Sendable.
struct PageCookies: @unchecked Sendable {
    /// The copied cookies, with the changes that sites have made.
    private let jar: HTTPCookieStorage
    /// Informs the store of the cookies that a site sets; an expired cookie deletes the stored one.
    private let didSet: @Sendable ([HTTPCookie]) -> Void
    /// True if cookies with `SameSite` are left out, as in requests from other sites' pages (RFC 6265bis §5.2).
    var isFromElsewhere = false

    /// - Parameters:
    ///   - cookies: All cookies of the store.
    ///   - didSet: Called for each response that sets cookies.
    init?(_ cookies: [HTTPCookie], didSet: @escaping @Sendable ([HTTPCookie]) -> Void = { _ in }) {
        // Each ephemeral configuration has its own storage.
        guard let jar = URLSessionConfiguration.ephemeral.httpCookieStorage else { return nil }
        (self.jar, self.didSet) = (jar, didSet)
        for cookie in cookies { jar.setCookie(cookie) }
    }

    /// Returns the request with the cookies for its URL.
    func added(to request: URLRequest) -> URLRequest {
        var request = request
        let cookies = request.url.flatMap { jar.cookies(for: $0) } ?? []
        let sent = isFromElsewhere ? cookies.filter { !$0.isForSameSite } : cookies
        request.httpShouldHandleCookies = false
        request.setValue(HTTPCookie.requestHeaderFields(with: sent)["Cookie"], forHTTPHeaderField: "Cookie")
        return request
    }

    /// Stores those cookies of a response that the response's site may set.
    func storeCookies(from response: HTTPURLResponse) {
        guard let url = response.url, let fields = response.allHeaderFields as? [String: String] else { return }
        let secure = (jar.cookies ?? []).filter(\.isSecure)
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: url).filter { cookie in
            cookie.isSettable(by: url)
                // A response over http may not change a secure cookie (RFC 6265bis §5.7).
                && (url.scheme == "https" || !secure.contains { $0.name == cookie.name && $0.isShared(with: cookie) })
        }
        guard !cookies.isEmpty else { return }
        for cookie in cookies { if cookie.hasExpired { jar.deleteCookie(cookie) } else { jar.setCookie(cookie) } }
        didSet(cookies)
    }
}

extension HTTPCookie {
    /// True for a cookie with `SameSite`.
    ///
    /// Foundation on Linux has no constant for this property, and drops the property from cookies.
    fileprivate var isForSameSite: Bool { properties?[HTTPCookiePropertyKey(rawValue: "SameSite")] != nil }

    /// Returns true if a response from this URL may set the cookie; Foundation does not check this.
    ///
    /// The cookie must be for the response's host, or for a domain that contains the host (RFC 6265 §5.3). It must also
    /// meet the conditions of `Secure` and of the prefix of its name (RFC 6265bis §5.7).
    ///
    /// Foundation has no list of public suffixes (such as `co.uk`). So cookies are refused only for suffixes with a
    /// single label (such as `com`).
    fileprivate func isSettable(by url: URL) -> Bool {
        guard let host = url.host.map(name) else { return false }
        let isAddress = host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") } || host.contains(":")
        let isPart = !isAddress && name(of: domain).contains(".") && host.hasSuffix("." + name(of: domain))
        guard host == name(of: domain) || isPart, !isSecure || url.scheme == "https" else { return false }
        let prefixed = self.name.lowercased()
        if prefixed.hasPrefix("__host-") { return isSecure && path == "/" && !domain.hasPrefix(".") }
        return isSecure || !prefixed.hasPrefix("__secure-")
    }

    /// Returns true if there is a host to which both cookies are sent.
    fileprivate func isShared(with other: HTTPCookie) -> Bool {
        let (first, second) = ("." + name(of: domain), "." + name(of: other.domain))
        return first.hasSuffix(second) || second.hasSuffix(first)
    }

    /// Returns the domain in lower case, without dots before and after it.
    ///
    /// Foundation writes a dot before the domain if the cookie is for several hosts. A dot after the domain makes no
    /// difference.
    private func name(of domain: String) -> String { domain.lowercased().trimmingCharacters(in: ["."]) }

    /// True if the cookie's expiry date has passed; setting such a cookie deletes the stored one.
    var hasExpired: Bool { expiresDate.map { $0 <= Date() } ?? false }
}
