import Foundation
import LocalSubstitutionCache
import SubstitutionRules

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides for which pages what is not mapped is loaded from the network.
///
/// An engine sends no preflight to a scheme of an app, and lets every page of a view ask it. So a browser's own rules
/// for other origins (Fetch §3.3) are kept here: who may ask, with which methods and fields, and whether with cookies.
struct ForwardingGuard: Sendable {
    /// Each site that the app has named, in normal form.
    private let sites: Set<String>

    /// - Parameter hosts: `host` or `host:port`, which stand for https and http, or a URL.
    init(hosts: Set<String>) {
        let urls = hosts.flatMap { $0.contains("://") ? [$0] : ["https://\($0)", "http://\($0)"] }
        sites = Set(urls.compactMap { WebOrigin($0)?.site })
    }

    enum Decision: Equatable {
        case allowed(Cookies)
        /// Why not, as a sentence without its full stop.
        case refused(String)
    }

    /// The cookies that go along.
    enum Cookies {
        case none
        /// Those that a site allows pages of others to send.
        case fromElsewhere
        case all
    }

    /// Returns whether the app has named this site.
    func isNamed(_ origin: WebOrigin) -> Bool { sites.contains(origin.site) }

    /// Decides on a request for something of a named host.
    ///
    /// - Parameters:
    ///   - request: As the engine hands it over.
    ///   - target: The origin of what is asked for.
    ///   - isMapped: Whether the manifest maps something of this `host:port`, so that its mirrors are pages of the app.
    /// - Returns: The decision.
    func decision(on request: URLRequest, to target: WebOrigin, isMapped: (String) -> Bool) -> Decision {
        let method = request.httpMethod ?? "GET"
        let isReading = method == "GET" || method == "HEAD"
        guard let page = WebOrigin(request.mainDocumentURL) else {
            return .refused("it does not say which page of the web asks")
        }
        if Self.isMixedContent(request, of: target) { return .refused(Self.mixedContent) }
        if page.isMirror {
            guard isNamed(page) || isMapped(page.authority) else {
                return .refused("the page is a mirror of \(page.authority), which the app has not named")
            }
            if let text = request.value(forHTTPHeaderField: "Origin") {
                let origin = WebOrigin(text)
                guard let origin, origin.isMirror, isNamed(origin) || isMapped(origin.authority) else {
                    return .refused("\(quoted(text)) asks, which is no mirror of the app's")
                }
            }
            if page == target.mirror {
                switch isAsked(by: page, request) {
                case true?: return .allowed(.all)
                // The page itself; or a picture, style or script of it, or of a frame in it.
                case nil where isReading: return .allowed(request.isForMainDocument ? .all : .fromElsewhere)
                default: break
                }
            }
        }
        guard isReading else {
            return .refused("its method is \(quoted(method)), and nothing tells that a page of the same site asks")
        }
        if let field = Self.fieldNeedingConsent(request) {
            return .refused("another site asks with the field \(quoted(field)), which needs consent")
        }
        return .allowed(.none)
    }

    /// Returns whether this page makes the request, and not a page in one of its frames; nil where no field says it.
    ///
    /// Engines name `Origin` to other origins and in forms, and `Referer` in scripts.
    private func isAsked(by page: WebOrigin, _ request: URLRequest) -> Bool? {
        (request.value(forHTTPHeaderField: "Origin") ?? request.value(forHTTPHeaderField: "Referer")).map {
            WebOrigin($0) == page
        }
    }

    /// The reason for refusing mixed content, as a sentence without its full stop.
    static let mixedContent = "the page came over https, and this is asked for without encryption"

    /// Returns whether a page of https, or its mirror, asks for something of plain http, or for its mirror (Mixed
    /// Content §4.4).
    static func isMixedContent(_ request: URLRequest, of target: WebOrigin) -> Bool {
        guard let page = WebOrigin(request.mainDocumentURL) else { return false }
        return page.isSecure && !target.isSecure && !request.isForMainDocument
    }

    /// A field that is not CORS-safelisted (Fetch §2.2.2), and that no engine writes itself; nil when there is none.
    static func fieldNeedingConsent(_ request: URLRequest) -> String? {
        let written = (request.allHTTPHeaderFields ?? [:]).filter { !isOfEngine($0.key, $0.value) }
        // Without either of them no script asks, and what engines write for pictures is as long as they like.
        let isScripted = ["Origin", "Referer"].contains { request.value(forHTTPHeaderField: $0) != nil }
        let isTooLong = isScripted && written.values.reduce(0) { $0 + $1.utf8.count } > SafelistedField.longestValues
        return written.filter { name, value in
            !SafelistedField.contains(name, value) || isTooLong
                || isScripted && value.utf8.count > SafelistedField.longestValue
        }
        .keys.min()
    }

    /// Returns whether a page gains nothing by this field: it is a forbidden request-header (Fetch §2.2.2), or has a
    /// value that a mode of `fetch` makes the engine write.
    private static func isOfEngine(_ name: String, _ value: String) -> Bool {
        switch name.lowercased() {
        case "accept-encoding", "dnt", "origin", "referer": true
        case "cache-control": ["no-cache", "max-age=0"].contains(value)
        case "pragma": value == "no-cache"
        case "upgrade-insecure-requests": value == "1"
        // Other sites get them only as the engine writes them, or not at all: `ForwardedHead.request(_:by:of:)`.
        case "if-modified-since", "if-none-match", "if-range", "user-agent": true
        case let name: name.hasPrefix("sec-") || name.hasPrefix("proxy-")
        }
    }
}

extension URLRequest {
    /// True for the request of the page itself, and of a script for the page's own address.
    var isForMainDocument: Bool {
        guard let page = mainDocumentURL?.absoluteString.prefix(while: { $0 != "#" }) else { return false }
        return url?.absoluteString.prefix { $0 != "#" } == page
    }
}
