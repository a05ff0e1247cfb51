package import Foundation
import LocalSubstitutionCache

/// The encoding of a text, as far as its bytes show it; encodings with one byte for each character look alike.
package enum Encoding {
    /// The number of bytes at the beginning of a file that are examined.
    package static let length = 256 * 1024

    /// Returns the encoding as in a sentence such as "a.css is UTF-16"; nil if the bytes are not text.
    ///
    /// Cost: a few passes over the bytes.
    package static func name(of data: Data) -> String? {
        let bytes = Array(data)
        if isUTF16(bytes) { return "UTF-16" }
        if isBinary(bytes) { return nil }
        // The last character may be cut off, because only the beginning of a file is examined.
        if let invalid = bytes.firstInvalidUTF8(), bytes.count < length || invalid + 3 < bytes.count {
            return "not UTF-8"
        }
        return bytes.allSatisfy { $0 < 0x80 } ? "ASCII" : "UTF-8"
    }

    /// True if more than one byte in thirty is a control character.
    ///
    /// A text may have a single control character by mistake. In a binary file, a tenth or more of the bytes are
    /// control characters.
    private static func isBinary(_ bytes: [UInt8]) -> Bool {
        let controls = bytes.count { $0 < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains($0) }
        return controls > 1 && controls * 30 > bytes.count
    }

    /// True after a byte-order mark, or if many bytes are zeros in one place of the pairs of bytes.
    ///
    /// Most text is largely ASCII. For an ASCII character, one of the two bytes of UTF-16 is zero.
    private static func isUTF16(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { return true }
        let zeros = bytes.indices.filter { bytes[$0] == 0 }
        return zeros.count > 3 && zeros.count * 10 > bytes.count * 3 && Set(zeros.map { $0 % 2 }).count == 1
    }
}
