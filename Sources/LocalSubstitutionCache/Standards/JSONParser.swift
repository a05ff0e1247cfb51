/// What is wrong with the text of a JSON file, and where.
struct JSONSyntaxError: Error, Equatable {
    enum Kind {
        case syntax
        case encoding
        case nesting
    }

    let offset: Int
    let kind: Kind
    let message: String
}

/// A strict parser of RFC 8259 that keeps the place of every value.
///
/// Strict means: no comments, no trailing commas, no lone surrogates, no invalid UTF-8, nothing after the value. The
/// one liberty is the one §8.1 gives: a UTF-8 byte-order mark at the start is skipped. One pass, linear in the length
/// of the text; nesting is limited, so the stack is too.
struct JSONParser {
    /// How many objects and arrays may stand inside each other.
    ///
    /// A manifest needs three.
    static let maximumDepth = 64

    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var position = 0

    /// Parses one JSON text.
    static func parse(_ bytes: some Collection<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        let result = bytes.withContiguousStorageIfAvailable { buffer in
            Result { () throws(JSONSyntaxError) in try parse(buffer: buffer) }
        }
        if let result { return try result.get() }
        return try parse(Array(bytes))
    }

    private static func parse(buffer: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        var parser = JSONParser(bytes: buffer)
        try parser.checkEncoding()
        parser.skipWhitespace()
        guard parser.current != nil else {
            throw parser.error("the file is empty; the smallest manifest is {}")
        }
        let value = try parser.value(depth: 0)
        parser.skipWhitespace()
        guard parser.current == nil else { throw parser.trailingContent() }
        return value
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    // MARK: - Values

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        let start = position
        guard let byte = current else { throw unexpected(expecting: "a value") }
        switch byte {
        case UInt8(ascii: "\""):
            return JSONValue(kind: .string(try string()), offset: start)
        case UInt8(ascii: "{"):
            return JSONValue(kind: .object(try members(depth: depth + 1)), offset: start)
        case UInt8(ascii: "["):
            return JSONValue(kind: .array(try elements(depth: depth + 1)), offset: start)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return JSONValue(kind: .number(try number()), offset: start)
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
            return JSONValue(kind: try word(), offset: start)
        default:
            throw unexpected(expecting: "a value")
        }
    }

    private mutating func members(depth: Int) throws(JSONSyntaxError) -> [JSONMember] {
        let opening = position
        try open(depth: depth)
        var members: [JSONMember] = []
        if skip(UInt8(ascii: "}")) { return members }
        while true {
            guard current == UInt8(ascii: "\"") else { throw unexpectedName(opening: opening) }
            let nameOffset = position
            let name = try string()
            let nameEnd = position
            skipWhitespace()
            guard skip(UInt8(ascii: ":")) else {
                throw isEndOrComment
                    ? unexpected(expecting: "a colon", opening: opening)
                    : error("a colon is missing after \(quoted(name))", at: nameEnd)
            }
            skipWhitespace()
            members.append(JSONMember(name: name, nameOffset: nameOffset, value: try value(depth: depth)))
            if try !next(closing: UInt8(ascii: "}"), opening: opening) { return members }
        }
    }

    private mutating func elements(depth: Int) throws(JSONSyntaxError) -> [JSONValue] {
        let opening = position
        try open(depth: depth)
        var elements: [JSONValue] = []
        if skip(UInt8(ascii: "]")) { return elements }
        while true {
            if current == nil { throw unclosed(opening) }
            elements.append(try value(depth: depth))
            if try !next(closing: UInt8(ascii: "]"), opening: opening) { return elements }
        }
    }

    /// Steps over an opening bracket and the white space after it.
    private mutating func open(depth: Int) throws(JSONSyntaxError) {
        guard depth <= Self.maximumDepth else {
            throw error(
                "objects and lists are nested more than \(Self.maximumDepth) deep; a manifest needs three levels",
                kind: .nesting
            )
        }
        position += 1
        skipWhitespace()
    }

