import LocalSubstitutionCache

/// The error messages for text that is not JSON.
extension RepairingJSONParser {
    func error(_ message: String, at offset: Int? = nil, kind: JSONSyntaxError.Kind = .syntax) -> JSONSyntaxError {
        JSONSyntaxError(offset: offset ?? position, kind: kind, message: message)
    }

    func unexpected(expecting expected: String) -> JSONSyntaxError {
        switch current {
        case UInt8(ascii: ","): error("there is a comma where \(expected) is expected; remove it")
        case UInt8(ascii: "+"), UInt8(ascii: "."): error("a number begins with a digit or \"-\"")
        case 0:
            error(
                "the file is not plain text (it has a NUL byte here); save it as plain text, in UTF-8",
                kind: .encoding
            )
        default: scanner.unexpected(expecting: expected)
        }
    }

    func nestingError(at opening: Int?) -> JSONSyntaxError {
        error(
            "objects and lists are nested more than \(JSONParser.maximumDepth) deep; a manifest needs three levels",
            at: opening,
            kind: .nesting
        )
    }

    func trailingComma(_ comma: Int, before closing: UInt8) -> JSONSyntaxError {
        error(
            "there is a comma before the closing \"\(Character(Unicode.Scalar(closing)))\"; remove the comma",
            at: comma
        )
    }

    func controlCharacter(_ byte: UInt8) -> JSONSyntaxError {
        let character = codePoint(String(Unicode.Scalar(byte)))
        let name = byte == UInt8(ascii: "\t") ? "tab" : "control character (\(character))"
        return error("there is a \(name) between these quotation marks; remove it")
    }

    /// The error for a file in UTF-16 or UTF-32; nil for any other file.
    ///
    /// A file in UTF-16 or UTF-32 begins with a byte-order mark, or has zero bytes in its first characters.
    private var wideEncodingError: JSONSyntaxError? {
        let start = bytes.prefix(4)
        // Each row is two ASCII characters in UTF-16 or one in UTF-32, with `true` for a zero byte.
        let isWide = [
            [true, false, true, false], [false, true, false, true], [false, true, true, true],
            [true, true, true, false],
        ].contains(start.map { $0 == 0 })
        guard isWide || start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE]) else { return nil }
        return error("the file is UTF-16 or UTF-32; save it as UTF-8", at: 0, kind: .encoding)
    }

    /// Returns the error for a text that ends before all its brackets are closed.
    ///
    /// `opening` is the offset of the opening bracket of the innermost unclosed object or array; nil if that bracket is
    /// missing. `closings` holds the closing bracket of each unclosed object and array, outermost first.
    func unclosed(_ opening: Int?, closings: [UInt8]) -> JSONSyntaxError {
        let missing = String(decoding: closings.reversed(), as: UTF8.self)
        var message = "the file ends too early; write \"\(missing)\" at its end"
        if let opening {
            let line = bytes[..<opening].count { $0 == UInt8(ascii: "\n") } + 1
            message += ", since the \"\(Character(Unicode.Scalar(bytes[opening])))\" of line \(line) is never closed"
        }
        return error(message, at: bytes.count, kind: .end)
    }

    func wrongClosing(_ byte: UInt8, expected: UInt8, isMissing: Bool) -> JSONSyntaxError {
        let (found, expected) = (Character(Unicode.Scalar(byte)), Character(Unicode.Scalar(expected)))
        return isMissing
            ? error("\"\(expected)\" is missing before this \"\(found)\"")
            : error("\"\(found)\" closes nothing here; write \"\(expected)\"")
    }

    func trailingContent() -> JSONSyntaxError {
        let byte = current ?? 0
        let isStray = byte.isClosingBracket || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";")
        if isFence {
            return error("\"```\" is not JSON, but ends a block of code in Markdown; remove it and what follows")
        }
        return isStray
            ? error("this \"\(Character(Unicode.Scalar(byte)))\" is one too many; remove it")
            : error("all brackets are already closed; remove this, or the bracket that closes too early")
    }

    /// Returns the error for a file in a format other than JSON; nil if the file may be JSON.
    func foreignFormat() -> JSONSyntaxError? {
        let start = bytes.prefix(16)
        if let error = wideEncodingError { return error }
        let formats: [(start: String, sentence: String)] = [
            ("{\\rtf", "RTF, which is text with fonts; in TextEdit choose Format > Make Plain Text, and save it again"),
            ("book\0\0\0\0mark", "an alias made by the Finder; put a copy of the file itself in its place"),
            ("PK\u{3}\u{4}", "a ZIP archive or a document of an office program; save it as plain text"),
            ("bplist0", "a property list; put the right file in its place"),
            ("%PDF-", "a PDF; put the right file in its place"), ("\u{1F}\u{8B}", "compressed (gzip); unpack it"),
            ("GIF8", "a picture (GIF); put the right file in its place"),
            ("SQLite format 3", "a database (SQLite); put the right file in its place"),
        ]
        let pictures: [[UInt8]] = [
            [0x89, 0x50, 0x4E, 0x47], [0xFF, 0xD8, 0xFF], Array("RIFF".utf8), [0, 0, 1, 0],
        ]
        let isFilm = bytes.dropFirst(4).starts(with: "ftyp".utf8)
        if isFilm || pictures.contains(where: { start.starts(with: $0) }) {
            return error("the file is a picture or a film; put the right file in its place", at: 0)
        }
        if let (_, sentence) = formats.first(where: { start.starts(with: $0.start.utf8) }) {
            return error("the file is \(sentence)", at: 0)
        }
        let beginning = bytes[position...].drop(while: \.isJSONSpace).prefix(15).map(\.asciiLowercased)
        guard beginning.first == UInt8(ascii: "<"), !beginning.starts(with: "<?php".utf8) else {
            return ForeignText.sentence(about: bytes[position...]).map { error($0, at: position) }
        }
        if bytes.prefix(1000).firstRange(of: "<plist".utf8) != nil {
            return error(
                "the file is a property list (plist), not JSON; write it as in "
                    + "{ \"https://example.com/img/logo.png\": \"img/logo.png\" }",
                at: 0
            )
        }
        let isPage = beginning.starts(with: "<!doctype html".utf8) || beginning.starts(with: "<html".utf8)
        return isPage
            ? error(
                "the file is a web page (HTML), such as servers send for a missing file; put the right file in its place",
                at: 0
            )
            : error("the file is HTML or XML; put the right file in its place", at: 0)
    }
}

extension JSONSyntaxError {
    /// The same error, with the remedy for one that the scanner has found.
    var withRemedy: JSONSyntaxError {
        let remedy =
            kind == .encoding && message.hasPrefix("the file is not saved as UTF-8")
            ? "save it again, with UTF-8 as the encoding" : Self.remedies[message]
        return JSONSyntaxError(offset: offset, kind: kind, message: message + (remedy.map { "; \($0)" } ?? ""))
    }

    private static let remedies = [
        "a number cannot begin with 0": "remove the 0, or write the number in quotation marks",
        "a backslash means something else in JSON": "write / between folders",
        "this is one half of a surrogate pair": "write both halves, or the character itself",
    ]
}
