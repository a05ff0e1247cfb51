import LocalSubstitutionCache
import SubstitutionRules

/// The translation of a site's content security policy (CSP3 §2.3) for the site's mirror.
///
/// The mirror of `https://host/path` is `substitution-https://host/path`. For each source that a page's policy allows,
/// the policy of the mirror page must also allow the source's mirror.
enum ContentPolicy {
    /// The policy that replaces a browser's check for mixed content (Mixed Content §4.4) in pages of https sites.
    ///
    /// WebKit does not check for mixed content in pages of an app's custom scheme. This policy forbids http, with one
    /// exception: images, audio and video may come from this machine without encryption. WebKitGTK 2.50 makes the same
    /// exception in original pages, but not for images of a `srcset`.
    private static let mixedContent = {
        let words = "'unsafe-inline' 'unsafe-eval' 'unsafe-hashes'"
        let secure = "https: wss: substitution-https: data: blob: about: filesystem:"
        let passive = "\(secure) http://127.0.0.1:* http://localhost:* http://*.localhost:*"
        // Pages load URLs such as `tel:` in frames, to start a call or a message in another app.
        let frames = "\(secure) tel: mailto: sms: facetime:"
        return "default-src \(secure) \(words); img-src \(passive); media-src \(passive); frame-src \(frames)"
    }()

    /// Translates the policies in a response's header fields.
    ///
    /// For an https site, this function also adds the policy for mixed content.
    static func translate(_ fields: inout [String: String], for site: WebOrigin) {
        let name = "content-security-policy"
        for key in fields.keys where [name, "\(name)-report-only"].contains(key.lowercased()) {
            fields[key] = fields[key].map { translated($0, for: site) }
        }
        guard site.isSecure else { return }
        let key = fields.keys.first { $0.lowercased() == name } ?? "Content-Security-Policy"
        fields[key] = fields[key].map { "\($0), \(mixedContent)" } ?? mixedContent
    }

    /// Returns the policies with the sources that the mirror page needs in addition.
    ///
    /// For a URL, a scheme or a host, its mirrors are added. For a host without a scheme, the original host is also
    /// added, with each scheme that the source allows. For `'self'`, the original site is added: in a mirror page,
    /// `'self'` means the mirror.
    static func translated(_ policies: String, for site: WebOrigin) -> String {
        var result = Array(policies.utf8)
        for addition in additions(to: result, for: site).reversed() {
            result.insert(contentsOf: addition.text.utf8, at: addition.offset)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the texts to insert into a list of policies, in order.
    ///
    /// Each text has the byte offset at which to insert it. The offset refers to the unchanged list.
    static func additions(to policies: [UInt8], for site: WebOrigin) -> [(offset: Int, text: String)] {
        policies.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }.flatMap { directive -> [(Int, String)] in
            // No host or scheme matches a word whose comparison would take quadratic time.
            let words = directive.split(whereSeparator: \.isHTMLSpace)
                .filter(\.isStreamSafe)
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

    /// Returns the sources to add beside one source.
    ///
    /// In the mirror page, this source and the added ones together allow what this source alone allows in the original
    /// page.
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
        // Keywords, schemes other than http and https, and URLs of such schemes.
        case _ where word.hasPrefix("'") || word.hasSuffix(":") || word.contains("://"): return []
        // A host without a scheme allows the page's scheme and https (CSP3 §6.7.2).
        default:
            let schemes = origin.isSecure ? ["https"] : ["http", "https"]
            return schemes.map { "\(MirrorURL.prefix)\($0)://\(source)" } + schemes.map { "\($0)://\(source)" }
        }
    }
}
