import Foundation
import LocalSubstitutionCache

/// A string in a JSON text; the string stays escaped until its bytes are needed.
struct JSONString {
    /// The text between the quotation marks.
    let content: Data

    /// True if the string follows the grammar of RFC 8259 §7, even if it contains lone surrogates or invalid UTF-8.
    var isWellFormed: Bool { unescaped != nil }

    /// The string in UTF-8; nil if it contains a broken character.
    ///
    /// Broken characters are lone surrogates and invalid UTF-8. U+FFFE also counts as broken: no text contains it, and
    /// `unescaped` replaces lone surrogates with it.
    var bytes: Data? {
        guard let unescaped, unescaped.range(of: Data(Self.replacement)) == nil,
            String(data: unescaped, encoding: .utf8) != nil
        else { return nil }
        return unescaped
    }

    /// U+FFFE in UTF-8.
    private static let replacement = Array("\u{FFFE}".utf8)

    /// The bytes after unescaping, with U+FFFE for a lone surrogate; nil if the string is not well formed.
    private var unescaped: Data? {
        content.withUnsafeBytes { bytes -> Data? in
            var result = Data()
            var position = 0
            while let end = Self.special(in: bytes, from: position) {
                if position == 0 { result.reserveCapacity(bytes.count) }
                result.append(content[(content.startIndex + position)..<(content.startIndex + end)])
                guard bytes[end] == UInt8(ascii: "\\"), end + 1 < bytes.count else { return nil }
                if let byte = Self.byte(escapedAs: bytes[end + 1]) {
                    result.append(byte)
                    position = end + 2
                } else {
                    guard let (scalar, length) = Self.scalar(bytes[end...]) else { return nil }
                    result.append(contentsOf: scalar.map { Array(String($0).utf8) } ?? Self.replacement)
                    position = end + length
                }
            }
            // Most strings contain no escapes, and are returned without a copy.
            return position == 0 ? content : result + content.dropFirst(position)
        }
    }

    /// Returns the offset of the first backslash or control character.
    ///
    /// For speed, this function scans eight bytes at a time: recordings are large, and the package manager builds a
    /// plugin's tools without optimisation.
    private static func special(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high = ones << 7
        var index = start
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let controls = (word &- ones &* 0x20) & ~word
            let different = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let backslashes = (different &- ones) & ~different
            if (controls | backslashes) & high != 0 { break }
            index += 8
        }
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\\") || bytes[index] < 0x20 { return index }
            index += 1
        }
        return nil
    }

    /// Returns the byte that a backslash and `letter` represent; nil if the two are not a complete escape.
    private static func byte(escapedAs letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 8
        case UInt8(ascii: "f"): 12
        case UInt8(ascii: "n"): 10
        case UInt8(ascii: "r"): 13
        case UInt8(ascii: "t"): 9
        default: nil
        }
    }

    /// Returns the scalar of the `\uXXXX` at the beginning of a text, and the length of the escape.
    ///
    /// For a lone surrogate, the scalar is nil.
    static func scalar(_ text: some RandomAccessCollection<UInt8>) -> (scalar: Unicode.Scalar?, length: Int)? {
        guard let first = unit(text) else { return nil }
        guard UTF16.isLeadSurrogate(first), let second = unit(text.dropFirst(6)), UTF16.isTrailSurrogate(second) else {
            return (Unicode.Scalar(first), 6)
        }
        return (UTF16.decode(UTF16.EncodedScalar([first, second])), 12)
    }

    /// Returns the code unit of the `\uXXXX` at the beginning of a text.
    private static func unit(_ text: some RandomAccessCollection<UInt8>) -> UInt16? {
        let digits = text.dropFirst(2).prefix(4)
        guard text.starts(with: "\\u".utf8), digits.count == 4, digits.allSatisfy(\.isHexDigit) else { return nil }
        return digits.reduce(0) { $0 << 4 | UInt16($1.hexValue) }
    }
}
