import Foundation
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Translates the heads of requests and responses between a mirror page and the original site.
///
/// The mirror of `https://host/path` is `substitution-https://host/path`. The site must not receive such URLs.
enum ForwardedHead {
    /// The largest request body that is sent, in bytes.
    static let longestBody = 64 << 20

    /// Returns the request as the site receives it.
    ///
    /// All mirror URLs are replaced by their originals. Fields that could lead to a 304 are removed, because an engine
    /// accepts no 304 on a custom scheme. The body stays unchanged.
    static func request(_ request: URLRequest, to original: URL) -> URLRequest {
        var result = request
        result.url = original
        result.mainDocumentURL = request.mainDocumentURL.map { MirrorURL.original(of: $0) ?? $0 }
        // Leave out the engine's cache policy: the forwarder's sessions have no cache, and one of the policies would
        // switch this library off.
        result.cachePolicy = .useProtocolCachePolicy
        for name in ["Accept-Encoding", "If-None-Match", "If-Modified-Since", "Cookie"] {
            result.setValue(nil, forHTTPHeaderField: name)
        }
        if let origin = request.value(forHTTPHeaderField: "Origin").flatMap({ WebOrigin($0) }) {
            result.setValue(origin.site, forHTTPHeaderField: "Origin")
        }
        if let page = request.value(forHTTPHeaderField: "Referer").flatMap({ URL(string: $0) }) {
            result.setValue((MirrorURL.original(of: page) ?? page).absoluteString, forHTTPHeaderField: "Referer")
        }
        return result
    }

    /// Returns the request as it is sent to a site other than the page's own.
    ///
    /// A page can set some of the fields that engines write. The page's values of such fields are not sent to another
    /// site.
    ///
    /// - Parameters:
    ///   - request: The request of a page, or the next request after a redirect to another site. Its mirror URLs have
    ///     been replaced.
    ///   - agent: The engine's own `User-Agent`; nil if it is unknown.
    ///   - asker: The origin to add if there is no `Origin` field; nil to add none.
    /// - Returns: The request with the engine's `User-Agent`. `Referer` is reduced to the origin, as engines do by
    ///   default (Referrer Policy §3.8). If the request has `If-Range`, this field and `Range` are removed: a server
    ///   may always send the whole response (RFC 9110 §14.2).
    static func request(_ request: URLRequest, by agent: String?, of asker: WebOrigin?) -> URLRequest {
        var result = request
        result.setValue(agent, forHTTPHeaderField: "User-Agent")
        if let page = request.value(forHTTPHeaderField: "Referer") {
            result.setValue(WebOrigin(page).map { $0.site + "/" }, forHTTPHeaderField: "Referer")
        }
        if request.value(forHTTPHeaderField: "Origin") == nil, let asker {
            result.setValue(asker.site, forHTTPHeaderField: "Origin")
        }
        if request.value(forHTTPHeaderField: "If-Range") != nil {
            result.setValue(nil, forHTTPHeaderField: "If-Range")
            result.setValue(nil, forHTTPHeaderField: "Range")
        }
        return result
    }

    /// Returns the request with its body as data, even if the body was a stream.
    ///
    /// Engines pass on the bodies of scripts' requests as streams. Data is needed because the body may be sent again
    /// after a redirect, and because servers need its length.
    ///
    /// - Returns: The request; nil if its body is too long or cannot be read.
    static func withBody(_ request: URLRequest) async -> URLRequest? {
        guard let stream = request.httpBodyStream else {
            return request.httpBody?.count ?? 0 > longestBody ? nil : request
        }
        // No other code reads this stream.
        nonisolated(unsafe) let source = stream
        let body = await withCheckedContinuation { done in
            // Reading may block, which is not allowed on the threads that Swift's tasks share.
            DispatchQueue.global().async { done.resume(returning: data(from: source)) }
        }
        guard let body else { return nil }
        var result = request
        result.httpBodyStream = nil
        result.httpBody = body
        return result
    }

    private static func data(from stream: InputStream) -> Data? {
        stream.open()
        defer { stream.close() }
        var body = Data()
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while body.count <= longestBody {
            let count = stream.read(&part, maxLength: part.count)
            if count < 0 { return nil }
            if count == 0 { return body }
            body.append(contentsOf: part[..<count])
        }
        return nil
    }

    /// Returns the header fields of a response as the page receives them.
    ///
    /// - Parameters:
    ///   - response: The response of the site.
    ///   - site: The origin of the requested URL.
    ///   - origin: The request's own `Origin` field, if it has one.
    /// - Returns: The fields, without those about cookies, freshness, encoding and the connection to the site.
    ///   `Cache-Control` is always `no-cache`.
    static func fields(of response: HTTPURLResponse, for site: WebOrigin?, origin: String?) -> [String: String] {
        var fields: [String: String] = [:]
        var isEncoded = false
        for case let (name as String, value as String) in response.allHeaderFields {
            switch name.lowercased() {
            // URL loading has already decoded the body, and `PageCookies` has stored the cookies.
            case "content-encoding": isEncoded = true
            case "set-cookie", "transfer-encoding", "connection", "keep-alive", "strict-transport-security", "alt-svc",
                "cache-control", "expires", "age":
                continue
            case "access-control-allow-origin":
                // The site names the origin of the original page. Name the origin of the mirror page instead, because
                // an engine compares the field with that origin.
                let asker = origin.flatMap { WebOrigin($0) }
                fields[name] = asker?.isMirror == true && value == asker?.site ? origin : value
            default: fields[name] = value
            }
        }
        if isEncoded { fields = fields.filter { $0.key.lowercased() != "content-length" } }
        if let site { ContentPolicy.translate(&fields, for: site) }
        // Without this, engines keep the responses of a custom scheme until the page's process ends.
        fields["Cache-Control"] = "no-cache"
        return fields
    }
}
