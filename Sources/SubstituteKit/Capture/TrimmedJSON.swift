import Foundation
import LocalSubstitutionCache
import SubstitutionStandards

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
        let place: Range<Data.Index>?
        do {
            place = try JSONSlices.range(of: path, in: text)
        } catch {
            return nil
        }
        var rest = text
        if let place, text[place.lowerBound] == empty.utf8.first {
            rest = text[..<place.lowerBound] + Data(empty.utf8) + text[place.upperBound...]
            cut = text[place]
        } else {
            cut = nil
        }
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
        let bytes = Array(data)
        var (plain, index): ([UInt8], Int) = ([], 0)
        while index < bytes.count {
            let scalar = unit(at: index, in: bytes).flatMap { Unicode.Scalar($0) }
            plain += scalar.map { Array(String($0).utf8) } ?? [bytes[index]]
            index += scalar == nil ? 1 : 6
        }
        return plain.isStreamSafe
    }

    /// Returns the code unit of the `\uXXXX` at an index; nil if there is none.
    private static func unit(at index: Int, in bytes: [UInt8]) -> UInt16? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        return UInt16(String(decoding: bytes[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
    }

    // MARK: - Repairs

    /// Returns the text in valid UTF-8, with U+FFFE instead of each lone surrogate and each invalid sequence.
    ///
    /// U+FFFE is a noncharacter, so no text contains it.
    private static func repaired(_ data: Data) -> Data {
        let bytes = wellFormed(data)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\") else {
                result.append(bytes[index])
                index += 1
                continue
            }
            guard let first = unit(at: index, in: bytes), 0xD800...0xDFFF ~= first else {
                result += bytes[index..<min(index + 2, bytes.count)]
                index += 2
                continue
            }
            if first < 0xDC00, let second = unit(at: index + 6, in: bytes), 0xDC00...0xDFFF ~= second {
                result += bytes[index..<(index + 12)]
                index += 12
            } else {
                result += "\\ufffe".utf8
                index += 6
            }
        }
        return Data(result)
    }

    private static func wellFormed(_ data: Data) -> [UInt8] {
        if let text = String(bytes: data, encoding: .utf8) { return Array(text.utf8) }
        var result: [UInt8] = []
        result.reserveCapacity(data.count)
        var (rest, parser) = (data.makeIterator(), Unicode.UTF8.ForwardParser())
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let scalar): result += scalar
            case .error: result += "\u{FFFE}".utf8
            case .emptyInput: return result
            }
        }
    }
}
