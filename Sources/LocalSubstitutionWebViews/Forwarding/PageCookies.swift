import Foundation
import LocalSubstitutionCache

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The cookies of one view's store, for one load or for several.
///
/// The store of the view stays the only place where they are kept: what a site sets or deletes is told to it.
// The storage is safe to share, which Foundation on Linux does not declare.
struct PageCookies: @unchecked Sendable {
    /// A copy of the store's.
    private let jar: HTTPCookieStorage
    /// Told what a site sets; what it deletes has expired.
    private let didSet: @Sendable ([HTTPCookie]) -> Void
    /// Whether cookies are left out that a site wants only on its own pages (RFC 6265bis §5.2).
    var isFromElsewhere = false

    /// - Parameters:
    ///   - cookies: All that the store has.
    ///   - didSet: Called for each answer that sets some.
    init?(_ cookies: [HTTPCookie], didSet: @escaping @Sendable ([HTTPCookie]) -> Void = { _ in }) {
        // Each has its own.
        guard let jar = URLSessionConfiguration.ephemeral.httpCookieStorage else { return nil }
        (self.jar, self.didSet) = (jar, didSet)
        for cookie in cookies { jar.setCookie(cookie) }
    }

    /// The request with what its URL is to have.
    func added(to request: URLRequest) -> URLRequest {
        var request = request
        let cookies = request.url.flatMap { jar.cookies(for: $0) } ?? []
        let sent = isFromElsewhere ? cookies.filter { !$0.isForSameSite } : cookies
        request.httpShouldHandleCookies = false
        request.setValue(HTTPCookie.requestHeaderFields(with: sent)["Cookie"], forHTTPHeaderField: "Cookie")
        return request
    }

    /// Keeps what an answer sets, as far as its site may.
    func keep(from response: HTTPURLResponse) {
        guard let url = response.url, let fields = response.allHeaderFields as? [String: String] else { return }
        let secure = (jar.cookies ?? []).filter(\.isSecure)
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: url).filter { cookie in
            cookie.isSettable(by: url)
                // Who has no secure connection changes nothing that was set by one (RFC 6265bis §5.7).
                && (url.scheme == "https" || !secure.contains { $0.name == cookie.name && $0.isShared(with: cookie) })
        }
        guard !cookies.isEmpty else { return }
        for cookie in cookies { if cookie.hasExpired { jar.deleteCookie(cookie) } else { jar.setCookie(cookie) } }
        didSet(cookies)
    }
}

extension HTTPCookie {
    /// Foundation on Linux has no name for the property, and drops it.
    fileprivate var isForSameSite: Bool { properties?[HTTPCookiePropertyKey(rawValue: "SameSite")] != nil }

    /// Whether an answer from this URL may set it, which Foundation takes for granted.
    ///
    /// For its own host, or for a domain that it is part of (RFC 6265 §5.3), and as the cookie's name and `Secure`
    /// promise (RFC 6265bis §5.7).
    ///
    /// Nothing given knows in which domains everybody can have names, but for those of one part.
    fileprivate func isSettable(by url: URL) -> Bool {
        guard let host = url.host.map(name) else { return false }
        let isAddress = host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") } || host.contains(":")
        let isPart = !isAddress && name(of: domain).contains(".") && host.hasSuffix("." + name(of: domain))
        guard host == name(of: domain) || isPart, !isSecure || url.scheme == "https" else { return false }
        let prefixed = self.name.lowercased()
        if prefixed.hasPrefix("__host-") { return isSecure && path == "/" && !domain.hasPrefix(".") }
        return isSecure || !prefixed.hasPrefix("__secure-")
    }

    /// Whether there is a host that has both.
    fileprivate func isShared(with other: HTTPCookie) -> Bool {
        let (first, second) = ("." + name(of: domain), "." + name(of: other.domain))
        return first.hasSuffix(second) || second.hasSuffix(first)
    }

    /// Foundation writes a dot before the domains that more than one host has; one behind it changes nothing.
    private func name(of domain: String) -> String { domain.lowercased().trimmingCharacters(in: ["."]) }

    /// Whether setting it deletes it.
    var hasExpired: Bool { expiresDate.map { $0 <= Date() } ?? false }
}
