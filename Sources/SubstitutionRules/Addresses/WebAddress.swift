import Foundation
package import LocalSubstitutionCache

/// An address in an http or https page, as the basic URL parser reads it (URL Standard §4.4).
///
/// In URL parsing, http and https are special schemes: `\` means `/`, and in an https page `https:i.png` is a relative
/// address. The scheme of a mirror (``MirrorURL``) is not special, so an engine reads `\` and `https:i.png` differently
/// in a mirror. The parts of a ``WebAddress`` are spelled so that they have the same meaning in pages and in mirrors.
package enum WebAddress: Equatable {
    /// An http or https URL with a host.
    ///
    /// `rest` is the path, query and fragment.
    case absolute(scheme: String, authority: String, rest: [UInt8])
    /// A URL with a host but no scheme; its scheme is that of the page.
    case schemeRelative(authority: String, rest: [UInt8])
    /// A path, query or fragment.
    case relative([UInt8])
    /// A URL of any other scheme.
    case other

    /// The whole URL; nil unless the address is absolute.
    package var text: [UInt8]? {
        guard case .absolute(let scheme, let authority, let rest) = self else { return nil }
        return Array("\(scheme)://\(authority)".utf8) + rest
    }

    /// Parses an address.
    ///
    /// - Parameters:
    ///   - bytes: The address without the characters that a URL parser ignores (``SourceMappedText/address``).
    ///   - scheme: The scheme of the base URL, `http` or `https`; nil if there is no base URL.
    package init(_ bytes: [UInt8], from scheme: String?) {
        guard bytes.isStreamSafe else {
            self = .other
            return
        }
        guard let (own, rest) = Self.scheme(of: bytes) else {
            self = Self.relative(to: bytes[...])
            return
        }
        guard own == "http" || own == "https" else {
            self = .other
            return
        }
        // This is the URL Standard's state "special relative or authority".
        if own == scheme, !rest.starts(with: "//".utf8) {
            switch Self.relative(to: rest) {
            case .schemeRelative(let authority, let rest):
                self = .absolute(scheme: own, authority: authority, rest: rest)
            case .relative(let text) where !Self.standsAlone(text): self = .relative(Array("./".utf8) + text)
            case let address: self = address
            }
            return
        }
        let (authority, path) = Self.authority(rest)
        self = .absolute(scheme: own, authority: authority, rest: path)
    }

    /// Returns false if a parser would ignore the beginning of a relative address, or take it for a scheme.
    private static func standsAlone(_ text: [UInt8]) -> Bool {
        guard scheme(of: text) == nil, let first = text.first else { return text.isEmpty }
        return first >= 0x80 || first.isUnreserved || "/?#%".utf8.contains(first)
    }

    /// Splits off the scheme (scheme start state and scheme state); nil if there is none.
    private static func scheme(of bytes: [UInt8]) -> (String, ArraySlice<UInt8>)? {
        guard bytes.first?.isASCIILetter == true,
            let colon = bytes.firstIndex(where: { !($0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0)) }),
            bytes[colon] == UInt8(ascii: ":")
        else { return nil }
        return (String(decoding: bytes[..<colon].map(\.asciiLowercased), as: UTF8.self), bytes[(colon + 1)...])
    }

    /// Parses an address without a scheme (relative state and relative slash state).
    private static func relative(to text: ArraySlice<UInt8>) -> WebAddress {
        guard text.prefix(2).count == 2, text.prefix(2).allSatisfy(isSlash) else { return .relative(written(text)) }
        let (authority, rest) = authority(text)
        return .schemeRelative(authority: authority, rest: rest)
    }

    /// Splits off the authority.
    ///
    /// This function follows the URL Standard's states "special authority ignore slashes", "authority" and "host".
    private static func authority(_ text: ArraySlice<UInt8>) -> (String, rest: [UInt8]) {
        let text = text.drop(while: isSlash)
        let end = text.firstIndex { isSlash($0) || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let authority = String(decoding: text[..<(end ?? text.endIndex)], as: UTF8.self)
        return (authority, written(text[(end ?? text.endIndex)...]))
    }

    /// Returns a path and query with replacements for `\` and `'`.
    ///
    /// A parser treats these two characters specially only in http and https URLs (path state and query state). The
    /// fragment stays unchanged.
    private static func written(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var isQuery = false
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        for (index, byte) in zip(text.indices, text) {
            switch byte {
            case UInt8(ascii: "#"): return result + text[index...]
            case UInt8(ascii: "?"):
                isQuery = true
                result.append(byte)
            case UInt8(ascii: "\\") where !isQuery: result.append(UInt8(ascii: "/"))
            // The `'` is in the special-query percent-encode set (§1.3).
            case UInt8(ascii: "'") where isQuery: result += "%27".utf8
            default: result.append(byte)
            }
        }
        return result
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
}

extension WebAddress {
    /// Returns the URL to which this address leads.
    ///
    /// - Parameter base: The URL of the page, stylesheet or script; the address was parsed with this URL's scheme.
    /// - Returns: The URL; nil for a mere fragment, and for what is no http or https URL.
    package func url(from base: URLIdentity) -> URLIdentity? {
        let text: String
        switch self {
        case .other: return nil
        case .absolute(let scheme, let authority, let rest):
            text = "\(scheme)://\(authority)\(String(decoding: rest, as: UTF8.self))"
        case .schemeRelative(let authority, let rest):
            text = "\(base.scheme)://\(authority)\(String(decoding: rest, as: UTF8.self))"
        case .relative(let bytes):
            let rest = String(decoding: bytes, as: UTF8.self)
            switch rest.first {
            case nil, "#": return nil
            case "?": text = base.base + rest
            case "/": text = base.base.dropLast(base.path.count) + rest
            default: text = base.folder + rest
            }
        }
        return try? URLIdentity(text.replacingOccurrences(of: " ", with: "%20"))
    }
}

extension URLIdentity {
    /// `http` or `https`.
    package var scheme: String { String(base.prefix { $0 != ":" }) }

    /// The host, and the port if it is not the scheme's default.
    package var authority: Substring { base.dropLast(path.count).drop { $0 != "/" }.dropFirst(2) }

    /// The URL up to and including the last slash of its path.
    package var folder: String { String(base[...(base.lastIndex(of: "/") ?? base.startIndex)]) }
}
