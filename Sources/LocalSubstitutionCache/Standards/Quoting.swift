/// Returns `text` in quotation marks, safe to print in a message.
///
/// The text may be from a manifest, a file name or a request. Characters that are invisible or change the direction of
/// text are written as `\u{…}`, so that a name cannot rewrite the line in which it is printed. The text is cut after
/// 200 scalars, unless `limit` is given. The user name and password of a URL are hidden. In a part of a URL, they might
/// not be found, so pass the whole URL.
package func quoted(_ text: String, limit: Int = 200) -> String {
    "\"" + shortened(text, limit: limit) + "\""
}

/// Returns the same text as `quoted(_:limit:)`, without quotation marks.
package func shortened(_ text: String, limit: Int = 200) -> String {
    let text = UserInformation.hidden(in: text)
    let start = text.unicodeScalars.prefix(limit)
    return printable(String(start)) + (start.endIndex == text.endIndex ? "" : "…")
}

/// Returns the text as `quoted(_:limit:)` shows it, but not cut, and without quotation marks.
package func visible(_ text: some StringProtocol) -> String { printable(UserInformation.hidden(in: String(text))) }

/// Returns the text with invisible characters escaped; user names and passwords in it are not hidden.
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

/// Returns the scalars of `text` as `\u{…}`.
package func codePoint(_ text: String) -> String {
    text.unicodeScalars.map { "\\u{\(String($0.value, radix: 16, uppercase: true))}" }.joined()
}
