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
    /// The text with which the parser continues if there is no replacement.
    var standIn = ""
}

extension Sequence<JSONRepair> {
    /// Returns the text with all replacements.
    package func applied(to text: some Collection<UInt8>) -> [UInt8] { RepairedText(Array(text), self).bytes }
}

/// A text with its repairs, and the offsets that its parts have in the original text.
struct RepairedText {
    private(set) var bytes: [UInt8] = []
    /// The parts of the text: each repair, and what precedes it unchanged.
    private var parts: [(start: Int, original: Int, repair: JSONRepair?)] = []
    /// The part that was looked up last.
    private var index = 0

    init(_ text: [UInt8], _ repairs: some Sequence<JSONRepair>) {
        var end = 0
        // Of two insertions at one place, the first was found first: a quotation mark precedes the comma after it.
        let sorted = repairs.sorted { first, second in
            (first.range.lowerBound, first.range.isEmpty ? 0 : 1)
                < (second.range.lowerBound, second.range.isEmpty ? 0 : 1)
        }
        for repair in sorted where repair.range.lowerBound >= end {
            parts.append((bytes.count, end, nil))
            bytes += text[end..<repair.range.lowerBound]
            parts.append((bytes.count, repair.range.lowerBound, repair))
            bytes += (repair.replacement ?? repair.standIn).utf8
            end = repair.range.upperBound
        }
        parts.append((bytes.count, end, nil))
        bytes += text[end...]
    }

    /// Returns the place in the original text of an offset that is not before the last one.
    ///
    /// It is not known what the author meant by a stand-in.
    private mutating func original(_ offset: Int) -> (offset: Int, isKnown: Bool) {
        while index + 1 < parts.count, parts[index + 1].start <= offset { index += 1 }
        let (start, original, repair) = parts[index]
        return repair.map { (original, $0.replacement != nil) } ?? (original + offset - start, true)
    }

    /// Returns an error in this text at its place in the original text.
    mutating func original(_ error: JSONSyntaxError) -> JSONSyntaxError {
        JSONSyntaxError(offset: original(error.offset).offset, kind: error.kind, message: error.message)
    }

    /// Returns a value of this text, with its offsets in the original text.
    mutating func original(_ value: JSONValue) -> JSONValue {
        let (offset, isKnown) = original(value.offset)
        let kind: JSONValue.Kind =
            switch value.kind {
            case .array(let elements): .array(elements.map { original($0) })
            case .object(let members): .object(members.map { original($0) })
            default: isKnown ? value.kind : .unreadable
            }
        return JSONValue(kind: kind, offset: offset)
    }

    private mutating func original(_ member: JSONMember) -> JSONMember {
        let (offset, isKnown) = original(member.nameOffset)
        let value = original(member.value)
        let unreadable = JSONValue(kind: .unreadable, offset: offset)
        return JSONMember(name: member.name, nameOffset: offset, value: isKnown ? value : unreadable)
    }
}

/// Returns a string as JSON writes it (RFC 8259 §7).
package func jsonString(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return String(decoding: (try? encoder.encode(text)) ?? Data(), as: UTF8.self)
}
