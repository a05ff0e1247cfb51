import Foundation
import LocalSubstitutionCache

/// A part of a JSON text, or of a text that was meant to be JSON.
struct JSONToken {
    enum Kind: Equatable {
        /// A bracket, a comma or a colon; a mark that is often written instead of one has been replaced by it.
        case mark(UInt8)
        /// A string, also one without quotation marks; the text is nil if it cannot be read.
        case string(String?)
        case number(String)
        /// `true`, `false` or `null`.
        case word(String)
        /// Text that can be no part of JSON.
        case stray
        case end

        /// The text of a string; nil for anything else.
        var text: String? { if case .string(let text) = self { text } else { nil } }
    }

    let kind: Kind
    let range: Range<Int>

    func isMark(_ mark: Unicode.Scalar) -> Bool { kind == .mark(UInt8(ascii: mark)) }

    var isClosing: Bool { isMark("}") || isMark("]") }

    /// True if a value may begin with the token.
    var isBeginOfValue: Bool {
        switch kind {
        case .string, .number, .word: true
        default: isMark("{") || isMark("[")
        }
    }
}

/// The tokenizer, which continues after a mistake.
///
/// Texts on one line are examined for at most 500 bytes, so that the time stays linear.
extension RepairingJSONParser {
    /// Reads the next token into `token`.
    mutating func advance(_ expected: Expected? = nil) throws(Stop) {
        self.expected = expected ?? self.expected
        let last = token.range.upperBound
        known = repairs.count
        try skipSpace()
        end = last
        let start = position
        guard let (character, width) = scanner.character(at: start), let byte = current else {
            if let error = scanner.encodingError(in: start..<bytes.count) { throw stop(error) }
            token = JSONToken(kind: .end, range: start..<start)
            return
        }
        let isNumber =
            byte.isASCIIDigit || character == "-" && bytes.dropFirst(start + 1).first?.isASCIIDigit == true
        let kind: JSONToken.Kind
        if "{}[],:".utf8.contains(byte) {
            position += 1
            kind = .mark(byte)
        } else if byte == UInt8(ascii: "\"") || Self.quotes.contains(character) {
            kind = try string(character, width)
        } else if isNumber, !isName {
            kind = try number()
        } else if isNumber || character.isLetter || "/_$".utf8.contains(byte) || byte == UInt8(ascii: ".") && isName {
            kind = try word()
        } else if byte == 0 {
            let sentence = "the file is not plain text (it has a NUL byte here); save it as plain text, in UTF-8"
            throw stop(error(sentence, at: start, kind: .encoding))
        } else {
            position += width
            kind = try mark(character, start)
        }
        token = JSONToken(kind: kind, range: start..<position)
    }

    /// True if a string would be a name.
    private var isName: Bool { expected == .name || expected == .comma && containers.last?.isObject == true }

    /// Reads a character that is no part of JSON, but may stand for one.
    private mutating func mark(_ character: Character, _ start: Int) throws(Stop) -> JSONToken.Kind {
        if containers.isEmpty, "=;()".contains(character) { return .stray }
        if character == "=", current == UInt8(ascii: ">") { position += 1 }
        // The full-width forms of Chinese and Japanese keyboards are equal to ASCII under Unicode's NFKC.
        let plain =
            ["(": "{", ")": "}", "=": ":", ";": expected == .colon ? ":" : ","][character]
            ?? String(character).precomposedStringWithCompatibilityMapping
        guard let byte = plain.utf8.first, plain.utf8.count == 1, "{}[]:,".utf8.contains(byte) else { return .stray }
        let written = quoted(scanner.text(start..<position))
        try report("write \"\(plain)\" here instead of \(written)", start..<position, plain)
        return .mark(byte)
    }

    private mutating func number() throws(Stop) -> JSONToken.Kind {
        let start = position
        do throws(JSONSyntaxError) {
            return .number(try scanner.number())
        } catch {
            position = start
            if error.kind == .word { return try word() }
            try report(error, bareText())
            return .string(nil)
        }
    }

    /// The words of JSON, as other languages write them; nil for those that JSON lacks.
    private static let words: [String: String?] = [
        "true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false", "null": "null",
        "none": "null", "nan": nil, "infinity": nil, "undefined": nil,
    ]

    /// Reads `true`, `false`, `null`, or a string without quotation marks.
    private mutating func word() throws(Stop) -> JSONToken.Kind {
        let range = bareText()
        guard scanner.encodingError(in: range) == nil else { return .string(try text(range)) }
        let text = scanner.text(range)
        // A quotation mark may be missing only at the beginning.
        let isOpen = range.upperBound == position && current == UInt8(ascii: "\"")
        if isOpen {
            position += 1
        } else if isName {
            if bytes[position...].first(where: { !$0.isJSONSpace }) != UInt8(ascii: ":") { return .stray }
        } else if let word = Self.words[text.lowercased()] {
            if word == nil { try report("JSON has no \(text); write a number, or null", range, nil) }
            if let word, word != text { try report("JSON writes \(word), not \(text)", range, word) }
            return word.map { .word($0) } ?? .string(nil)
        }
        let cause =
            isOpen
            ? "a quotation mark is missing before \(quoted(text))" : "\(quoted(text)) needs quotation marks around it"
        try report(cause, range.lowerBound..<(isOpen ? position : range.upperBound), jsonString(text))
        return .string(text)
    }

