import Foundation

/// Conversion of text from any Unicode encoding.
enum UnicodeText {
    /// Converts a text to UTF-8 without a byte-order mark; the text's first characters must be ASCII.
    ///
    /// Bytes that are in no Unicode encoding are returned unchanged.
    static func utf8(_ data: Data) -> Data {
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return data.dropFirst(3) }
        let head = Array(data.prefix(4))
        guard head.count == 4 else { return data }
        // The width of a code unit is known from a byte-order mark or from zeros in the first characters (RFC 4627 §3).
        let encoding: String.Encoding? =
            switch (head[0], head[1], head[2], head[3]) {
            case (0, 0, _, _): .utf32BigEndian
            case (_, _, 0, 0): .utf32LittleEndian
            case (0, _, _, _), (0xFE, 0xFF, _, _): .utf16BigEndian
            case (_, 0, _, _), (0xFF, 0xFE, _, _): .utf16LittleEndian
            default: nil
            }
        guard let encoding, let text = String(data: data, encoding: encoding) else { return data }
        return Data(text.utf8.starts(with: "\u{FEFF}".utf8) ? text.utf8.dropFirst(3) : text.utf8[...])
    }
}
