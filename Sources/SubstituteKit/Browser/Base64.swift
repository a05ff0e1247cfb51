import LocalSubstitutionCache

/// Texts in base64 (RFC 4648 §4), the form in which browsers send bytes.
enum Base64 {
    /// Returns the number of bytes that a text encodes: three for every four characters, less the padding.
    static func byteCount(of text: String) -> Int {
        text.utf8.count / 4 * 3 - text.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
    }
}