    /// Reads text without quotation marks, up to what ends it, and returns its range without white space at its end.
    private mutating func bareText() -> Range<Int> {
        let start = position
        while let byte = current, !byte.isLineBreak, !byte.isClosingBracket, !"\",\0".utf8.contains(byte) {
            let next = position + 1 < bytes.count ? bytes[position + 1] : UInt8(ascii: "\n")
            if byte == UInt8(ascii: ":"), next.isJSONSpace || "\"'{[".utf8.contains(next) { break }
            if byte.isJSONSpace, next == UInt8(ascii: "#") || bytes[(position + 1)...].starts(with: "//".utf8) { break }
            position += 1
        }
        let last = bytes[start..<position].lastIndex { !$0.isJSONSpace } ?? start
        return start..<min(last + 1, bytes.count)
    }

    // MARK: - Strings

    /// The quotation marks of JSON and of other languages.
    private static let quotes = Set("\"'`“”„«»‘’‚‹›「」＂")

    /// Reads a string, which may have other quotation marks than it should.
    private mutating func string(_ mark: Character, _ width: Int) throws(Stop) -> JSONToken.Kind {
        let opening = position
        let start = opening + width
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\""), !bytes[end].isLineBreak {
            end += bytes[end] == UInt8(ascii: "\\") && end + 1 < bytes.count && !bytes[end + 1].isLineBreak ? 2 : 1
        }
        end = min(end, bytes.count)
        let isClosed = mark == "\"" && end < bytes.count && bytes[end] == UInt8(ascii: "\"")
        if isClosed, bytes.dropFirst(end + 1).first?.isJSONSpace == true || isEnd(end + 1) {
            position = end + 1
            return .string(try text(start..<end))
        }
        let line = bytes[start...].prefix(500).prefix { !$0.isLineBreak }
        var closing: (mark: Character, offset: Int)?
        position = start
        while closing == nil, position < line.endIndex {
            let (character, width) = scanner.character(at: position) ?? (" ", 1)
            if Self.quotes.contains(character), isEnd(position + width) { closing = (character, position) }
            position += width
        }
        let cut = mark == "\"" ? cut(start..<max(start, end)) : nil
        if let cut, cut < closing?.offset ?? .max { closing = nil }
        // Without a mark, the string ends before what closes the list around it.
        let last = line.lastIndex { !$0.isJSONSpace && !$0.isClosingBracket && $0 != UInt8(ascii: ",") }
        var range = start..<(closing?.offset ?? cut ?? last.map { $0 + 1 } ?? start)
        if closing == nil { position = range.upperBound }
        let quote = UInt8(ascii: "\"")
        let isDoubled = closing != nil && (bytes[range].first == quote || bytes[range].last == quote)
        while !range.isEmpty, bytes[range.lowerBound] == quote { range.removeFirst() }
        while !range.isEmpty, bytes[range.upperBound - 1] == quote { range.removeLast() }
        guard let text = try text(range) else { return .string(nil) }
        let shown = quoted(text)
        let (sentence, offset) =
            if mark != "\"" || closing.map({ $0.mark != "\"" }) == true {
                (
                    "\(shown) needs straight double quotation marks (\"), not \(Self.kind(of: mark == "\"" ? closing?.mark : mark))",
                    opening
                )
            } else if closing == nil {
                ("a quotation mark is missing here, at the end of \(shown)", position)
            } else if isDoubled {
                ("there is a quotation mark too many at \(shown); remove it", opening)
            } else {
                ("a quotation mark in a string is written \\\"; write \(visible(jsonString(text)))", opening)
            }
        try report(error(sentence, at: offset), opening..<position, jsonString(text))
        return .string(text)
    }

    private static func kind(of mark: Character?) -> String {
        ["'": "single ones", "`": "backticks"][mark] ?? "typographic ones"
    }

    /// Returns the offset at which a string without its closing quotation mark ends, if something shows it.
    ///
    /// A name ends before the colon that is followed by a space, a value before such a comma.
    private func cut(_ content: Range<Int>) -> Int? {
        let mark = UInt8(ascii: isName ? ":" : ",")
        let place = content.prefix(500).first { index in
            bytes[index] == mark
                && (index + 1 == bytes.count || bytes[index + 1].isJSONSpace || "\"{[".utf8.contains(bytes[index + 1]))
        }
        let isLast = bytes[content].last { !$0.isJSONSpace } == mark
        return isName || isLast ? place : nil
    }

    /// True if a string may end at `offset`: the end of the line, or something that may follow a string.
    private func isEnd(_ offset: Int) -> Bool {
        guard let next = bytes[offset...].first(where: { $0 != 0x20 && $0 != 0x09 }) else { return true }
        return ",:;=)+}]\n\r/#<".utf8.contains(next) || next >= 0x80
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
                    let isPath =
                        start + 1 < range.upperBound && bytes[start + 1].isASCIILetter
                        && !"ux".utf8.contains(bytes[start + 1])
                    try report(error, start..<start + 1, isPath ? "/" : nil)
                    isSound = isSound && isPath
                    content.append(UInt8(ascii: "/"))
                    position = start + 1
                }
                continue
            }
            position += 1
            content.append(byte)
            guard byte < 0x20, isSound else { continue }
            let name = byte == 9 ? "tab" : "control character (\(codePoint(String(Unicode.Scalar(byte)))))"
            try report("there is a \(name) between these quotation marks; remove it", start..<position, nil)
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

    /// The beginnings and the ends of comments.
    private static let comments = [("/*", "*/"), ("<!--", "-->"), ("//", "\n"), ("#", "\n")]
    /// Those of the lines that Git writes around the parts of a merge conflict.
    private static let conflicts = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].map { ($0, "\n") }

    /// Skips white space; reports comments, the lines of a merge conflict and invisible characters.
    mutating func skipSpace() throws(Stop) {
        while let byte = current {
            let start = position
            if byte.isJSONSpace {
                position += 1
            } else if start == 0 || bytes[start - 1] == UInt8(ascii: "\n"), let end = end(of: Self.conflicts) {
                position = end
                let sentence =
                    "there is a Git merge conflict here; keep one version, and remove the lines with <, = and >"
                try report(sentence, start..<end, nil)
            } else if let end = end(of: Self.comments), !isKey {
                try skipComments(upTo: end)
            } else if let name = invisible(at: start) {
                repeat { position += scanner.character(at: position)?.width ?? 1 } while invisible(at: position) != nil
                let sentence = "there is an invisible character (\(name)) here; type a plain space instead"
                try report(sentence, start..<position, " ")
            } else {
                return
            }
        }
    }

    /// Returns the end of the comment or line that begins here; nil if none does.
    private func end(of kinds: [(opening: String, closing: String)]) -> Int? {
        let rest = bytes[position...]
        guard let (opening, closing) = kinds.first(where: { rest.starts(with: $0.opening.utf8) }) else { return nil }
        if closing == "\n" { return rest.firstIndex(where: \.isLineBreak) ?? bytes.count }
        let end = rest.indices.dropFirst(opening.utf8.count).first { rest[$0...].starts(with: closing.utf8) }
        return end.map { $0 + closing.utf8.count } ?? bytes.count
    }

    /// True at a name without its quotation marks, such as `//h.org/path: "…"`.
    private var isKey: Bool {
        let line = bytes[position...].prefix(500).prefix { !$0.isLineBreak }
        let word = line.dropFirst(2).prefix { !$0.isJSONSpace && $0 != UInt8(ascii: "\"") }
        return line.starts(with: "//".utf8) && word.first?.isASCIILetter == true && word.contains(UInt8(ascii: "."))
            && (word.last == UInt8(ascii: ":") || word.endIndex < line.endIndex && bytes[word.endIndex] == 0x22)
    }

    /// Skips consecutive comments, and reports one error.
    private mutating func skipComments(upTo first: Int) throws(Stop) {
        let start = position
        var end = first
        repeat {
            position = end
            while let byte = current, byte.isJSONSpace { position += 1 }
            if !isKey, let next = self.end(of: Self.comments) { end = next }
        } while end > position
        position = end
        // A comment in lines of its own is removed with them.
        let line = bytes[..<start].lastIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }.map { $0 + 1 } ?? 0
        let isAlone = end < bytes.count && bytes[end].isLineBreak && (line == 0 || bytes[line - 1].isLineBreak)
        let sentence = "JSON has no comments; remove it, or write \"$comment\": \"…\" with a comma after it instead"
        try report(error(sentence, at: start), isAlone ? line..<end + 1 : start..<end, "")
    }

    /// Returns the name of the character at an offset if it is invisible; nil for any other.
    private func invisible(at offset: Int) -> String? {
        guard let character = scanner.character(at: offset)?.0, let scalar = character.unicodeScalars.first,
            scalar.isInvisible, scalar != "\0", !scalar.isASCII || scalar != " "
        else { return nil }
        return scalar.properties.name?.lowercased() ?? codePoint(String(character))
    }
}

extension UInt8 {
    var isClosingBracket: Bool { self == UInt8(ascii: "}") || self == UInt8(ascii: "]") }
    var isLineBreak: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
}
