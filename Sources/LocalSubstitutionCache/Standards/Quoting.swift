public import Foundation

/// Returns `text` in quotation marks, safe to print in a message.
///
/// The text may be from a manifest, a file name or a request. Characters that are invisible or change the direction of
/// text are written as `\u{…}`, so that a name cannot rewrite the line in which it is printed. The user information of
/// URLs is left out; pass a whole URL, because it is not found in a part. Then the text is cut after 200 scalars,
/// unless `limit` is given.
package func quoted(_ text: String, limit: Int = 200) -> String {
    "\"" + shortened(text, limit: limit) + "\""
}

/// Returns the same text as `quoted(_:limit:)`, without quotation marks.
package func shortened(_ text: String, limit: Int = 200) -> String {
    let text = withoutUserInformation(text)
    let start = text.unicodeScalars.prefix(limit)
    return printable(String(start)) + (start.endIndex == text.endIndex ? "" : "…")
}

/// Returns the text as `quoted(_:limit:)` shows it, but not cut, and without quotation marks.
package func visible(_ text: some StringProtocol) -> String { printable(withoutUserInformation(text)) }

/// Returns the text with "…" instead of the user information of each URL (RFC 3986 §3.2.1).
///
/// That is what stands between "//" and the last "@" before the next "/", "?", "#", quotation mark or white space. The
/// slashes may not follow a name, as in `img//logo@2x.png`.
package func withoutUserInformation(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(UInt8(ascii: "@")) else { return String(text) }
    let information = #"(?<![\w.~-])//[^/?#"\s]+@"#
    return text.replacingOccurrences(of: information, with: "//…@", options: .regularExpression)
}

/// Returns true if ``withoutUserInformation(_:)`` leaves something out.
package func hasUserInformation(_ text: some StringProtocol) -> Bool { withoutUserInformation(text) != String(text) }

/// Returns the text with invisible characters escaped; user information in it is not left out.
///
/// This is for the content of a file, not for messages.
package func printable(_ text: some StringProtocol) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return String(text) }
    var result = String.UnicodeScalarView()
    var isAfterEmoji = false
    for scalar in text.unicodeScalars {
        // In an emoji of several scalars, the invisible scalars are part of what the user sees.
        let joinsEmoji = isAfterEmoji && (scalar == "\u{200D}" || scalar == "\u{FE0F}")
        if scalar.isInvisible, !joinsEmoji {
            result.append(contentsOf: codePoint(String(scalar)).unicodeScalars)
        } else {
            result.append(scalar)
        }
        isAfterEmoji = joinsEmoji || scalar.value > 0x7F && scalar.properties.isEmoji
    }
    return String(result)
}

extension Unicode.Scalar {
    /// True for a scalar that is invisible on a screen, or that changes how other scalars are shown.
    ///
    /// These are controls, format characters, all spaces but the plain one, and the characters that Unicode ignores by
    /// default (UAX 44, Default_Ignorable_Code_Point).
    package var isInvisible: Bool {
        if value < 0x7F { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: return true
        default: break
        }
        // U+2800 is a braille pattern without dots.
        return properties.isDefaultIgnorableCodePoint || value == 0x2800
    }
}

extension StringProtocol {
    /// False if more than 30 combining marks follow each other, as in no language (UAX #15 §13, stream-safe text).
    ///
    /// Swift takes quadratic time to compare, hash or split such a text.
    package var isStreamSafe: Bool {
        // Each combining mark begins with one of these bytes.
        guard utf8.contains(where: { $0 >= 0xCC }) else { return true }
        var count = 0
        for scalar in unicodeScalars {
            let isMark = scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
            count = isMark ? count + 1 : 0
            if count > 30 { return false }
        }
        return true
    }
}

/// Returns the scalars of `text` as `\u{…}`.
package func codePoint(_ text: String) -> String {
    text.unicodeScalars.map { "\\u{\(String($0.value, radix: 16, uppercase: true))}" }.joined()
}

/// A URL from a request, as an app's messages show it.
///
/// Only the author of a server knows which part of a URL is a secret. So a message shows the scheme, the host, the
/// path, and the names of the query's parameters.
public struct RequestedURL: Sendable, Hashable, CustomStringConvertible {
    /// The whole URL.
    public let url: URL

    /// Creates a value for a message about a URL.
    package init(_ url: URL) { self.url = url }

    /// The URL without user information, values of parameters and fragment, such as `https://example.com/a?v&token`.
    public var description: String {
        var (shown, isQuery, isValue): ([UInt8], Bool, Bool) = ([], false, false)
        for byte in url.absoluteString.utf8 {
            if byte == UInt8(ascii: "#") { break }
            if byte == UInt8(ascii: "?") { isQuery = true }
            if isQuery, byte == UInt8(ascii: "&") || byte == UInt8(ascii: "=") { isValue = byte == UInt8(ascii: "=") }
            if !isValue { shown.append(byte) }
        }
        return visible(String(decoding: shown, as: UTF8.self))
    }
}
