import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// A JSON value that is parsed without one large value inside it.
///
/// Foundation's objects take about twenty times the memory of the JSON text. A recording is therefore never parsed as a
/// whole.
struct TrimmedJSON {
    /// The parsed value, with an empty array or string instead of ``cut``.
    let value: Any
    /// The array or string that was left out, as JSON text; nil if nothing was left out.
    let cut: Data?

    /// Parses a text in UTF-8 without the value at a path; nil if the rest of the text is not valid JSON.
    ///
    /// - Parameters:
    ///   - text: The text; broken characters become U+FFFE.
    ///   - path: The member names that lead to the value to leave out.
    ///   - empty: The replacement for that value: `[]` to leave out an array, `""` to leave out a string. If the value
    ///     is of a different kind, it is not left out.
    init?(_ text: Data, without path: [String], for empty: String) {
        let found: Range<Data.Index>?
        do {
            found = try JSONSlices.range(of: path, in: text)
        } catch {
            return nil
        }
        let place = found.flatMap { text[$0.lowerBound] == empty.utf8.first ? $0 : nil }
        cut = place.map { text[$0] }
        let rest = place.map { text[..<$0.lowerBound] + Data(empty.utf8) + text[$0.upperBound...] } ?? text
        guard Self.isStreamSafe(rest), let value = Self.parse(rest) ?? Self.parse(Self.repaired(rest)) else {
            return nil
        }
        self.value = value
    }

    private static func parse(_ data: Data) -> Any? {
        try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    }

    /// False if comparing a string of the text would take quadratic time.
    private static func isStreamSafe(_ data: Data) -> Bool {
        guard data.range(of: Data("\\u".utf8)) != nil else { return data.isStreamSafe }
        return replacingEscapes(in: Array(data)) { $0.map { String($0) } }.isStreamSafe
    }

    /// Returns the text in valid UTF-8, with U+FFFE instead of each lone surrogate and each invalid sequence.
    ///
    /// U+FFFE is a noncharacter, so no text contains it.
    private static func repaired(_ data: Data) -> Data {
        Data(replacingEscapes(in: wellFormed(data)) { $0 == nil ? "\\ufffe" : nil })
    }

    /// Returns the text with other texts for its escapes `\uXXXX`; an escape stays if `replacement` returns nil.
    ///
    /// `replacement` gets the scalar of an escape, and nil for a lone surrogate.
    private static func replacingEscapes(in bytes: [UInt8], _ replacement: (Unicode.Scalar?) -> String?) -> [UInt8] {
        var (result, rest): ([UInt8], _) = ([], bytes[...])
        result.reserveCapacity(bytes.count)
        while let byte = rest.first {
            let escape = byte == UInt8(ascii: "\\") ? JSONString.scalar(rest) : nil
            let length = escape?.length ?? (byte == UInt8(ascii: "\\") ? 2 : 1)
            if let escape, let text = replacement(escape.scalar) {
                result += text.utf8
            } else {
                result += rest.prefix(length)
            }
            rest = rest.dropFirst(length)
        }
        return result
    }

    private static func wellFormed(_ data: Data) -> [UInt8] {
        var (result, rest): ([UInt8], _) = ([], Array(data)[...])
        while let broken = rest.firstInvalidUTF8() {
            result += rest[..<broken] + "\u{FFFE}".utf8
            rest = rest[(broken + 1)...]
        }
        return result + rest
    }
}
