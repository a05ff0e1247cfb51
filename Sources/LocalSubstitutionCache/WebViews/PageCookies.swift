import Foundation

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

    /// Keeps what an answer sets.
    func keep(from response: HTTPURLResponse) {
        guard let url = response.url, let fields = response.allHeaderFields as? [String: String] else { return }
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: url)
        guard !cookies.isEmpty else { return }
        for cookie in cookies { if cookie.hasExpired { jar.deleteCookie(cookie) } else { jar.setCookie(cookie) } }
        didSet(cookies)
    }
}

extension HTTPCookie {
    /// Foundation on Linux has no name for the property, and drops it.
    fileprivate var isForSameSite: Bool { properties?[HTTPCookiePropertyKey(rawValue: "SameSite")] != nil }

    /// Whether setting it deletes it.
    var hasExpired: Bool { expiresDate.map { $0 <= Date() } ?? false }
}
