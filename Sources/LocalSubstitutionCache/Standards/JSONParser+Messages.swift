/// The sentences for what people write instead of JSON.
extension JSONParser {
    func error(_ message: String, at offset: Int? = nil, kind: JSONSyntaxError.Kind = .syntax) -> JSONSyntaxError {
        JSONSyntaxError(offset: offset ?? position, kind: kind, message: message)
    }

    func unclosed(_ opening: Int) -> JSONSyntaxError {
        let isObject = bytes[opening] == UInt8(ascii: "{")
        let line = bytes[..<opening].count { $0 == UInt8(ascii: "\n") } + 1
        return error(
            "the file ends before \"\(isObject ? "}" : "]")\"; "
                + "the \"\(isObject ? "{" : "[")\" of line \(line) is never closed",
            at: bytes.count
        )
    }

    var isEndOrComment: Bool {
        guard let byte = current else { return true }
        return byte == UInt8(ascii: "/") || byte == UInt8(ascii: "#")
    }

    func unexpectedName(opening: Int) -> JSONSyntaxError {
        guard let byte = current, byte.isASCIILetter || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") else {
            return unexpected(expecting: "a name in quotation marks", opening: opening)
        }
        let name = bytes[position...].prefix { byte in
            byte.isASCIILetter || byte.isASCIIDigit || "_$-".utf8.contains(byte)
        }
        return error("the name \(quoted(text(name.startIndex..<name.endIndex))) needs quotation marks around it")
    }

    func unexpected(expecting expected: String, opening: Int? = nil) -> JSONSyntaxError {
        guard let byte = current else {
            return opening.map(unclosed) ?? error("the file ends where \(expected) is expected")
        }
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "#"):
            return error("JSON has no comments; remove it, or write it as the value of \"$comment\"")
        case UInt8(ascii: "'"):
            return error("a string stands in straight double quotation marks (\"), not in single ones")
        case UInt8(ascii: ","):
            return error("a comma stands where \(expected) is expected; remove it")
        case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ":"):
            return error("\"\(Character(Unicode.Scalar(byte)))\" stands where \(expected) is expected")
        case UInt8(ascii: "+"), UInt8(ascii: "."):
            return error("a number begins with a digit or \"-\"")
        case 0:
            return error("a NUL byte stands where \(expected) is expected; save the file as UTF-8", kind: .encoding)
        case 0x80...:
            return unexpectedNonASCII(expecting: expected)
        default:
            return error("\(quoted(String(Unicode.Scalar(byte)))) stands where \(expected) is expected")
        }
    }

    func unexpectedNonASCII(expecting expected: String) -> JSONSyntaxError {
        var end = position + 1
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
        do {
            try checkUTF8(position..<end)
        } catch {
            return error
        }
        let character = text(position..<end)
        return switch character {
        case "\u{201C}", "\u{201D}", "\u{201E}", "\u{AB}", "\u{BB}", "\u{2018}", "\u{2019}":
            error("a string stands in straight quotation marks (\"), not in typographic ones (\(character))")
        case "\u{A0}", "\u{FEFF}", "\u{2028}", "\u{2029}":
            error("an invisible character (\(codePoint(character))) stands here; replace it by a plain space")
        default:
            error("\(quoted(character)) stands where \(expected) is expected")
        }
    }

    func trailingContent() -> JSONSyntaxError {
        switch current {
        case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
            error("the manifest has ended before this; remove it, or a bracket that closes too early")
        case UInt8(ascii: "/"), UInt8(ascii: "#"):
            unexpected(expecting: "the end")
        default:
            error("the manifest has ended before this; a file holds one object")
        }
    }

    func controlCharacter(_ byte: UInt8, opening: Int) -> JSONSyntaxError {
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            error("this string is not closed on its line; add a quotation mark at its end", at: opening)
        case UInt8(ascii: "\t"):
            error("a tab inside a string is written \\t")
        default:
            error("the control character \(quoted(String(Unicode.Scalar(byte)))) inside a string is written as \\u00XX")
        }
    }
}
