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
}

extension URLIdentity {
    /// Parses an absolute http or https URL.
    ///
    /// Cost: linear in the length of the text.
    ///
    /// In path and query, non-ASCII characters are percent-encoded as UTF-8 of their NFC form. Some ASCII characters,
    /// such as `|` and `"`, must not be raw in a URL, but browsers and `URL` accept them. These characters are
    /// percent-encoded, too. In a query, browsers send two further characters raw (URL Standard §4.4): a backslash, and
    /// a "%" without two hexadecimal digits after it. Both are percent-encoded.
    package init(_ text: String) throws(URLProblem) {
        let bytes = Array(text.composed.utf8)
        let (isSecure, authorityStart) = try Self.scheme(of: bytes)
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let pathEnd = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        let pathStart = bytes[authorityStart..<pathEnd].firstIndex(of: UInt8(ascii: "/")) ?? pathEnd

        let authority = try Self.authority(bytes[authorityStart..<pathStart], defaultPort: isSecure ? 443 : 80)
        let path = Self.withoutDotSegments(try Self.normal(bytes[pathStart..<pathEnd]))
        let query = pathEnd == end ? nil : try Self.normal(bytes[(pathEnd + 1)..<end], asBrowsersSend: true)
        self.init(
            base: (isSecure ? "https://" : "http://") + String(decoding: authority + path, as: UTF8.self),
            query: query.map { String(decoding: $0, as: UTF8.self) }
        )
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
        var rest = text.utf8[...]
        var result: [UInt8] = []
        while let byte = rest.popFirst() {
            let value = byte == UInt8(ascii: "%") ? rest.prefix(2).reduce(0) { $0 << 4 | $1.hexValue } : 0
            // The escapes of other characters are decoded for `composed`, and then encoded again.
            let isDecoded = value.isOftenEncoded || value >= 0x80
            result.append(isDecoded ? value : byte)
            if isDecoded { rest = rest.dropFirst(2) }
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
        String(decoding: try normal(part), as: UTF8.self)
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

    /// Returns the host and, unless it is the default, the port.
    private static func authority(
        _ authority: ArraySlice<UInt8>,
        defaultPort: Int
    ) throws(URLProblem) -> [UInt8] {
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
        let name = try host.first == UInt8(ascii: "[") ? address(host) : self.name(host)
        let digits = String(decoding: port, as: UTF8.self)
        let number = port.isEmpty ? defaultPort : Int(digits)
        guard port.allSatisfy(\.isASCIIDigit), let number, number <= 65_535 else { throw .port(digits) }
        return number == defaultPort ? name : name + ":\(number)".utf8
    }

    /// Returns the normal form of an `IP-literal` (RFC 3986 §3.2.2).
    ///
    /// Zone identifiers are refused, because no request to a server contains one.
    private static func address(_ host: ArraySlice<UInt8>) throws(URLProblem) -> [UInt8] {
        let address = host.dropFirst().dropLast()
        guard host.last == UInt8(ascii: "]"), address.count(where: { $0 == UInt8(ascii: ":") }) >= 2,
            address.allSatisfy({ $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
        else { throw .host(String(decoding: host, as: UTF8.self)) }
        return host.map(\.asciiLowercased)
    }

    /// Returns the normal form of a `reg-name` (RFC 3986 §3.2.2).
    private static func name(_ host: ArraySlice<UInt8>) throws(URLProblem) -> [UInt8] {
        if host.contains(where: { $0 >= 0x80 }) { throw .nonASCIIHost(String(decoding: host, as: UTF8.self)) }
        guard host.allSatisfy({ $0.isUnreserved || $0.isSubDelimiter || $0 == UInt8(ascii: "%") }) else {
            throw .host(String(decoding: host, as: UTF8.self))
        }
        // Normalising again makes the hexadecimal digits of bytes that stay percent-encoded upper case.
        return try normal(normal(host).map(\.asciiLowercased))
    }

    // MARK: - Path and query

    /// Returns `part` with its percent-encoding normalised (RFC 3986 §6.2.2.1 and §6.2.2.2).
    private static func normal(
        _ part: some Collection<UInt8>,
        asBrowsersSend isLenient: Bool = false
    ) throws(URLProblem) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(part.count)
        var rest = part[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy(\.isHexDigit) else {
                    guard isLenient else { throw .percent }
                    appendEncoded(byte, to: &result)
                    continue
                }
                let value = digits.reduce(0) { $0 << 4 | $1.hexValue }
                if value.isUnreserved { result.append(value) } else { appendEncoded(value, to: &result) }
                rest = rest.dropFirst(2)
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
        return result
    }

    package static func appendEncoded(_ byte: UInt8, to result: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        result.append(contentsOf: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }

    /// Returns an absolute path without its dot segments (RFC 3986 §5.2.4).
    ///
    /// An empty path becomes "/" (RFC 9110 §4.2.3).
    private static func withoutDotSegments(_ path: [UInt8]) -> [UInt8] {
        // Most paths have no dot segments.
        let mayHaveDots = zip(path, path.dropFirst()).contains { $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: ".") }
        if !mayHaveDots { return path.isEmpty ? [UInt8(ascii: "/")] : path }
        var kept: [ArraySlice<UInt8>] = []
        var isFolder = false
        for segment in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            let isParent = segment.elementsEqual("..".utf8)
            isFolder = isParent || segment.elementsEqual(".".utf8)
            if isParent { _ = kept.popLast() } else if !isFolder { kept.append(segment) }
        }
        // After a dot segment, the path ends in "/".
        if isFolder { kept.append([]) }
        return kept.flatMap { [UInt8(ascii: "/")] + $0 }
    }
}

extension URLIdentity: CustomStringConvertible {
    /// The normal form of the whole URL.
    package var description: String { query.map { "\(base)?\($0)" } ?? base }
}

extension String {
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// The text in NFC; unchanged if it is not stream-safe (see ``isStreamSafe``), or longer than 64 KB.
    ///
    /// For these, Foundation would take quadratic time. Percent-encoded bytes stay unchanged, even if a combining mark
    /// follows.
    package var composed: String {
        if isASCII || utf8.count > 1 << 16 || !isStreamSafe { return self }
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

/// The reason why a text is not a URL that can be looked up.
package enum URLProblem: Error, Equatable {
    case notAbsolute
    case scheme(String)
    case userInfo
    case noHost
    case host(String)
    case nonASCIIHost(String)
    case port(String)
    case percent
    case space
    case backslash
    case control
    case fragment
    /// The key begins or ends with spaces; the associated value is the key without these spaces.
    case spaceAround(String)
    case invisible(Unicode.Scalar)

    /// Returns the clause that says what is wrong with `url`, without the user name and password in it.
    package func cause(in url: String) -> String {
        let subject = quoted(url)
        return switch self {
        case .notAbsolute: "\(subject) is not a whole URL"
        case .scheme(let scheme): "\(subject) begins with \(quoted(scheme + ":")), not with https: or http:"
        case .userInfo: "\(subject) holds a user name"
        case .noHost: "\(subject) names no server"
        case .host, .nonASCIIHost: "\(subject) has a server's name that a URL cannot have"
        case .port: "\(subject) has a port that is not a number up to 65535"
        case .percent: "\(subject) has a \"%\" without two hexadecimal digits after it"
        case .space: "\(subject) has a space"
        case .backslash: "\(subject) has a backslash"
        case .control: "\(subject) has a control character"
        case .fragment: "\(subject) has a \"#\", and what follows it is never sent to a server"
        case .spaceAround: "\(subject) has a space at its beginning or end"
        case .invisible(let scalar):
            "\(subject) has an invisible character (\(scalar.properties.name?.lowercased() ?? "no name"))"
        }
    }
}
