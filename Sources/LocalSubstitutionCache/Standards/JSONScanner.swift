/// A reader of JSON tokens (RFC 8259), for parsers that handle errors in different ways.
package struct JSONScanner {
    package let bytes: UnsafeBufferPointer<UInt8>
    package var position = 0

    package init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    package var current: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    @discardableResult
    package mutating func skip(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    package mutating func skipSpace() {
        while let byte = current, byte.isJSONSpace { position += 1 }
    }

    private mutating func skipDigits() {
        while let byte = current, byte.isASCIIDigit { position += 1 }
    }

    /// Returns the text of a range, which must be known to be valid UTF-8.
    package func text(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    /// Returns the scalar at `offset` as a character, and its length in bytes; nil at the end and for invalid UTF-8.
    package func character(at offset: Int) -> (Character, width: Int)? {
        guard offset < bytes.count else { return nil }
        var end = offset + 1
        while end < bytes.count, end < offset + 4, bytes[end] & 0xC0 == 0x80 { end += 1 }
        guard bytes[offset..<end].firstInvalidUTF8() == nil, let scalar = text(offset..<end).unicodeScalars.first else {
            return nil
        }
        return (Character(scalar), end - offset)
    }

    // MARK: - Tokens

    /// Reads a number (RFC 8259 §6).
    ///
    /// - Returns: The number as it is written.
    package mutating func number() throws(JSONSyntaxError) -> String {
        let start = position
        skip(UInt8(ascii: "-"))
        let digits = position
        skipDigits()
        if position == digits { throw error("a digit is missing after \"-\"", at: start) }
        if bytes[digits] == UInt8(ascii: "0"), position > digits + 1 {
            throw error("a number cannot begin with 0", at: start)
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
        guard let byte = current, byte.isASCIILetter || "._-/:".utf8.contains(byte) else {
            return text(start..<position)
        }
        throw error("this is not a number, so it needs quotation marks", at: start, kind: .word)
    }

    /// Reads an escape sequence (RFC 8259 §7), beginning at its backslash.
    package mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
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
            throw error("a backslash means something else in JSON", at: start)
        }
        let first = try codeUnit(start: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        // A character beyond the Basic Multilingual Plane is written as a surrogate pair.
        if first < 0xDC00, skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")) {
            let second = try codeUnit(start: position - 2)
            if (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
            {
                return scalar
            }
        }
        throw error("this is one half of a surrogate pair", at: start)
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

    // MARK: - Errors

    package func error(
        _ message: String,
        at offset: Int? = nil,
        kind: JSONSyntaxError.Kind = .syntax
    ) -> JSONSyntaxError {
        JSONSyntaxError(offset: offset ?? position, kind: kind, message: message)
    }

    package func encodingError(in range: Range<Int>) -> JSONSyntaxError? {
        guard let offset = bytes[range].firstInvalidUTF8() else { return nil }
        let hex = String(bytes[offset], radix: 16, uppercase: true)
        return error("the file is not saved as UTF-8 (it has the byte 0x\(hex) here)", at: offset, kind: .encoding)
    }

    /// Returns a text, unless its comparison would take quadratic time.
    package func streamSafe(_ text: String, at offset: Int) throws(JSONSyntaxError) -> String {
        if text.isStreamSafe { return text }
        throw error("there are more than 30 combining marks in a row between these quotation marks", at: offset)
    }

    package func unexpected(expecting expected: String) -> JSONSyntaxError {
        if let (character, _) = character(at: position) {
            return error("there is \(quoted(String(character))) where \(expected) is expected")
        }
        return encodingError(in: position..<min(position + 4, bytes.count))
            ?? error("the file ends where \(expected) is expected")
    }
}

extension UInt8 {
    /// True for `ws` of RFC 8259 §2.
    package var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// Returns the offset of the first byte that is not valid UTF-8; nil if all bytes are valid.
    ///
    /// `String(validating:)` would report only that there is an invalid byte, and is not available on every system.
    package func firstInvalidUTF8() -> Int? {
        var parser = Unicode.UTF8.ForwardParser()
        // ASCII needs no decoding, and most text begins with ASCII.
        var offset = firstIndex { $0 >= 0x80 } ?? endIndex
        var iterator = self[offset...].makeIterator()
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded): offset += encoded.count
            case .emptyInput: return nil
            case .error: return offset
            }
        }
    }
}
