import Foundation
import LocalSubstitutionCache
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides which pages may load unmapped URLs from the network.
///
/// The mirror of `https://host/path` is `substitution-https://host/path`. A mirror page was loaded from such a URL. A
/// URL is unmapped if no file of the app answers it. A site here is an origin: scheme, host and port.
///
/// An engine sends no preflight to an app's custom scheme, and lets every page in a view send requests to the scheme.
/// So this type applies a browser's rules for cross-origin requests (Fetch §3.3). The rules decide which page may send
/// a request, with which method and header fields, and with or without cookies.
struct ForwardingGuard: Sendable {
    /// The sites, in normal form, from which the app lets mirror pages load unmapped URLs.
    private let sites: Set<String>

    /// - Parameter hosts: The hosts that the app has named. Each is a URL, `host` or `host:port`. The last two forms
    ///   stand for both https and http.
    init(hosts: Set<String>) {
        let urls = hosts.flatMap { $0.contains("://") ? [$0] : ["https://\($0)", "http://\($0)"] }
        sites = Set(urls.compactMap { WebOrigin($0)?.site })
    }

    enum Decision: Equatable {
        case allowed(Cookies)
        /// The reason, as a sentence without its full stop.
        case refused(String)
    }

    /// The cookies that are sent with a request.
    enum Cookies {
        case none
        /// Only the cookies without `SameSite`, which are also sent in requests of other sites' pages.
        case fromElsewhere
        case all
    }

    /// Returns true if the app has named this site.
    func isNamed(_ origin: WebOrigin) -> Bool { sites.contains(origin.site) }

    /// Decides about a request to a site that the app has named.
    ///
    /// - Parameters:
    ///   - request: The request as the engine passes it on, with the mirror's URL.
    ///   - target: The origin of the original URL.
    ///   - isMapped: Returns true if the manifest maps any URL of this `host:port`. A mirror page of such a host is a
    ///     page of the app.
    /// - Returns: The decision.
    func decision(on request: URLRequest, to target: WebOrigin, isMapped: (String) -> Bool) -> Decision {
        let method = request.httpMethod ?? "GET"
        let isReading = method == "GET" || method == "HEAD"
        guard let page = WebOrigin(request.mainDocumentURL) else {
            return .refused("the request does not name the web page that sends it")
        }
        if Self.isMixedContent(request, of: target) { return .refused(Self.mixedContent) }
        if page.isMirror {
            guard isNamed(page) || isMapped(page.authority) else {
                return .refused("the page is a mirror of \(page.authority), which the app has not named")
            }
            if let text = request.value(forHTTPHeaderField: "Origin") {
                let origin = WebOrigin(text)
                guard let origin, origin.isMirror, isNamed(origin) || isMapped(origin.authority) else {
                    return .refused("\(quoted(text)) sends the request, and is not one of the app's mirrors")
                }
            }
            if page == target.mirror {
                switch isAsked(by: page, request) {
                case true?: return .allowed(.all)
                // No header field names the sender. So the request is for the page itself, or for an image, style or
                // script of the page or of a frame in it.
                case nil where isReading: return .allowed(request.isForMainDocument ? .all : .fromElsewhere)
                default: break
                }
            }
        }
        guard isReading else {
            return .refused("its method is \(quoted(method)), and nothing shows that a page of the same site sends it")
        }
        if let field = Self.fieldNeedingConsent(request) {
            return .refused("another site sends the field \(quoted(field)), which needs the server's consent")
        }
        return .allowed(.none)
    }

    /// Returns true if this page sends the request, false if a page in a frame does, nil if unknown.
    ///
    /// Engines send `Origin` in requests to other origins and in form submissions, and `Referer` in requests of
    /// scripts. Without either field, the sender is unknown.
    private func isAsked(by page: WebOrigin, _ request: URLRequest) -> Bool? {
        (request.value(forHTTPHeaderField: "Origin") ?? request.value(forHTTPHeaderField: "Referer")).map {
            WebOrigin($0) == page
        }
    }

    /// The reason for refusing mixed content, as a sentence without its full stop.
    static let mixedContent = "the page is https, and this request is http (mixed content)"

    /// Returns true if the request is mixed content (Mixed Content §4.4).
    ///
    /// That means that an https page, or the mirror of one, requests an http URL or the mirror of one.
    static func isMixedContent(_ request: URLRequest, of target: WebOrigin) -> Bool {
        guard let page = WebOrigin(request.mainDocumentURL) else { return false }
        return page.isSecure && !target.isSecure && !request.isForMainDocument
    }

    /// Returns a field that is neither CORS-safelisted nor the engine's own; nil if there is none.
    ///
    /// Before a browser sends such a field, it asks for the server's consent in a preflight (Fetch §2.2.2).
    static func fieldNeedingConsent(_ request: URLRequest) -> String? {
        let written = (request.allHTTPHeaderFields ?? [:]).filter { !isOfEngine($0.key, $0.value) }
        // A request with neither `Origin` nor `Referer` is not from a script. The limits on length are for scripts
        // only: the fields that engines write for images may have any length.
        let isScripted = ["Origin", "Referer"].contains { request.value(forHTTPHeaderField: $0) != nil }
        let isTooLong = isScripted && written.values.reduce(0) { $0 + $1.utf8.count } > SafelistedField.longestValues
        return written.filter { name, value in
            !SafelistedField.contains(name, value) || isTooLong
                || isScripted && value.utf8.count > SafelistedField.longestValue
        }
        .keys.min()
    }

    /// Returns true if a page gains nothing by setting this field.
    ///
    /// One of three things is true for such a field. It is a forbidden request-header (Fetch §2.2.2). It has a value
    /// that the engine itself writes, for example when a script chooses a cache mode of `fetch`. Or the page's value is
    /// never sent to another site.
    private static func isOfEngine(_ name: String, _ value: String) -> Bool {
        switch name.lowercased() {
        case "accept-encoding", "dnt", "origin", "referer": true
        case "cache-control": ["no-cache", "max-age=0"].contains(value)
        case "pragma": value == "no-cache"
        case "upgrade-insecure-requests": value == "1"
        // In requests to other sites, `ForwardedHead` removes these fields, or replaces the page's value with the
        // engine's.
        case "if-modified-since", "if-none-match", "if-range", "user-agent": true
        case let name: name.hasPrefix("sec-") || name.hasPrefix("proxy-")
        }
    }
}

extension URLRequest {
    /// True for the request that loads the page itself, and for a script's request to the page's own URL.
    var isForMainDocument: Bool {
        guard let page = mainDocumentURL?.absoluteString.prefix(while: { $0 != "#" }) else { return false }
        return url?.absoluteString.prefix { $0 != "#" } == page
    }
}
