import LocalSubstitutionCache

/// Base64 text (RFC 4648 §4); in DevTools messages, browsers send binary data in this form.
enum Base64 {
    /// Returns the number of bytes that a text encodes: three for every four characters, less the padding.
    static func byteCount(of text: String) -> Int {
        text.utf8.count / 4 * 3 - text.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
    }
}
