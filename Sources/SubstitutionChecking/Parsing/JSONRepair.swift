import Foundation
package import LocalSubstitutionCache

/// A mistake in a JSON text, and what to write in its place.
package struct JSONRepair: Sendable {
    /// The sentence about the mistake, and its place.
    package let error: JSONSyntaxError
    /// The offsets of the text to replace; an empty range is a place to insert something.
    package let range: Range<Int>
    /// The text to write; nil if only the author can know it.
    package let replacement: String?
}

extension Sequence<JSONRepair> {
    /// Returns the text with all replacements; repairs without one leave the text unchanged.
    package func applied(to text: some RandomAccessCollection<UInt8>) -> [UInt8] {
        let bytes = Array(text)
        var (result, end): ([UInt8], Int) = ([], 0)
        // Of two insertions at one place, the first was found first: a quotation mark precedes the comma after it.
        let sorted = sorted { first, second in
            (first.range.lowerBound, first.range.isEmpty ? 0 : 1)
                < (second.range.lowerBound, second.range.isEmpty ? 0 : 1)
        }
        for repair in sorted {
            guard let replacement = repair.replacement, repair.range.lowerBound >= end else { continue }
            result += bytes[end..<repair.range.lowerBound] + replacement.utf8
            end = repair.range.upperBound
        }
        return result + bytes[end...]
    }
}

/// Returns a string as JSON writes it (RFC 8259 §7).
package func jsonString(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return String(decoding: (try? encoder.encode(text)) ?? Data(), as: UTF8.self)
}
