import LocalSubstitutionCache

/// Texts in base64 (RFC 4648 §4), in which browsers tell bytes.
enum Base64 {
    /// The number of bytes for which a text stands: every four characters are three.
    static func byteCount(of text: String) -> Int {
        text.utf8.count / 4 * 3 - text.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
    }
}
