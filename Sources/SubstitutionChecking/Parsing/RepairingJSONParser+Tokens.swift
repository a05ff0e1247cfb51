import Foundation
import LocalSubstitutionCache

/// The tokenizer, which continues after a mistake.
///
/// Texts on one line are examined for at most 500 bytes, so that the time stays linear.
extension RepairingJSONParser {
    /// Reads the next token into `token`.
    mutating func advance(_ expected: JSONToken.Expected? = nil) throws(Stop) {
        let expected = expected ?? (closings.last == UInt8(ascii: "}") ? .name : .value)
        let last = token.range.upperBound
        try skipSpace()
        end = last
        let start = position
        guard let byte = current, let (character, width) = scanner.character(at: start) else {
            if let error = scanner.encodingError(in: start..<bytes.count) { throw stop(error) }
            token = JSONToken(kind: .end, range: start..<start)
            return
        }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","),
            UInt8(ascii: ":"), UInt8(ascii: "("), UInt8(ascii: ")"):
            position += 1
            token = JSONToken(kind: .mark(byte), range: start..<position)
        case UInt8(ascii: "\""):
            token = try string(expected)
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            token = try number()
        case UInt8(ascii: "-") where start + 1 < bytes.count && bytes[start + 1].isASCIIDigit:
            token = try number()
        case 0:
            let sentence = "the file is not plain text (it has a NUL byte here); save it as plain text, in UTF-8"
            throw stop(error(sentence, at: start, kind: .encoding))
        case _ where character.isLetter || "/_$".utf8.contains(byte) || byte == UInt8(ascii: ".") && expected == .name:
            let range = bareText()
            token = JSONToken(kind: .word(scanner.text(range)), range: range)
        default:
            if Self.quotes.contains(character) {
                token = try foreignString()
            } else {
                token = try mark(character, width, expected)
            }
        }
    }

    /// Reads a character that is no part of JSON, but may stand for one.
    private mutating func mark(
        _ character: Character,
        _ width: Int,
        _ expected: JSONToken.Expected
    ) throws(Stop) -> JSONToken {
        let start = position
        position += width
        if closings.isEmpty, "=;".contains(character) { return JSONToken(kind: .stray, range: start..<position) }
        if character == "=" || character == ";" && expected == .colon {
            if character == "=", current == UInt8(ascii: ">") { position += 1 }
            let written = scanner.text(start..<position)
            try report("write a colon here instead of \"\(written)\"", start..<position, ":")
            return JSONToken(kind: .mark(UInt8(ascii: ":")), range: start..<position)
        }
        if character == ";" {
            try report("write a comma between two entries, not \";\"", start..<position, ",")
            return JSONToken(kind: .mark(UInt8(ascii: ",")), range: start..<position)
        }
        // The full-width forms of Chinese and Japanese keyboards are equal to ASCII under Unicode's NFKC.
        let plain = String(character).precomposedStringWithCompatibilityMapping
        if width > 1, let byte = plain.utf8.first, plain.utf8.count == 1, "{}[]:,".utf8.contains(byte) {
            try report(
                "\(quoted(String(character))) only looks like \"\(plain)\"; write \"\(plain)\"",
                start..<position,
                plain
            )
            return JSONToken(kind: .mark(byte), range: start..<position)
        }
        return JSONToken(kind: .stray, range: start..<position)
    }

    private mutating func number() throws(Stop) -> JSONToken {
        let start = position
        do throws(JSONSyntaxError) {
            let digits = try scanner.number()
            return JSONToken(kind: .number(digits), range: start..<position)
        } catch {
            position = start
            let range = bareText()
            let text = scanner.text(range)
            if error.kind == .word { return JSONToken(kind: .word(text), range: range) }
            try report(error, range)
            return JSONToken(kind: .string(nil), range: range)
        }
    }

    /// Reads text without quotation marks, up to what ends it, and returns its range without white space at its end.
    private mutating func bareText() -> Range<Int> {
        let start = position
        while let byte = current, !byte.isLineBreak, byte != UInt8(ascii: "\""), byte != UInt8(ascii: ","), byte != 0 {
            if byte.isClosingBracket { break }
            let next = position + 1 < bytes.count ? bytes[position + 1] : UInt8(ascii: "\n")
            if byte == UInt8(ascii: ":"), next.isJSONSpace || "\"'{[".utf8.contains(next) { break }
            if byte.isJSONSpace, next == UInt8(ascii: "#") || bytes[(position + 1)...].starts(with: "//".utf8) { break }
            position += 1
        }
        let end = bytes[start..<position].lastIndex { !$0.isJSONSpace } ?? start
        return start..<min(end + 1, bytes.count)
    }

    // MARK: - Strings

    /// Reads a string in straight quotation marks.
    private mutating func string(_ expected: JSONToken.Expected) throws(Stop) -> JSONToken {
        let opening = position
        var end = opening + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\""), !bytes[end].isLineBreak {
            end += bytes[end] == UInt8(ascii: "\\") && end + 1 < bytes.count && !bytes[end + 1].isLineBreak ? 2 : 1
        }
        end = min(end, bytes.count)
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else {
            return try unclosedString(opening + 1..<end, expected)
        }
        let content = opening + 1..<end
        if isDelimiter(end + 1) { return try closed(content, upTo: end + 1) }
        if content.isEmpty, bytes[end + 1] != UInt8(ascii: "\"") {
            try report("there is a quotation mark too many here; remove one", opening..<end, "")
            position = end
            return try string(expected)
        }
        if bytes[end + 1] == UInt8(ascii: "\""), isDelimiter(end + 2) {
            try report("there is a quotation mark too many here; remove it", end + 1..<end + 2, "")
            return try closed(content, upTo: end + 2)
        }
        // The quotation mark may belong to the next string, and the one of this string is missing.
        if let cut = cut(content, expected) { return try withoutClosing(content.lowerBound..<cut) }
        let line = bytes[(end + 1)...].prefix(500).prefix { !$0.isLineBreak && $0 != UInt8(ascii: "\\") }
        let last = line.indices.first { bytes[$0] == UInt8(ascii: "\"") && isEnd($0 + 1) }
        if let last, cut(content.lowerBound..<last, .name) == nil, cut(content.lowerBound..<last, .value) == nil,
            let text = try text(content.lowerBound..<last)
        {
            position = last + 1
            let written = jsonString(text)
            let sentence = "a quotation mark in a string is written \\\"; write \(visible(written))"
            try report(sentence, opening..<position, written)
            return JSONToken(kind: .string(text), range: opening..<position)
        }
        return try closed(content, upTo: end + 1)
    }

    private mutating func closed(_ content: Range<Int>, upTo end: Int) throws(Stop) -> JSONToken {
        position = end
        return JSONToken(kind: .string(try text(content)), range: content.lowerBound - 1..<end)
    }

    /// Returns the offset at which a string without its closing quotation mark ends, if something shows it.
    ///
    /// A name ends before the colon that is followed by a space, a value before such a comma.
    private func cut(_ content: Range<Int>, _ expected: JSONToken.Expected) -> Int? {
        let mark = UInt8(ascii: expected == .name ? ":" : ",")
        let place = content.prefix(500).first { index in
            bytes[index] == mark
                && (index + 1 == bytes.count || bytes[index + 1].isJSONSpace || "\"{[".utf8.contains(bytes[index + 1]))
        }
        let isLast = bytes[content].last { !$0.isJSONSpace } == mark
        return expected == .name || isLast ? place : nil
    }

    /// Reads a string that has no closing quotation mark on its line.
    private mutating func unclosedString(_ rest: Range<Int>, _ expected: JSONToken.Expected) throws(Stop) -> JSONToken {
        if expected == .name, let cut = cut(rest, .name) { return try withoutClosing(rest.lowerBound..<cut) }
        // The line below may continue the string.
        let next = bytes[rest.upperBound...].drop(while: \.isJSONSpace).prefix(500).prefix { !$0.isLineBreak }
        if let quote = next.firstIndex(of: UInt8(ascii: "\"")), quote > next.startIndex, isDelimiter(quote + 1),
            !next[..<quote].contains(where: { "{}[]:".utf8.contains($0) }),
            (bytes[(quote + 1)...].first { !$0.isJSONSpace } == UInt8(ascii: ":")) == (expected == .name)
        {
            position = quote + 1
            let joined = try (text(rest) ?? "") + (text(next.startIndex..<quote) ?? "")
            let sentence = "there is a line break in this string; write \(quoted(joined)) on one line"
            try report(error(sentence, at: rest.upperBound), rest)
            return JSONToken(kind: .string(nil), range: rest.lowerBound - 1..<position)
        }
        let last = bytes[rest].lastIndex { !$0.isJSONSpace && !$0.isClosingBracket && $0 != UInt8(ascii: ",") }
        return try withoutClosing(rest.lowerBound..<(last.map { $0 + 1 } ?? rest.lowerBound))
    }

    /// Reads a string whose closing quotation mark is missing, or is a typographic one.
    private mutating func withoutClosing(_ content: Range<Int>) throws(Stop) -> JSONToken {
        let end = (bytes[content].lastIndex { !$0.isJSONSpace } ?? content.lowerBound - 1) + 1
        position = end
        var range = content.lowerBound..<end
        let shown = bytes[range].firstInvalidUTF8() == nil ? scanner.text(range) : "…"
        if let quote = shown.last, Self.quotes.contains(quote) {
            range = content.lowerBound..<end - String(quote).utf8.count
            let sentence = "write a straight quotation mark (\") here, not a typographic one (\(quote))"
            try report(sentence, range.upperBound..<end, "\"")
        } else {
            try report("a quotation mark is missing here, at the end of \(quoted(shown))", end..<end, "\"")
        }
        return JSONToken(kind: .string(try text(range)), range: content.lowerBound - 1..<end)
    }

    /// Reads a string in single or typographic quotation marks or in backticks.
    private mutating func foreignString() throws(Stop) -> JSONToken {
        let start = position
        let opening = scanner.character(at: start)
        position += opening?.width ?? 1
        let content = position
        var mark: (character: Character, offset: Int)?
        while mark == nil, let byte = current, !byte.isLineBreak {
            let (character, width) = scanner.character(at: position) ?? (" ", 1)
            let isQuote = character == "\"" || Self.quotes.contains(character)
            if isQuote, isDelimiter(position + width) { mark = (character, position) }
            position += width
        }
        let range = content..<(mark?.offset ?? position)
        guard let text = try text(range) else { return JSONToken(kind: .string(nil), range: start..<position) }
        let first = opening?.0 ?? "'"
        let marks = "\(first)" + (mark.map { $0.character == "\"" ? "" : " \($0.character)" } ?? "")
        let kind = ["'": "single ones", "`": "backticks"][first] ?? "typographic ones"
        let sentence = "\(quoted(text)) needs straight double quotation marks (\"), not \(kind) (\(marks))"
        try report(error(sentence, at: start), start..<position, mark == nil ? nil : jsonString(text))
        return JSONToken(kind: .string(text), range: start..<position)
    }

    /// Quotation marks that are not JSON's.
    static let quotes: Set<Character> = [
        "'", "`", "\u{201C}", "\u{201D}", "\u{201E}", "\u{AB}", "\u{BB}", "\u{2018}", "\u{2019}", "\u{201A}",
        "\u{2039}", "\u{203A}", "\u{300C}", "\u{300D}", "\u{FF02}",
    ]

    /// True if the text ends at `offset`, or if a character that may follow a string is there.
    private func isDelimiter(_ offset: Int) -> Bool {
        guard offset < bytes.count else { return true }
        return bytes[offset].isJSONSpace || bytes[offset].isClosingBracket || ",:;=)+".utf8.contains(bytes[offset])
            || bytes[offset] >= 0x80
    }

    /// True if a string may end at `offset`: a comma, a colon, a bracket or the end of the line is next.
    private func isEnd(_ offset: Int) -> Bool {
        let next = bytes[offset...].first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        return next.map { ",:}]\n\r".utf8.contains($0) } ?? true
    }

    /// Returns the text between quotation marks, without its escapes; nil if it cannot be read.
    private mutating func text(_ range: Range<Int>) throws(Stop) -> String? {
        if let error = scanner.encodingError(in: range) {
            try report(error, range)
            return nil
        }
        var (content, isSound): ([UInt8], Bool) = ([], true)
        let end = position
        defer { position = end }
        position = range.lowerBound
        while position < range.upperBound {
            let (start, byte) = (position, bytes[position])
            if byte == UInt8(ascii: "\\") {
                do throws(JSONSyntaxError) {
                    content += String(try scanner.escape()).utf8
                } catch {
                    // A folder's name follows the backslash of a Windows path.
                    let isPath = start + 1 < range.upperBound && "ux".utf8.contains(bytes[start + 1]) == false
                    try report(error, start..<start + 1, isPath && bytes[start + 1].isASCIILetter ? "/" : nil)
                    isSound = isSound && repairs.last?.replacement != nil
                    content.append(UInt8(ascii: "/"))
                    position = start + 1
                }
                continue
            }
            position += 1
            content.append(byte)
            guard byte < 0x20 else { continue }
            let character = codePoint(String(Unicode.Scalar(byte)))
            let name = byte == UInt8(ascii: "\t") ? "tab" : "control character (\(character))"
            if isSound {
                try report("there is a \(name) between these quotation marks; remove it", start..<position, nil)
            }
            isSound = false
        }
        guard isSound else { return nil }
        do throws(JSONSyntaxError) {
            return try scanner.streamSafe(String(decoding: content, as: UTF8.self), at: range.lowerBound - 1)
        } catch {
            try report(error, range)
            return nil
        }
    }

    // MARK: - Between tokens

    /// Skips white space; reports comments, the lines of a merge conflict and invisible characters.
    mutating func skipSpace() throws(Stop) {
        while let byte = current {
            if byte.isJSONSpace {
                position += 1
            } else if let end = endOfConflictMarker {
                let sentence =
                    "there is a Git merge conflict here; keep one version, and remove the lines with <, = and >"
                try report(sentence, position..<end, nil)
                position = end
            } else if try !skipComments(), try !skipInvisible() {
                return
            }
        }
    }

    /// The end of the line that Git writes to mark a part of a merge conflict; nil if none begins here.
    private var endOfConflictMarker: Int? {
        guard position == 0 || bytes[position - 1] == UInt8(ascii: "\n") else { return nil }
        let isMarker = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].contains {
            bytes[position...].starts(with: $0.utf8)
        }
        return isMarker ? bytes[position...].firstIndex(where: \.isLineBreak) ?? bytes.count : nil
    }

    /// Skips consecutive comments, and reports one error; returns false if there are none.
    private mutating func skipComments() throws(Stop) -> Bool {
        let start = position
        var (end, count) = (start, 0)
        while let next = endOfComment {
            (end, position, count) = (next, next, count + 1)
            while let byte = current, byte.isJSONSpace { position += 1 }
        }
        guard count > 0 else { return false }
        position = end
        let rest = bytes[start..<end]
        if rest.starts(with: "/*".utf8), !rest.suffix(2).elementsEqual("*/".utf8), end == bytes.count {
            throw stop(error("this comment is never closed, and JSON has no comments; remove it", at: start))
        }
        // A commented-out entry can be used again.
        let first = rest.first { !"/*#<!- ".utf8.contains($0) }
        let isEntry = (first == UInt8(ascii: "\"") || first == UInt8(ascii: "}")) && !rest.contains(UInt8(ascii: "\n"))
        let remedy =
            if count > 1 {
                "remove this one and the \(count == 2 ? "next" : "next \(count - 1)")"
            } else if isEntry {
                "remove the whole line, or, to use the entry again, only what is before it"
            } else {
                "remove it, or write \"$comment\": \"…\" with a comma after it instead"
            }
        // A comment in lines of its own is removed with them.
        let line = bytes[..<start].lastIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }.map { $0 + 1 } ?? 0
        let isAlone = end < bytes.count && bytes[end].isLineBreak && (line == 0 || bytes[line - 1].isLineBreak)
        try report(error("JSON has no comments; \(remedy)", at: start), isAlone ? line..<end + 1 : start..<end, "")
        return true
    }

    /// The end of the comment that begins here; nil if none does.
    private var endOfComment: Int? {
        let rest = bytes[position...]
        for (opening, closing) in [("/*", "*/"), ("<!--", "-->")] where rest.starts(with: opening.utf8) {
            let end = rest.indices.dropFirst(opening.utf8.count).first { rest[$0...].starts(with: closing.utf8) }
            return end.map { $0 + closing.utf8.count } ?? bytes.count
        }
        guard rest.starts(with: "//".utf8) || rest.first == UInt8(ascii: "#") else { return nil }
        let line = rest.prefix { !$0.isLineBreak }
        // `//h.org/path: "…"` is a name without its quotation marks.
        let word = line.prefix(500).dropFirst(2).prefix { !$0.isJSONSpace && $0 != UInt8(ascii: "\"") }
        let isKey =
            word.first?.isASCIILetter == true && word.contains(UInt8(ascii: "."))
            && (word.last == UInt8(ascii: ":")
                || word.endIndex < line.endIndex && bytes[word.endIndex] == UInt8(ascii: "\""))
        return isKey ? nil : line.endIndex
    }

    /// Skips consecutive characters that are invisible or look like spaces, and reports one error.
    private mutating func skipInvisible() throws(Stop) -> Bool {
        let start = position
        var first: Unicode.Scalar?
        while let (character, width) = scanner.character(at: position), let scalar = character.unicodeScalars.first,
            scalar.isInvisible, scalar != " ", scalar != "\0", first == nil || !scalar.isASCII
        {
            first = first ?? scalar
            position += width
        }
        guard let first else { return false }
        let name = first.properties.name?.lowercased() ?? codePoint(String(first))
        try report("there is an invisible character (\(name)) here; type a plain space instead", start..<position, " ")
        return true
    }
}

extension UInt8 {
    var isClosingBracket: Bool { self == UInt8(ascii: "}") || self == UInt8(ascii: "]") }
    var isLineBreak: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
}
