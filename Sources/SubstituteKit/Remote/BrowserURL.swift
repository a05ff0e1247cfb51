import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// The URL that a browser derives from a text (URL Standard).
///
/// Details that make no difference to a server or a manifest are ignored.
enum BrowserURL {
    /// An http or https URL in its normal form, without its fragment.
    case url(String)
    /// An http or https URL that a browser refuses.
    case invalid
    /// A relative address, a URL with a user name or password, or a URL whose scheme is neither http nor https.
    case other

    init(_ text: String) { self = Self.read(text) }

    private static func read(_ text: String) -> Self {
        // Ignore spaces and control characters at both ends, and all line breaks and tabs (§4.4).
        let trimmed = text.trimmingCharacters(in: CharacterSet(charactersIn: "\u{0}"..." ")).unicodeScalars.filter {
            !["\t", "\n", "\r"].contains($0)
        }
        guard case .absolute(let scheme, let authority, let rest) = WebAddress(Array(String(trimmed).utf8), from: nil)
        else { return .other }
        // A manifest cannot contain a URL with a user name. The output must not repeat the password of such a URL.
        let server = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard ["", "@", ":@"].contains(authority.dropLast(server.count)) else { return .other }
        guard let authority = self.authority(server) else { return .invalid }
        return .url(normalForm(of: "\(scheme)://\(authority)" + encoded(rest.prefix { $0 != UInt8(ascii: "#") })))
    }

    /// Returns the URL of a request in its normal form.
    static func normalForm(_ url: URL) -> String { normalForm(of: url.absoluteString) }

    /// Returns the normal form of a URL; returns the URL unchanged if a manifest cannot contain the URL.
    private static func normalForm(of url: String) -> String {
        (try? URLPattern(requested: url))?.identityKey ?? url
    }

    // MARK: - Authority

    /// Returns the host and port that a browser sends; nil if a browser refuses the URL.
    private static func authority(_ server: Substring) -> String? {
        let bracket = server.lastIndex(of: "]") ?? server.startIndex
        let colon = server[bracket...].firstIndex(of: ":") ?? server.endIndex
        let port = server[colon...].dropFirst()
        guard let host = host(String(server[..<colon])), port.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            (Int(port) ?? 0) <= 65_535, port.drop(while: { $0 == "0" }).count <= 5
        else { return nil }
        return host + (port.isEmpty ? "" : ":\(port)")
    }

    /// Parses a host (§3.5); returns nil for an invalid host.
    private static func host(_ text: String) -> String? {
        if text.hasPrefix("[") { return address6(text) }
        guard !text.isEmpty, let decoded = text.percentDecoded else { return nil }
        let isASCII = decoded.utf8.allSatisfy { $0 < 0x80 }
        // Let `URL` map the host, because Foundation implements the mapping table of UTS #46.
        let mapped = isASCII ? nil : URL(string: "http://\(decoded)/")?.absoluteString.dropFirst(7).dropLast()
        guard let name = isASCII ? decoded.lowercased() : mapped.map(String.init), !name.isEmpty,
            !name.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || "#/:<>?@[\\]^|%".utf8.contains($0) })
        else { return nil }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let last = (labels.count > 1 && labels.last == "" ? labels.dropLast() : labels[...]).last ?? ""
        let isHexadecimal = last.hasPrefix("0x") && last.dropFirst(2).allSatisfy(\.isHexDigit)
        return !last.isEmpty && last.allSatisfy(\.isNumber) || isHexadecimal ? address4(name) : name
    }

    /// Parses an IPv4 address (§3.5).
    ///
    /// The numbers may be hexadecimal or octal, and the last number may stand for several bytes.
    private static func address4(_ text: String) -> String? {
        var address = in_addr()
        guard inet_aton(text.hasSuffix(".") ? String(text.dropLast()) : text, &address) != 0 else { return nil }
        return withUnsafeBytes(of: address) { $0.map(String.init).joined(separator: ".") }
    }

    /// Parses an IPv6 address, and returns its hexadecimal form without dotted decimal numbers (§3.5).
    private static func address6(_ text: String) -> String? {
        var address = in6_addr()
        guard text.hasSuffix("]"), inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1 else {
            return nil
        }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        let short = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard short.contains("."), let colon = short.lastIndex(of: ":") else { return "[\(short)]" }
        let bytes = withUnsafeBytes(of: address) { $0[12...].map(Int.init) }
        let last = [bytes[0] << 8 | bytes[1], bytes[2] << 8 | bytes[3]].map { String($0, radix: 16) }
        return "[\(short[...colon])\(last.joined(separator: ":"))]"
    }

    // MARK: - Path and query

    /// Percent-encodes the bytes that a URL cannot contain; `normalForm` does all further normalisation.
    private static func encoded(_ part: some Sequence<UInt8>) -> String {
        part.map { (0x21..<0x7F).contains($0) ? String(UnicodeScalar($0)) : String(format: "%%%02X", $0) }.joined()
    }
}

extension URL {
    /// Creates a URL from the text of a browser's request; nil if Foundation cannot parse it.
    ///
    /// Browsers leave some characters raw, such as "|" and "[", that RFC 3986 does not allow. If a text has such a
    /// character, `URL(string:)` encodes every "%" once more. So this initialiser encodes these characters first.
    init?(ofBrowser text: String) {
        let isWeb = text.prefix(8).lowercased().hasPrefix("http")
        self.init(string: isWeb ? (try? URLPattern(requested: text))?.targetURL ?? text : text)
    }

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