    /// Steps over what follows a member or an element; false when the bracket closed.
    private mutating func next(closing: UInt8, opening: Int) throws(JSONSyntaxError) -> Bool {
        let end = position
        skipWhitespace()
        if skip(closing) { return false }
        guard let byte = current else { throw unclosed(opening) }
        guard byte == UInt8(ascii: ",") else {
            if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                throw error(
                    "\"\(Character(Unicode.Scalar(byte)))\" closes nothing here; "
                        + "\"\(Character(Unicode.Scalar(closing)))\" is expected"
                )
            }
            let startsValue = byte.isASCIILetter || byte.isASCIIDigit || "\"{[-'".utf8.contains(byte)
            guard startsValue else { throw unexpected(expecting: "a comma", opening: opening) }
            throw error("a comma is missing here, before the next entry", at: end)
        }
        let comma = position
        position += 1
        skipWhitespace()
        if current == closing {
            throw error(
                "a comma stands before the closing \"\(Character(Unicode.Scalar(closing)))\"; remove the comma",
                at: comma
            )
        }
        if current == nil { throw unclosed(opening) }
        if current == UInt8(ascii: ",") { throw error("two commas in a row; remove one") }
        return true
    }

    private mutating func word() throws(JSONSyntaxError) -> JSONValue.Kind {
        let start = position
        while let byte = current, byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "_") { position += 1 }
        let word = text(start..<position)
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        case "NaN", "Infinity":
            throw error("JSON has no \(word)", at: start)
        default:
            if let known = ["true", "false", "null"].first(where: { $0 == word.lowercased() }) {
                throw error("JSON writes \(known), not \(word)", at: start)
            }
            throw error("\(quoted(word)) needs quotation marks around it, or is not a JSON word", at: start)
        }
    }

    private mutating func number() throws(JSONSyntaxError) -> String {
        let start = position
        skip(UInt8(ascii: "-"))
        let digits = position
        skipDigits()
        if position == digits { throw error("a digit is missing after \"-\"", at: start) }
        if bytes[digits] == UInt8(ascii: "0"), position > digits + 1 {
            throw error("a number does not begin with 0; write it without, or in quotation marks", at: start)
        }
        if skip(UInt8(ascii: ".")) {
            let fraction = position
            skipDigits()
            if position == fraction { throw error("a digit is missing after the decimal point", at: start) }
        }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { skip(UInt8(ascii: "-")) }
            let exponent = position
            skipDigits()
            if position == exponent { throw error("a digit is missing in the exponent", at: start) }
        }
        if let byte = current, byte.isASCIILetter || byte == UInt8(ascii: ".") {
            throw error("this is not a number; write it in quotation marks if it is text", at: start)
        }
        return text(start..<position)
    }

    // MARK: - Strings

    private mutating func string() throws(JSONSyntaxError) -> String {
        let opening = position
        position += 1
        let start = position
        var isASCII = true
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let range = start..<position
                position += 1
                if !isASCII { try checkUTF8(range) }
                return text(range)
            }
            if byte == UInt8(ascii: "\\") { return try stringWithEscapes(opening: opening) }
            if byte < 0x20 { throw controlCharacter(byte, opening: opening) }
            if byte >= 0x80 { isASCII = false }
            position += 1
        }
        throw error("this string is never closed; add a quotation mark at its end", at: opening)
    }

    /// The slow way, taken from the opening quotation mark when the first `\` is met.
    private mutating func stringWithEscapes(opening: Int) throws(JSONSyntaxError) -> String {
        position = opening + 1
        var content: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                // What was decoded from escapes is valid, so this judges the bytes that stand there raw.
                try checkUTF8(opening + 1..<position)
                position += 1
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                content.append(contentsOf: Array(String(try escape()).utf8))
            case 0..<0x20:
                throw controlCharacter(byte, opening: opening)
            default:
                content.append(byte)
                position += 1
            }
        }
        throw error("this string is never closed; add a quotation mark at its end", at: opening)
    }

    private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let byte = current else { throw error("the file ends inside a string", at: start) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default:
            throw error("JSON knows no escape that begins like this; write a backslash as \\\\", at: start)
        }
        let first = try codeUnit(start: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        // RFC 8259 §7: a character beyond the Basic Multilingual Plane is written as a surrogate pair.
        if first < 0xDC00, skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")) {
            let second = try codeUnit(start: position - 2)
            if (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
            {
                return scalar
            }
        }
        throw error("this is one half of a surrogate pair; write both halves, or the character itself", at: start)
    }

    private mutating func codeUnit(start: Int) throws(JSONSyntaxError) -> UInt16 {
        let end = min(position + 4, bytes.count)
        let digits = bytes[position..<end]
        guard digits.count == 4, digits.allSatisfy({ $0.isHexDigit }),
            let unit = UInt16(text(position..<end), radix: 16)
        else {
            throw error("\\u needs four hexadecimal digits", at: start)
        }
        position = end
        return unit
    }

    // MARK: - Encoding

    private mutating func checkEncoding() throws(JSONSyntaxError) {
        let start = Array(bytes.prefix(4))
        if start.starts(with: [0xEF, 0xBB, 0xBF]) {
            position = 3
        } else if start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE])
            || start.count >= 2 && (start[0] == 0) != (start[1] == 0)
        {
            throw error("the file is UTF-16 or UTF-32; save it as UTF-8", kind: .encoding)
        }
    }

    func checkUTF8(_ range: Range<Int>) throws(JSONSyntaxError) {
        guard let offset = bytes[range].firstInvalidUTF8() else { return }
        let hex = String(bytes[offset], radix: 16, uppercase: true)
        throw error("byte 0x\(hex) is not UTF-8; save the file as UTF-8", at: offset, kind: .encoding)
    }

    // MARK: - Scanning

    var current: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    @discardableResult
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipDigits() {
        while let byte = current, byte.isASCIIDigit { position += 1 }
    }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    /// Only for ranges that are known to be valid UTF-8.
    func text(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }
}
