import Foundation
import LocalSubstitutionCache
import SubstitutionRules

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
        guard case .absolute(let scheme, let authority, let rest) = WebAddress(Array(String(trimmed).utf8), from: nil),
            !authority.contains("@")
        else { return nil }
        return normalForm("\(scheme)://\(authority)\(encoded(rest))")
    }

    /// Returns the normal form of a URL, without its fragment; nil if a manifest cannot contain the URL.
    static func normalForm(_ url: String) -> String? { (try? URLPattern(requested: url))?.identityKey }

    /// Creates the URL to which a browser resolves a reference in a page or stylesheet; nil if it is no http or https
    /// URL.
    init?(reference text: String, in base: URL) {
        let scheme = base.scheme?.lowercased() ?? "https"
        let url: URL?
        switch WebAddress(Array(text.utf8), from: scheme) {
        case .absolute(let own, let authority, let rest):
            url = URL(string: "\(own)://\(authority)\(Self.encoded(rest))")
        case .schemeRelative(let authority, let rest):
            url = URL(string: "\(scheme)://\(authority)\(Self.encoded(rest))")
        case .relative(let rest): url = URL(string: Self.encoded(rest), relativeTo: base)?.absoluteURL
        case .other: return nil
        }
        guard let url else { return nil }
        self = url
    }

    /// Percent-encodes the bytes that a URL may not hold, and each "%" that begins no escape.
    private static func encoded(_ part: [UInt8]) -> String {
        var result: [UInt8] = []
        for (index, byte) in part.enumerated() {
            let digits = part[(index + 1)...].prefix(2)
            let isEscape = byte == UInt8(ascii: "%") && digits.count == 2 && digits.allSatisfy(\.isHexDigit)
            if isEscape || byte.isPathCharacter || "?#".utf8.contains(byte) {
                result.append(byte)
            } else {
                URLIdentity.appendEncoded(byte, to: &result)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
