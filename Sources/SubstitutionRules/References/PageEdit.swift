package import Foundation

/// A replacement of a range of bytes in a page or stylesheet.
package struct PageEdit {
    let range: Range<Int>
    let text: [UInt8]

    /// The escaping that a text needs at its position in a page or stylesheet.
    ///
    /// Escaped text cannot end the value in which it is written, or anything around that value.
    package enum Escaping {
        /// HTML character references, in an attribute other than `style`.
        case attribute
        /// CSS escapes (CSS Syntax Level 3 §4.3.7), in a stylesheet, `style` element or `style` attribute.
        case stylesheet
        /// JSON escapes (RFC 8259 §7), in a `script` element.
        case json

        package func written(_ text: some Sequence<UInt8>) -> [UInt8] {
            text.flatMap { byte -> [UInt8] in
                guard byte <= 0x20 || byte == 0x7F || "\"&'()<>\\`".utf8.contains(byte) else { return [byte] }
                let digits = String(byte, radix: 16, uppercase: true)
                let padding = { String(repeating: "0", count: $0 - digits.count) }
                switch self {
                case .attribute where "()\\".utf8.contains(byte): return [byte]
                case .attribute: return Array("&#\(byte);".utf8)
                // Six digits need no space after them. A space would end an unquoted attribute.
                case .stylesheet: return Array("\\\(padding(6))\(digits)".utf8)
                case .json: return Array("\\u\(padding(4))\(digits)".utf8)
                }
            }
        }
    }

    package init(_ range: Range<Int>, _ text: some Sequence<UInt8>, _ notation: Escaping) {
        self.range = range
        self.text = notation.written(text)
    }

    /// Creates an insertion of text that is already escaped.
    package init(at offset: Int, inserting text: String) { (range, self.text) = (offset..<offset, Array(text.utf8)) }

    /// Creates a replacement of `text` by `new`; nil if the two are equal, or if `new` is empty.
    ///
    /// A common end of the two texts is not replaced. An empty text is refused, because an unquoted attribute would
    /// then take the next attribute for its value.
    package init?(_ text: SourceMappedText, to new: [UInt8], _ notation: Escaping) {
        guard text.bytes != new, !new.isEmpty else { return nil }
        var kept = zip(text.bytes.reversed(), new.reversed()).prefix { $0 == $1 }.count
        // Do not keep the end of an escape without its beginning.
        while kept > 0, kept < text.bytes.count,
            text.offset(text.bytes.count - kept) == text.offset(text.bytes.count - kept - 1)
        {
            kept -= 1
        }
        self.init(text.offset(0)..<text.offset(text.bytes.count - kept), new.dropLast(kept), notation)
    }

    /// Returns the bytes with the edits applied; the order of the edits does not matter.
    package static func apply(_ edits: [PageEdit], to bytes: [UInt8]) -> Data {
        var result = Data(capacity: bytes.count + edits.reduce(0) { $0 + $1.text.count })
        var index = 0
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where edit.range.lowerBound >= index {
            result.append(contentsOf: bytes[index..<edit.range.lowerBound])
            result.append(contentsOf: edit.text)
            index = edit.range.upperBound
        }
        result.append(contentsOf: bytes[index...])
        return result
    }
}
