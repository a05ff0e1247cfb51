package import Foundation
import LocalSubstitutionCache

/// A guess at the encoding of a text, from its bytes.
///
/// Most encodings with one byte for each character look alike, so only a few are recognised.
package enum EncodingGuess: Equatable {
    case ascii
    /// UTF-8 with characters beyond ASCII.
    case utf8
    case utf16
    /// The encoding windows-1252.
    ///
    /// A text in ISO 8859-1 counts as windows-1252, as in the WHATWG Encoding Standard (§4.2).
    case western
    case other

    /// The number of bytes at the beginning of a file that are examined.
    package static let length = 256 * 1024

    /// Guesses the encoding of a text; nil if the bytes are not text.
    ///
    /// Cost: a few passes over the bytes.
    package init?(_ data: Data) {
        let bytes = Array(data)
        if Self.isUTF16(bytes) {
            self = .utf16
        } else if Self.isBinary(bytes) {
            return nil
        } else if let invalid = bytes.firstInvalidUTF8(), bytes.count < Self.length || invalid + 3 < bytes.count {
            self = Self.isWestern(bytes) ? .western : .other
        } else {
            // The last character may be cut off, because only the beginning of a file is examined.
            self = bytes.allSatisfy { $0 < 0x80 } ? .ascii : .utf8
        }
    }

    /// The words that name the encoding in a sentence such as "a.css is UTF-16".
    var name: String {
        switch self {
        case .ascii, .utf8: "UTF-8"
        case .utf16: "UTF-16"
        case .western, .other: "not UTF-8"
        }
    }

    /// The encoding's label in the WHATWG Encoding Standard (§4.2); nil if no message proposes this encoding.
    package var charset: String? {
        self == .western ? "windows-1252" : nil
    }

    /// True if more than one byte in thirty is a control character.
    ///
    /// A text may have a single control character by mistake. In a binary file, a tenth or more of the bytes are
    /// control characters.
    private static func isBinary(_ bytes: [UInt8]) -> Bool {
        let controls = bytes.count { $0 < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains($0) }
        return controls > 1 && controls * 30 > bytes.count
    }

    /// True after a byte-order mark, or if zeros are in one place of most pairs of bytes, and not in the other.
    ///
    /// Most text is largely ASCII. For an ASCII character, one of the two bytes of UTF-16 is zero.
    private static func isUTF16(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { return true }
        let pairs = bytes.count / 2
        guard pairs > 3 else { return false }
        return [0, 1].contains { first in
            let zeros = stride(from: first, to: pairs * 2, by: 2).count { bytes[$0] == 0 }
            let others = stride(from: 1 - first, to: pairs * 2, by: 2).count { bytes[$0] == 0 }
            return zeros * 10 > pairs * 7 && others * 100 < pairs
        }
    }

    /// True if each byte above ASCII is a typographic sign, or an accented letter beside another letter.
    ///
    /// No more than two such bytes may follow each other. "à" and the like can be a whole word.
    private static func isWestern(_ bytes: [UInt8]) -> Bool {
        var run = 0
        return bytes.indices.allSatisfy { index in
            let byte = bytes[index]
            run = byte < 0x80 ? 0 : run + 1
            if byte < 0x80 || typography.contains(byte) { return run <= 2 }
            let neighbours = bytes[max(0, index - 1)..<min(index + 2, bytes.count)]
            let isBesideLetter = neighbours.count { $0.isASCIILetter || $0 >= 0xC0 } > 1
            return run <= 2 && byte >= 0xC0 && (isBesideLetter || words.contains(byte))
        }
    }

    /// ÀÈÉàèéìíòóý: each of these letters can be a whole word.
    private static let words: Set<UInt8> = [0xC0, 0xC8, 0xC9, 0xE0, 0xE8, 0xE9, 0xEC, 0xED, 0xF2, 0xF3, 0xFD]

    /// €‚„…‘’“”•–—™ and those signs of ISO 8859-1 that occur in texts.
    private static let typography = Set<UInt8>(
        "\u{80}\u{82}\u{84}\u{85}\u{91}\u{92}\u{93}\u{94}\u{95}\u{96}\u{97}\u{99}\u{A0}§©«®°·»¿".unicodeScalars.map {
            UInt8($0.value)
        }
    )
}
