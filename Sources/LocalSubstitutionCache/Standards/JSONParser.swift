/// A strict JSON parser (RFC 8259) that records the offset of every value and stops at the first error.
///
/// Comments, trailing commas, lone surrogates, invalid UTF-8 and anything after the value are errors. There is one
/// exception, which §8.1 allows: a UTF-8 byte-order mark at the start is skipped. The parser makes one pass, in time
/// linear in the length of the text. Nesting is limited, which also limits the depth of the stack.
package struct JSONParser {
    /// The maximum nesting of objects and arrays.
    ///
    /// A manifest needs three levels.
    package static let maximumDepth = 64

    private var scanner: JSONScanner

    /// Parses one JSON text.
    ///
    /// - Returns: The document. If the text is not JSON, the document holds an unreadable value and the error.
    package static func parse(_ bytes: some Collection<UInt8>) -> JSONDocument {
        bytes.withContiguousStorageIfAvailable(parse(buffer:)) ?? Array(bytes).withUnsafeBufferPointer(parse(buffer:))
    }

    private static func parse(buffer: UnsafeBufferPointer<UInt8>) -> JSONDocument {
        var parser = JSONParser(scanner: JSONScanner(buffer))
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { parser.scanner.position = 3 }
        do {
            return JSONDocument(value: try parser.wholeText(), errors: [])
        } catch {
            return JSONDocument(value: JSONValue(kind: .unreadable, offset: 0), errors: [error])
        }
    }

    private mutating func wholeText() throws(JSONSyntaxError) -> JSONValue {
        scanner.skipSpace()
        guard scanner.current != nil else { throw scanner.error("the file is empty") }
        let value = try value(depth: 0)
        scanner.skipSpace()
        guard scanner.current == nil else { throw scanner.error("more text follows, although all brackets are closed") }
        return value
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        let start = scanner.position
        let kind: JSONValue.Kind =
            switch scanner.current {
            case UInt8(ascii: "\""): .string(try string())
            case UInt8(ascii: "{"): .object(try members(depth: depth + 1))
            case UInt8(ascii: "["): .array(try elements(depth: depth + 1))
            case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): .number(try scanner.number())
            default: try word()
            }
        return JSONValue(kind: kind, offset: start)
    }

    private mutating func word() throws(JSONSyntaxError) -> JSONValue.Kind {
        let words: [(StaticString, JSONValue.Kind)] = [("true", .bool(true)), ("false", .bool(false)), ("null", .null)]
        let rest = scanner.bytes[scanner.position...]
        for (word, kind) in words where word.withUTF8Buffer(rest.starts(with:)) {
            scanner.position += word.utf8CodeUnitCount
            return kind
        }
        throw scanner.unexpected(expecting: "a value")
    }

    // MARK: - Objects and arrays

    private mutating func members(depth: Int) throws(JSONSyntaxError) -> [JSONMember] {
        var members: [JSONMember] = []
        try list(closing: UInt8(ascii: "}"), depth: depth) { parser throws(JSONSyntaxError) in
            let start = parser.scanner.position
            guard parser.scanner.current == UInt8(ascii: "\"") else {
                throw parser.scanner.unexpected(expecting: "a name in quotation marks")
            }
            let name = try parser.string()
            let end = parser.scanner.position
            parser.scanner.skipSpace()
            guard parser.scanner.skip(UInt8(ascii: ":")) else {
                throw parser.scanner.error("a colon is missing after \(quoted(name))", at: end)
            }
            parser.scanner.skipSpace()
            members.append(JSONMember(name: name, nameOffset: start, value: try parser.value(depth: depth)))
        }
        return members
    }

    private mutating func elements(depth: Int) throws(JSONSyntaxError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try list(closing: UInt8(ascii: "]"), depth: depth) { parser throws(JSONSyntaxError) in
            elements.append(try parser.value(depth: depth))
        }
        return elements
    }

    /// Reads a list from its opening to its closing bracket: the elements and the commas between them.
    private mutating func list(
        closing: UInt8,
        depth: Int,
        element: (inout JSONParser) throws(JSONSyntaxError) -> Void
    ) throws(JSONSyntaxError) {
        let opening = scanner.position
        guard depth <= Self.maximumDepth else {
            throw scanner.error("objects and lists are nested more than \(Self.maximumDepth) deep", kind: .nesting)
        }
        scanner.position += 1
        scanner.skipSpace()
        if scanner.skip(closing) { return }
        while scanner.current != nil {
            try element(&self)
            let end = scanner.position
            scanner.skipSpace()
            if scanner.skip(closing) { return }
            let comma = scanner.position
            guard scanner.skip(UInt8(ascii: ",")) else {
                guard scanner.current != nil else { break }
                throw scanner.current == UInt8(ascii: "\"")
                    ? scanner.error("a comma is missing here, before the next entry", at: end)
                    : scanner.unexpected(expecting: "a comma")
            }
            scanner.skipSpace()
            if scanner.current == closing { throw scanner.error("a comma precedes the closing bracket", at: comma) }
        }
        let line = scanner.bytes[..<opening].count { $0 == UInt8(ascii: "\n") } + 1
        let bracket = Character(Unicode.Scalar(scanner.bytes[opening]))
        throw scanner.error(
            "the file ends too early, since the \"\(bracket)\" of line \(line) is never closed",
            at: scanner.bytes.count,
            kind: .end
        )
    }

    // MARK: - Strings

    private mutating func string() throws(JSONSyntaxError) -> String {
        let start = scanner.position + 1
        scanner.position = start
        // The decoded content before `rest`; nil as long as the string has no escapes.
        var decoded: [UInt8]?
        var rest = start
        var isASCII = true
        while let byte = scanner.current {
            switch byte {
            case UInt8(ascii: "\""):
                // Escapes decode to valid scalars, so only the raw bytes need this check.
                if !isASCII, let error = scanner.encodingError(in: start..<scanner.position) { throw error }
                let range = rest..<scanner.position
                scanner.position += 1
                let text = decoded.map { String(decoding: $0 + scanner.bytes[range], as: UTF8.self) }
                return try scanner.streamSafe(text ?? scanner.text(range), at: start - 1)
            case UInt8(ascii: "\\"):
                if decoded == nil { decoded = [] }
                decoded?.append(contentsOf: scanner.bytes[rest..<scanner.position])
                decoded?.append(contentsOf: Array(String(try scanner.escape()).utf8))
                rest = scanner.position
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                throw scanner.error("a quotation mark is missing at the end of this line")
            case 0..<0x20:
                let character = codePoint(String(Unicode.Scalar(byte)))
                throw scanner.error("there is a control character (\(character)) between these quotation marks")
            default:
                if byte >= 0x80 { isASCII = false }
                scanner.position += 1
            }
        }
        throw scanner.error("a quotation mark is missing at the end of the file")
    }
}
