/// The user information of URLs (RFC 3986 §3.2.1) in any text, which may be a password, so no message shows it.
///
/// Finds it in URLs that are malformed, percent-encoded or escaped as in JSON, in URLs inside of others, and in
/// `user:password@host` without a scheme. Where a text can be read in two ways, it is hidden. The path of a URL, an
/// address of e-mail and a name such as `logo@2x.png` hold none.
package enum UserInformation {
    /// One place of a text.
    package struct Place: Equatable {
        /// The bytes that may be a password.
        package let secret: Range<Int>
        /// The end of the "@" that follows them.
        let end: Int

        fileprivate var secretWithAt: Range<Int> { secret.lowerBound..<end }
    }

    /// The text with "…" instead of each user name and password.
    package static func hidden(in text: String) -> String { replaced(in: text, \.secret, with: "…") }

    /// The text without user information, and without the "@" behind it.
    package static func removed(from text: String) -> String {
        replaced(in: text, \.secretWithAt, with: "")
    }

    /// True when the text holds user information.
    package static func isIn(_ text: String) -> Bool { mayBeIn(text.utf8) && !places(in: Array(text.utf8)).isEmpty }

    /// Every place in a text, in its order.
    ///
    /// Cost: linear in the length of the text, and little without an "@".
    package static func places(in text: some RandomAccessCollection<UInt8>) -> [Place] {
        guard mayBeIn(text) else { return [] }
        var scanner = UserInformationScanner(Array(text))
        return scanner.places()
    }

    /// False when the text has no "@", encoded or not.
    private static func mayBeIn(_ text: some Collection<UInt8>) -> Bool {
        var previous: UInt8 = 0
        for byte in text {
            // Encoded it ends in these two digits, also in JSON.
            if byte == UInt8(ascii: "@") || byte == UInt8(ascii: "0") && previous == UInt8(ascii: "4") { return true }
            previous = byte
        }
        return false
    }

    private static func replaced(
        in text: String,
        _ range: (Place) -> Range<Int>,
        with replacement: String
    ) -> String {
        guard mayBeIn(text.utf8) else { return text }
        let bytes = Array(text.utf8)
        let places = places(in: bytes)
        if places.isEmpty { return text }
        var (result, start): ([UInt8], Int) = ([], 0)
        for range in places.map(range) {
            result += bytes[start..<range.lowerBound]
            result += replacement.utf8
            start = range.upperBound
        }
        return String(decoding: result + bytes[start...], as: UTF8.self)
    }
}
