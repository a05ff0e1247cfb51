import SubstitutionRules

/// The translation of a site's content security policy (CSP3 §2.3) for the site's mirror.
///
/// The mirror of `https://host/path` is `substitution-https://host/path`. The policy of a page must also allow the
/// mirrors of the sources that it allows.
enum ContentPolicy {
    /// The policy that replaces a browser's check for mixed content (Mixed Content §4.4).
    ///
    /// WebKit does not check for mixed content in pages of an app's custom scheme. As on a real page in WebKitGTK 2.50,
    /// images, audio and video may be loaded from this machine without encryption.
    private static let mixedContent = {
        let words = "'unsafe-inline' 'unsafe-eval' 'unsafe-hashes'"
        let secure = "https: wss: substitution-https: data: blob: about: filesystem:"
        let passive = "\(secure) http://127.0.0.1:* http://localhost:* http://*.localhost:*"
        // Pages also use frames to start a call or a mail in another app.
        let frames = "\(secure) tel: mailto: sms: facetime:"
        return "default-src \(secure) \(words); img-src \(passive); media-src \(passive); frame-src \(frames)"
    }()

    /// Translates the policies in a response's header fields; for an https site, also adds the one for mixed content.
    static func translate(_ fields: inout [String: String], for site: WebOrigin) {
        let name = "content-security-policy"
        for key in fields.keys where [name, "\(name)-report-only"].contains(key.lowercased()) {
            fields[key] = fields[key].map { translated($0, for: site) }
        }
        guard site.isSecure else { return }
        let key = fields.keys.first { $0.lowercased() == name } ?? "Content-Security-Policy"
        fields[key] = fields[key].map { "\($0), \(mixedContent)" } ?? mixedContent
    }

    /// Returns the policies with added sources for the mirror page.
    ///
    /// The added sources are the mirror of each source and, for `'self'` and hosts without a scheme, also the original
    /// site.
    static func translated(_ policies: String, for site: WebOrigin) -> String {
        var result = Array(policies.utf8)
        for addition in additions(to: result, for: site).reversed() {
            result.insert(contentsOf: addition.text.utf8, at: addition.offset)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the texts to insert into a list of policies, in order, each with its byte offset in the old list.
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

    /// Returns the sources to add to one source, so that it allows in the mirror what it allows on the site.
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
        // Keywords, other schemes, and URLs of other schemes.
        case _ where word.hasPrefix("'") || word.hasSuffix(":") || word.contains("://"): return []
        // A host without a scheme allows the page's scheme and https (CSP3 §6.7.2).
        default:
            let schemes = origin.isSecure ? ["https"] : ["http", "https"]
            return schemes.map { "\(MirrorURL.prefix)\($0)://\(source)" } + schemes.map { "\($0)://\(source)" }
        }
    }
}
