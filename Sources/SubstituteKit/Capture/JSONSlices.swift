import Foundation
import LocalSubstitutionCache

/// A scanner that finds the ranges of values in a JSON text, in one pass and without parsing the values.
///
/// The scanner follows brackets, quotation marks, commas and colons, and validates nothing. To validate the text, the
/// caller parses each value that the scanner found. The caller also puts a simple value in place of each of these
/// values, and parses the changed text. If the caller finds no error, the original text is valid JSON, except perhaps
/// for a comma before a closing bracket.
struct JSONSlices {
    /// The error for a text that is not valid JSON.
    struct Broken: Error {}

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// Returns the range of the value at a path of member names; nil if there is none.
    ///
    /// If several members have the same name, the last one counts.
    static func range(of path: [String], in text: Data) throws -> Range<Data.Index>? {
        try run(text) { slices in try slices.value(path[...]).map { [$0] } ?? [] }.last
    }

    /// Returns the ranges of the elements of an array.
    static func elements(of list: Data) throws -> [Range<Data.Index>] {
        try run(list) { slices in
            guard slices.current == UInt8(ascii: "[") else { throw Broken() }
            var elements: [Range<Int>] = []
            try slices.list { slices in elements += try slices.value([]).map { [$0] } ?? [] }
            return elements
        }
    }

    /// Scans a whole text, and converts offsets to indices.
    private static func run(_ text: Data, _ body: (inout Self) throws -> [Range<Int>]) throws -> [Range<Data.Index>] {
        let start = text.startIndex
        return try text.withUnsafeBytes { bytes in
            var slices = JSONSlices(bytes: bytes)
            slices.skipSpace()
            let places = try body(&slices)
            slices.skipSpace()
            guard slices.current == nil else { throw Broken() }
            return places.map { start + $0.lowerBound..<start + $0.upperBound }
        }
    }

    // MARK: - Values

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Skips a value.
    ///
    /// - Returns: The range of the value at the path; if the path is empty, the range of the skipped value itself.
    private mutating func value(_ path: ArraySlice<String>) throws -> Range<Int>? {
        let start = position
        guard let name = path.first, current == UInt8(ascii: "{") else {
            try skipValue()
            return path.isEmpty ? start..<position : nil
        }
        var place: Range<Int>?
        try list { slices in
            let isNamed = try slices.name() == name
            slices.skipSpace()
            guard slices.current == UInt8(ascii: ":") else { throw Broken() }
            slices.position += 1
            slices.skipSpace()
            guard isNamed else { return try slices.skipValue() }
            place = try slices.value(path.dropFirst())
        }
        return place
    }

    /// Scans an object or array, including its brackets; `element` scans each of its members or elements.
    private mutating func list(_ element: (inout JSONSlices) throws -> Void) throws {
        let closing = current == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]")
        position += 1
        skipSpace()
        // Some programs write a comma before the closing bracket, and Foundation on Linux accepts it.
        while current != closing {
            try element(&self)
            skipSpace()
            if current == UInt8(ascii: ",") {
                position += 1
                skipSpace()
            } else if current != closing {
                throw Broken()
            }
        }
        position += 1
    }

    private mutating func name() throws -> String {
        let start = position
        guard current == UInt8(ascii: "\"") else { throw Broken() }
        try skipString()
        let content = bytes[(start + 1)..<(position - 1)]
        // Programs hardly ever escape a name, so most names contain no backslash.
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
        return String(decoding: JSONString(content: Data(content)).bytes ?? Data(), as: UTF8.self)
    }

    // MARK: - Ends

    private mutating func skipSpace() {
        while current?.isJSONSpace == true { position += 1 }
    }

    private mutating func skipValue() throws {
        switch current {
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "{"), UInt8(ascii: "["): try skipBrackets()
        default:
            let start = position
            while let current, current > 0x20, !",}]".utf8.contains(current) { position += 1 }
            if position == start { throw Broken() }
        }
    }

    private mutating func skipBrackets() throws {
        var depth = 0
        repeat {
            guard let current else { throw Broken() }
            switch current {
            case UInt8(ascii: "\""):
                try skipString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            position += 1
        } while depth > 0
    }

    /// Skips a string with the system's own search (`memchr`), because most of a recording is in strings.
    private mutating func skipString() throws {
        guard let base = bytes.baseAddress else { throw Broken() }
        let start = position
        position += 1
        while let found = memchr(base + position, Int32(UInt8(ascii: "\"")), bytes.count - position) {
            let quote = UnsafeRawPointer(found) - base
            var escape = quote
            while escape - 1 > start, bytes[escape - 1] == UInt8(ascii: "\\") { escape -= 1 }
            position = quote + 1
            if (quote - escape).isMultiple(of: 2) { return }
        }
        throw Broken()
    }
}
