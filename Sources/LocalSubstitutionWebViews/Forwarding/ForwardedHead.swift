import Foundation
import SubstitutionRules

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Translates heads between a mirror page and the site that it mirrors.
enum ForwardedHead {
    /// The most bytes of a body that are sent.
    static let longestBody = 64 << 20

    /// The request as the site gets it: in the words of the original, and without what would bring a 304.
    ///
    /// A body that is data stays.
    static func request(_ request: URLRequest, to original: URL) -> URLRequest {
        var result = request
        result.url = original
        result.mainDocumentURL = request.mainDocumentURL.map { MirrorURL.original(of: $0) ?? $0 }
        // Nothing is kept that a policy could be about, and one of them switches the library off.
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

    /// The request for another site than that of the page: without values that the page may have written into fields
    /// which engines write, too.
    ///
    /// - Parameters:
    ///   - request: Of a page, or of a redirect that leaves its site, in the words of the original.
    ///   - agent: The engine's own `User-Agent`; nil when it is not known.
    ///   - asker: The origin to name where `Origin` does not; nil for none.
    /// - Returns: The request with that `User-Agent`, with no more of the page's URL than its origin, as engines send
    ///   by default (Referrer Policy §3.8), and without a condition on a range: the whole is always right (RFC 9110
    ///   §14.2).
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

    /// The request with its body as data, also when that was a stream, as it is of every script's request.
    ///
    /// A redirect may want it again, and servers want to know its length.
    ///
    /// - Returns: The request; nil when its body is too long, or cannot be read.
    static func withBody(_ request: URLRequest) async -> URLRequest? {
        guard let stream = request.httpBodyStream else {
            return request.httpBody?.count ?? 0 > longestBody ? nil : request
        }
        // Nobody else reads it.
        nonisolated(unsafe) let source = stream
        let body = await withCheckedContinuation { done in
            // Reading may wait, which no thread may that tasks share.
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

    /// The fields of an answer as a page gets them.
    ///
    /// - Parameters:
    ///   - response: What the site answered.
    ///   - site: The origin of what was asked for.
    ///   - origin: The request's own `Origin`, if it has one.
    /// - Returns: Without what is true of the site's own connection only.
    static func fields(of response: HTTPURLResponse, for site: WebOrigin?, origin: String?) -> [String: String] {
        var fields: [String: String] = [:]
        var isEncoded = false
        for case let (name as String, value as String) in response.allHeaderFields {
            switch name.lowercased() {
            // URL loading has decoded the body, and keeps cookies itself.
            case "content-encoding": isEncoded = true
            case "set-cookie", "transfer-encoding", "connection", "keep-alive", "strict-transport-security", "alt-svc",
                "cache-control", "expires", "age":
                continue
            case "access-control-allow-origin":
                // The site has answered its own name, which the mirror has not; an engine compares texts.
                let asker = origin.flatMap { WebOrigin($0) }
                fields[name] = asker?.isMirror == true && value == asker?.site ? origin : value
            default: fields[name] = value
            }
        }
        if isEncoded { fields = fields.filter { $0.key.lowercased() != "content-length" } }
        if let site { ContentPolicy.translate(&fields, for: site) }
        // What a scheme answers is kept by engines until the page's process ends.
        fields["Cache-Control"] = "no-cache"
        return fields
    }
}
