import Foundation

/// The normal form of an http or https URL: two URLs are the same if their identities are equal.
///
/// It follows RFC 3986 §6.2.2 (case, percent-encoding, dot segments) and §6.2.3 with RFC 9110 §4.2.3 (default port,
/// empty path), and no other rules. The fragment is dropped: a request does not include it (RFC 9110 §4.2.5).
///
/// Foundation has no such normal form: `URL`'s `==` compares spellings, `.path` decodes `%2F` to `/`, and
/// `.standardized` does not change encoded dot segments, host case or ports. The text is parsed here and not by
/// `URL(string:)`, because that initialiser's leniency differs between systems.
package struct URLIdentity: Hashable, Sendable {
    /// `scheme://authority/path`, normalised.
    package let base: String
    /// The query, normalised; nil if there is no `?`.
    ///
    /// A URL with an empty query differs from a URL without a query.
    package let query: String?

    /// Parses an absolute http or https URL.
    ///
    /// Cost: linear in the length of the text.
    ///
    /// In path and query, non-ASCII characters are percent-encoded as UTF-8 of their NFC form. Some ASCII characters,
    /// such as `|` and `"`, must not be raw in a URL, but browsers and `URL` accept them. These characters are
    /// percent-encoded, too. In a query, browsers send two further characters raw (URL Standard §4.4): a backslash, and
    /// a "%" without two hexadecimal digits after it. Both are percent-encoded.
    package init(_ text: String) throws(URLProblem) {
        if let identity = Self.alreadyNormal(text) {
            self = identity
            return
        }
        let bytes = Array(text.composed.utf8)
        let (isSecure, authorityStart) = try Self.scheme(of: bytes)
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let pathEnd = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        let pathStart = bytes[authorityStart..<pathEnd].firstIndex(of: UInt8(ascii: "/")) ?? pathEnd

        var base = Array((isSecure ? "https://" : "http://").utf8)
        base.reserveCapacity(bytes.count + 2)
        try Self.appendAuthority(bytes[authorityStart..<pathStart], defaultPort: isSecure ? 443 : 80, to: &base)
        var path: [UInt8] = []
        try Self.appendNormalised(bytes[pathStart..<pathEnd], to: &path)
        Self.appendWithoutDotSegments(path, to: &base)
        self.base = String(decoding: base, as: UTF8.self)
        if pathEnd == end {
            query = nil
        } else {
            var query: [UInt8] = []
            try Self.appendNormalised(bytes[(pathEnd + 1)..<end], to: &query, asBrowsersSend: true)
            self.query = String(decoding: query, as: UTF8.self)
        }
    }

    private init(base: String, query: String?) {
        self.base = base
        self.query = query
    }

    /// True for each byte that a path or query in normal form may hold anywhere.
    ///
    /// A lookup in this list takes less time than the comparisons, and every miss of the table scans the URL.
    private static let isPlain = (0...UInt8.max).map { $0.isPathCharacter && $0 != UInt8(ascii: ".") }

    /// Returns the identity of a text that is already in normal form; nil if the text must be parsed.
    ///
    /// In most requests, the URL is in normal form.
    private static func alreadyNormal(_ text: String) -> URLIdentity? {
        let identity = text.utf8.withContiguousStorageIfAvailable { bytes -> URLIdentity? in
            let schemes: (StaticString, StaticString) = ("https://", "http://")
            let start =
                schemes.0.withUTF8Buffer(bytes.starts) ? 8 : schemes.1.withUTF8Buffer(bytes.starts) ? 7 : bytes.count
            guard var index = bytes[start...].firstIndex(where: { !$0.isPlainHostCharacter }),
                index > start, bytes[index] == UInt8(ascii: "/")
            else { return nil }
            var baseEnd: Int?
            let isPlain = isPlain
            while index < bytes.count {
                let byte = bytes[index]
                if !isPlain[Int(byte)] {
                    if byte == UInt8(ascii: "#") { break }
                    if byte == UInt8(ascii: "?") {
                        baseEnd = baseEnd ?? index
                    } else if byte != UInt8(ascii: ".") || bytes[index - 1] == UInt8(ascii: "/") {
                        return nil
                    }
                }
                index += 1
            }
            // Without query and fragment, the text is the base: reuse it instead of a copy.
            if index == bytes.count, baseEnd == nil { return URLIdentity(base: text, query: nil) }
            let base = String(decoding: bytes[..<(baseEnd ?? index)], as: UTF8.self)
            let query = baseEnd.map { String(decoding: bytes[($0 + 1)..<index], as: UTF8.self) }
            return URLIdentity(base: base, query: query)
        }
        return identity ?? nil
    }

    /// The path, from the first "/" after the authority; never empty.
    package var path: Substring {
        let authority = base.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        return base[(authority.firstIndex(of: UInt8(ascii: "/")) ?? base.endIndex)...]
    }

    /// The base after decoding the characters that need no percent-encoding in a path, with other escapes in NFC.
    ///
    /// URLs with different decoded bases are different. URLs with the same decoded base may differ in their
    /// percent-encoding. They count as the same only if all these differences are in the path below the URL of a folder
    /// entry.
    package var decodedBase: String { Self.decoded(base) }

    package static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let digits = bytes[(index + 1)...].prefix(2)
            let value = bytes[index] == UInt8(ascii: "%") ? digits.reduce(0) { $0 << 4 | $1.hexValue } : 0
            // The escapes of other characters are decoded for `composed`, and then encoded again.
            if value.isOftenEncoded || value >= 0x80 {
                result.append(value)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        if !result.contains(where: { $0 >= 0x80 }) { return String(decoding: result, as: UTF8.self) }
        let characters = String(bytes: result, encoding: .utf8).map { Array($0.composed.utf8) } ?? result
        result.removeAll()
        for byte in characters {
            if byte < 0x80 { result.append(byte) } else { appendEncoded(byte, to: &result) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns a part of a path or query, normalised as it would be inside a URL.
    static func normalised(_ part: some Collection<UInt8>) throws(URLProblem) -> String {
        var result: [UInt8] = []
        try appendNormalised(part, to: &result)
        return String(decoding: result, as: UTF8.self)
    }

    // MARK: - Scheme and authority

    private static func scheme(of bytes: [UInt8]) throws(URLProblem) -> (isSecure: Bool, end: Int) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes.first?.isASCIILetter == true,
            bytes[..<colon].allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) })
        else { throw .notAbsolute }
        let rest = bytes[(colon + 1)...]
        // A user who writes example.com:8080 means a host and its port, not a scheme.
        if rest.first?.isASCIIDigit == true { throw .notAbsolute }
        let scheme = bytes[..<colon].lazy.map(\.asciiLowercased)
        let isSecure = scheme.elementsEqual("https".utf8)
        guard isSecure || scheme.elementsEqual("http".utf8) else {
            throw .scheme(String(decoding: scheme, as: UTF8.self))
        }
        guard rest.starts(with: "//".utf8) else { throw .notAbsolute }
        return (isSecure, colon + 3)
    }

    private static func appendAuthority(
        _ authority: ArraySlice<UInt8>,
        defaultPort: Int,
        to result: inout [UInt8]
    ) throws(URLProblem) {
        if authority.contains(UInt8(ascii: "@")) { throw .userInfo }
        var host = authority
        var port: ArraySlice<UInt8> = []
        let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        if authority.first == UInt8(ascii: "["), bracket == authority.startIndex {
            throw .host(String(decoding: authority, as: UTF8.self))
        }
        if let colon = authority[bracket...].firstIndex(of: UInt8(ascii: ":")) {
            host = authority[..<colon]
            port = authority[(colon + 1)...]
        }
        if host.isEmpty { throw .noHost }
        if host.first == UInt8(ascii: "[") {
            try appendAddress(host, to: &result)
        } else {
            try appendName(host, to: &result)
        }
        guard port.allSatisfy(\.isASCIIDigit) else { throw .port(String(decoding: port, as: UTF8.self)) }
        if port.isEmpty { return }
        guard let number = Int(String(decoding: port, as: UTF8.self)), number <= 65_535 else {
            throw .port(String(decoding: port, as: UTF8.self))
        }
        if number != defaultPort { result.append(contentsOf: ":\(number)".utf8) }
    }

    /// Appends an `IP-literal` (RFC 3986 §3.2.2).
    ///
    /// Zone identifiers are refused, because no request to a server contains one.
    private static func appendAddress(_ host: ArraySlice<UInt8>, to result: inout [UInt8]) throws(URLProblem) {
        let address = host.dropFirst().dropLast()
        guard host.last == UInt8(ascii: "]"), address.count(where: { $0 == UInt8(ascii: ":") }) >= 2,
            address.allSatisfy({ $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
        else { throw .host(String(decoding: host, as: UTF8.self)) }
        result.append(contentsOf: host.map(\.asciiLowercased))
    }

    /// Appends a `reg-name` (RFC 3986 §3.2.2).
    ///
    /// Letters are lowercased, except the hexadecimal digits of bytes that stay percent-encoded.
    private static func appendName(_ host: ArraySlice<UInt8>, to result: inout [UInt8]) throws(URLProblem) {
        if host.contains(where: { $0 >= 0x80 }) { throw .nonASCIIHost(String(decoding: host, as: UTF8.self)) }
        guard host.allSatisfy({ $0.isUnreserved || $0.isSubDelimiter || $0 == UInt8(ascii: "%") }) else {
            throw .host(String(decoding: host, as: UTF8.self))
        }
        var name: [UInt8] = []
        try appendNormalised(host, to: &name)
        var index = name.startIndex
        while index < name.endIndex {
            if name[index] == UInt8(ascii: "%") {
                result.append(contentsOf: name[index..<(index + 3)])
                index += 3
            } else {
                result.append(name[index].asciiLowercased)
                index += 1
            }
        }
    }

    // MARK: - Path and query

    /// Copies `part` with its percent-encoding normalised (RFC 3986 §6.2.2.1 and §6.2.2.2).
    private static func appendNormalised(
        _ part: some Collection<UInt8>,
        to result: inout [UInt8],
        asBrowsersSend isLenient: Bool = false
    ) throws(URLProblem) {
        result.reserveCapacity(result.count + part.count)
        var index = part.startIndex
        while index < part.endIndex {
            let byte = part[index]
            part.formIndex(after: &index)
            switch byte {
            case UInt8(ascii: "%"):
                let digits = part[index...].prefix(2)
                guard digits.count == 2, digits.allSatisfy(\.isHexDigit) else {
                    guard isLenient else { throw .percent }
                    appendEncoded(byte, to: &result)
                    continue
                }
                let value = digits.reduce(0) { $0 << 4 | $1.hexValue }
                if value.isUnreserved { result.append(value) } else { appendEncoded(value, to: &result) }
                part.formIndex(&index, offsetBy: 2)
            case UInt8(ascii: " "):
                throw .space
            case UInt8(ascii: "\\"):
                guard isLenient else { throw .backslash }
                appendEncoded(byte, to: &result)
            case 0..<0x20, 0x7F:
                throw .control
            case _ where byte >= 0x80 || byte.isOne(of: "\"<>[]^`{|}"):
                appendEncoded(byte, to: &result)
            default:
                result.append(byte)
            }
        }
    }

    package static func appendEncoded(_ byte: UInt8, to result: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        result.append(contentsOf: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }

    /// Appends an absolute path without its dot segments (RFC 3986 §5.2.4).
    ///
    /// An empty path becomes "/" (RFC 9110 §4.2.3).
    private static func appendWithoutDotSegments(_ path: [UInt8], to result: inout [UInt8]) {
        let start = result.count
        let dot = UInt8(ascii: ".")
        let mayHaveDotSegments = path.indices.dropFirst().contains {
            path[$0] == dot && path[$0 - 1] == UInt8(ascii: "/")
        }
        if !mayHaveDotSegments {
            result.append(contentsOf: path.isEmpty ? [UInt8(ascii: "/")] : path)
            return
        }
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (number, segment) in segments.enumerated() {
            let isLast = number == segments.count - 1
            if segment.elementsEqual([dot]) {
                if isLast { result.append(UInt8(ascii: "/")) }
            } else if segment.elementsEqual([dot, dot]) {
                let parent = result[start...].lastIndex(of: UInt8(ascii: "/")) ?? start
                result.removeSubrange(parent...)
                if isLast { result.append(UInt8(ascii: "/")) }
            } else {
                result.append(UInt8(ascii: "/"))
                result.append(contentsOf: segment)
            }
        }
        if result.count == start { result.append(UInt8(ascii: "/")) }
    }
}

extension URLIdentity: CustomStringConvertible {
    /// The normal form of the whole URL.
    package var description: String { query.map { "\(base)?\($0)" } ?? base }
}

extension String {
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// The text in NFC.
    ///
    /// Percent-encoded bytes stay unchanged, even if a combining mark follows.
    var composed: String {
        if isASCII { return self }
        var result = ""
        var rest = unicodeScalars[...]
        while let percent = rest.firstIndex(of: "%") {
            result += String(rest[..<percent]).precomposedStringWithCanonicalMapping
            let end = rest.index(percent, offsetBy: 3, limitedBy: rest.endIndex) ?? rest.endIndex
            result += String(rest[percent..<end])
            rest = rest[end...]
        }
        return result + String(rest).precomposedStringWithCanonicalMapping
    }
}
