import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What changes in heads between a mirror page and the site that it mirrors.
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
    ///   - site: The origin of what was asked for, if a mirror page asks.
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
            case "content-security-policy", "content-security-policy-report-only":
                fields[name] = site.map { ContentPolicy.translated(value, for: $0) } ?? value
            case "access-control-allow-origin":
                // The site has answered its own name, which the mirror has not; an engine compares texts.
                let asker = origin.flatMap { WebOrigin($0) }
                fields[name] = asker?.isMirror == true && value == asker?.site ? origin : value
            default: fields[name] = value
            }
        }
        if isEncoded { fields = fields.filter { $0.key.lowercased() != "content-length" } }
        // What a scheme answers is kept by engines until the page's process ends.
        fields["Cache-Control"] = "no-cache"
        return fields
    }
}

/// A content security policy (CSP3 §2.3) of a site, in the words of its mirror.
enum ContentPolicy {
    /// The policy with the mirrors of all that it allows, and with what its mirror loads from the site itself.
    static func translated(_ policies: String, for site: WebOrigin) -> String {
        var result = Array(policies.utf8)
        for addition in additions(to: result, for: site).reversed() {
            result.insert(contentsOf: addition.text.utf8, at: addition.offset)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// What is to be written into a list of policies, and before which of its bytes, in their order.
    static func additions(to policies: [UInt8], for site: WebOrigin) -> [(offset: Int, text: String)] {
        policies.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }.flatMap { directive -> [(Int, String)] in
            let words = directive.split(whereSeparator: \.isHTMLSpace)
            guard let name = words.first, hasSources(String(decoding: name, as: UTF8.self)) else { return [] }
            let sources = words.dropFirst().map { (offset: $0.startIndex, text: String(decoding: $0, as: UTF8.self)) }
            var seen = Set(sources.map(\.text))
            return sources.map { source in
                let added = additions(to: source.text, site).filter { seen.insert($0).inserted }
                return (source.offset, added.map { $0 + " " }.joined())
            }
            .filter { !$1.isEmpty }
        }
    }

    private static func hasSources(_ directive: String) -> Bool {
        let name = directive.lowercased()
        return name.hasSuffix("-src") || name.hasSuffix("-src-elem") || name.hasSuffix("-src-attr")
            || ["base-uri", "form-action", "frame-ancestors", "navigate-to"].contains(name)
    }

    /// What a source means on the site, and does not say of the mirror.
    private static func additions(to source: String, _ origin: WebOrigin) -> [String] {
        let word = source.lowercased()
        switch word {
        case "'self'": return [origin.site]
        case "*": return MirrorURL.schemes.map { $0 + ":" }
        case "https:": return ["substitution-https:"]
        case "http:": return MirrorURL.schemes.map { $0 + ":" }
        case _ where word.hasPrefix("https://"): return [MirrorURL.prefix + source]
        case _ where word.hasPrefix("http://"):
            return [MirrorURL.prefix + source, "substitution-https" + source.dropFirst(4)]
        // Keywords, other schemes, and sources of another scheme.
        case _ where word.hasPrefix("'") || word.hasSuffix(":") || word.contains("://"): return []
        // A host alone means the page's scheme, and https.
        default:
            return MirrorURL.schemes.map { "\($0)://\(source)" } + ["https://\(source)"]
                + (origin.isSecure ? [] : ["http://\(source)"])
        }
    }
}
