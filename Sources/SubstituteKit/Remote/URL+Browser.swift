import Foundation
import LocalSubstitutionCache
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URL {
    /// Creates a URL from the text of a browser's request; nil if Foundation cannot parse it.
    ///
    /// Browsers leave some characters raw, such as "|" and "[", that RFC 3986 does not allow. If a text has such a
    /// character, `URL(string:)` encodes every "%" once more. So this initialiser encodes these characters first.
    init?(ofBrowser text: String) {
        let isWeb = text.prefix(8).lowercased().hasPrefix("http")
        self.init(string: isWeb ? (try? URLPattern(requested: text))?.targetURL ?? text : text)
    }

    /// Returns the http or https URL that a browser derives from a text (URL Standard), in its normal form.
    ///
    /// Nil for a relative address, and for a URL with a user name or password, which the output must not repeat.
    static func normalForm(ofTyped text: String) -> String? {
        // Browsers ignore spaces and control characters at both ends, and all line breaks and tabs (§4.4).
        let trimmed = text.trimmingCharacters(in: CharacterSet(charactersIn: "\u{0}"..." ")).unicodeScalars.filter {
            !["\t", "\n", "\r"].contains($0)
        }
        let address = WebAddress(Array(String(trimmed).utf8), from: nil)
        guard case .absolute(_, let authority, _) = address, !authority.contains(where: "@ ".contains),
            let base = try? URLIdentity("https://base.invalid/")
        else { return nil }
        return address.url(from: base).flatMap { normalForm($0.description) }
    }

    /// Returns the normal form of a URL, without its fragment; nil if a manifest cannot contain the URL.
    static func normalForm(_ url: String) -> String? { (try? URLPattern(requested: url))?.identityKey }

    /// Creates the URL to which a browser resolves a reference in a page or stylesheet; nil if it is no http or https
    /// URL.
    init?(reference text: String, in base: URL) {
        guard let base = try? URLIdentity(base.absoluteString),
            let url = WebAddress(Array(text.utf8), from: base.scheme).url(from: base)
        else { return nil }
        self.init(string: url.description)
    }
}

extension URLRequest {
    /// Creates a request; without a method, it is GET.
    init(_ url: URL, method: String?) {
        self.init(url: url)
        httpMethod = method
    }
}
