import Foundation
import LocalSubstitutionCache

/// A part of a JSON text, or of a text that was meant to be JSON.
struct JSONToken {
    enum Kind: Equatable {
        /// A bracket, a comma or a colon; a mark that is often written instead of one has been replaced by it.
        case mark(UInt8)
        /// A string, also one without quotation marks; the text is nil if it cannot be read.
        case string(String?)
        /// A number, `true`, `false` or `null`.
        case literal
        /// Text that can be no part of JSON.
        case stray
        case end
    }

    let kind: Kind
    let range: Range<Int>

    func isMark(_ mark: Unicode.Scalar) -> Bool { kind == .mark(UInt8(ascii: mark)) }

    /// The text of a string; nil for anything else.
    var text: String? { if case .string(let text) = kind { text } else { nil } }

    /// True if a value may begin with the token.
    var isBeginOfValue: Bool {
        if case .string = kind { return true }
        return kind == .literal || isMark("{") || isMark("[")
    }
}

/// The tokenizer, which continues after a mistake.
///
/// ``JSONParser`` reads each string again, so that both agree.
extension RepairingJSONParser {
    /// Reads the next token into `token`.
    mutating func advance() throws(JSONSyntaxError) {
        end = token.range.upperBound
        try skipSpace()
        let start = position
        guard let scalar = scalar(at: start) else { return token = JSONToken(kind: .end, range: start..<start) }
        position += scalar.utf8.count
        let kind: JSONToken.Kind
        if "{}[],:".unicodeScalars.contains(scalar) {
            kind = .mark(bytes[start])
        } else if Self.quotes.contains(scalar) {
            kind = try string(from: start)
        } else if scalar.properties.isAlphabetic || bytes[start].isASCIIDigit || "/_$.-".unicodeScalars.contains(scalar)
        {
            kind = try word(from: start)
        } else {
            kind = try mark(scalar, start..<position)
        }
        token = JSONToken(kind: kind, range: start..<position)
    }

    /// True if a string would be a name.
    private var isName: Bool { expected == .name || expected == .comma && containers.last?.isObject == true }

    /// Returns the character at an offset; nil at the end of the text.
    func scalar(at offset: Int) -> Unicode.Scalar? {
        String(decoding: bytes[offset...].prefix(4), as: UTF8.self).unicodeScalars.first
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Reads a character that is no part of JSON, but may stand for one.
    private mutating func mark(_ scalar: Unicode.Scalar, _ range: Range<Int>) throws(JSONSyntaxError) -> JSONToken.Kind
    {
        // The full-width forms of Chinese and Japanese keyboards are equal to ASCII under Unicode's NFKC.
        let plain =
            ["=": ":", ";": expected == .colon ? ":" : ","][scalar]
            ?? String(scalar).precomposedStringWithCompatibilityMapping
        guard let byte = plain.utf8.first, ["{", "}", "[", "]", ":", ","].contains(plain) else { return .stray }
        try report("write \"\(plain)\" here instead of \(quoted(text(range)))", range, plain)
        return .mark(byte)
    }

    /// Reads a number, `true`, `false`, `null`, or a string without quotation marks.
    private mutating func word(from start: Int) throws(JSONSyntaxError) -> JSONToken.Kind {
        position = start
        skipWord()
        let last = bytes[start..<position].lastIndex { !$0.isJSONSpace } ?? start
        let range = start..<last + 1
        let text = text(range)
        // A quotation mark may be missing only at the beginning.
        if range.upperBound == position, current == UInt8(ascii: "\"") {
            position += 1
            let sentence = "a quotation mark is missing before \(quoted(text))"
            return try string(start..<position, "\"\(text)\"", sentence)
        }
        position = range.upperBound
        if isName {
            if bytes[position...].first(where: { !$0.isJSONSpace }) != UInt8(ascii: ":") { return .stray }
        } else if let word = AdviceTable.current.words[text.lowercased()] {
            if word != text { try report("JSON writes \(word), not \(text)", range, word) }
            return .literal
        } else if bytes[start].isASCIIDigit || bytes[start] == UInt8(ascii: "-") {
            let document = JSONParser.parse(bytes[range])
            if document.isValid { return .literal }
            if let error = document.errors.first, error.offset == 0, error.kind != .word {
                try report(error.message, range, nil, standIn: "null")
                return .literal
            }
        }
        return try string(range, "\"\(text)\"", "\(quoted(text)) needs quotation marks around it")
    }

    /// Skips text without quotation marks, up to what ends it.
    private mutating func skipWord() {
        while let byte = current, !byte.isLineBreak, !"}]\",;".utf8.contains(byte) {
            let next = position + 1 < bytes.count ? bytes[position + 1] : UInt8(ascii: "\n")
            if byte == UInt8(ascii: ":"), next.isJSONSpace || "\"'{[".utf8.contains(next) { break }
            let rest = bytes[(position + 1)...]
            if byte.isJSONSpace, Self.comments.contains(where: { rest.starts(with: $0.0.utf8) }) { break }
            position = endOfUserInformation(at: position) ?? position + 1
        }
    }

    /// Returns the offset after the "@" if the text at an offset is "//" and a URL's user information; nil otherwise.
    ///
    /// No string ends before it: a message would print the part, because ``quoted(_:limit:)`` finds only the whole.
    private func endOfUserInformation(at offset: Int) -> Int? {
        guard bytes[offset...].starts(with: "//".utf8) else { return nil }
        let authority = bytes[(offset + 2)...].prefix { $0 > 0x20 && !"/?#\"".utf8.contains($0) }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 }
    }

    // MARK: - Strings

    /// The quotation marks of JSON and of other languages.
    private static let quotes = Set("\"'`“”„«»‘’‚‹›「」＂".unicodeScalars)
    /// An escape, or a quotation mark that lacks one.
    nonisolated(unsafe) private static let escapeOrQuote = /\\.|"/.dotMatchesNewlines()

    /// Reads a string after its first quotation mark; both marks may be other ones than they should.
    private mutating func string(from opening: Int) throws(JSONSyntaxError) -> JSONToken.Kind {
        let (start, quote) = (position, UInt8(ascii: "\""))
        let isStraight = bytes[opening] == quote
        while let byte = current, byte != quote, !byte.isLineBreak { position += isEscape(position) ? 2 : 1 }
        if isStraight, current == quote, isEnd(position + 1) || bytes[position + 1].isJSONSpace {
            position += 1
            return try string(opening..<position)
        }
        let end = bytes[start...].firstIndex(where: \.isLineBreak) ?? bytes.count
        position = start
        var offsets: [Int] = []
        while position < end, let scalar = scalar(at: position) {
            if Self.quotes.contains(scalar), isEnd(position + scalar.utf8.count) { break }
            offsets.append(position)
            position = endOfUserInformation(at: position) ?? position + (isEscape(position) ? 2 : scalar.utf8.count)
        }
        // Without its mark, a name ends before its colon, and a value before the comma in front of the next string.
        let separator = UInt8(ascii: isName ? ":" : ",")
        let cut = offsets.first { index in
            let rest = bytes[(index + 1)...]
            return bytes[index] == separator && rest.first.map { $0.isJSONSpace || "\"{[".utf8.contains($0) } ?? true
                && (isName || rest.first { !$0.isJSONSpace } == quote)
        }
        if isStraight, position == end || cut != nil {
            let last = bytes[start..<position].lastIndex { !$0.isJSONSpace && !"}],".utf8.contains($0) }
            position = cut ?? last.map { $0 + 1 } ?? start
            let (range, text) = (opening..<position, text(start..<position))
            let sentence = "a quotation mark is missing here, at the end of \(quoted(text))"
            return try string(range, "\"\(text)\"", sentence, at: position)
        }
        let content = text(start..<position).trimmingCharacters(in: ["\""])
        position += scalar(at: position).map { Self.quotes.contains($0) ? $0.utf8.count : 0 } ?? 0
        let written = content.replacing(Self.escapeOrQuote) { $0.output == "\"" ? "\\\"" : $0.output }
        let sentence = "write \(visible("\"\(written)\"")), with one straight quotation mark (\") at each end"
        return try string(opening..<position, "\"\(written)\"", sentence)
    }

    /// True at a quotation mark or a backslash with the backslash before it.
    private func isEscape(_ offset: Int) -> Bool {
        bytes[offset...].starts(with: #"\""#.utf8) || bytes[offset...].starts(with: #"\\"#.utf8)
    }

    /// True if a string may end at `offset`: the end of the line, or something that may follow a string.
    private func isEnd(_ offset: Int) -> Bool {
        let line = bytes[min(offset, bytes.count)...].prefix(500)
        guard let next = line.first(where: { $0 != 0x20 && $0 != 0x09 }) else { return true }
        return ",:;=}]\n\r/#<".utf8.contains(next) || next >= 0x80
    }

    /// Returns the string at a range, or the one to write there instead.
    private mutating func string(
        _ range: Range<Int>,
        _ written: String? = nil,
        _ sentence: String = "",
        at offset: Int? = nil
    ) throws(JSONSyntaxError) -> JSONToken.Kind {
        let string = written ?? text(range)
        let document = JSONParser.parse(Array(string.utf8))
        if case .string(let text) = document.value.kind {
            if written != nil { try report(sentence, range, string, at: offset) }
            return .string(text)
        }
        let cause = document.errors.first
        let place = range.lowerBound + (written == nil ? cause?.offset ?? 0 : 0)
        try report(cause?.message ?? "", range, nil, standIn: "\"\"", at: place)
        return .string(nil)
    }

    // MARK: - Between tokens

    /// The beginnings and the ends of comments.
    private static let comments = [("/*", "*/"), ("<!--", "-->"), ("//", "\n"), ("#", "\n")]

    /// Skips white space; reports comments and invisible characters.
    mutating func skipSpace() throws(JSONSyntaxError) {
        while let byte = current {
            let start = position
            if byte.isJSONSpace {
                position += 1
            } else if var end = endOfComment(at: start) {
                while let next = bytes[end...].firstIndex(where: { !$0.isJSONSpace }), let last = endOfComment(at: next)
                {
                    end = last
                }
                position = end
                let sentence =
                    "JSON has no comments; remove it, or write \"$comment\": \"…\" with a comma after it instead"
                let space = bytes[..<start].lastIndex { !$0.isJSONSpace }.map { $0 + 1 } ?? 0
                try report(sentence, space..<end, "", at: start)
            } else if let first = scalar(at: start), first.isInvisible {
                while let scalar = scalar(at: position), scalar.isInvisible { position += scalar.utf8.count }
                let name = first.properties.name?.lowercased() ?? codePoint(String(first))
                try report(
                    "there is an invisible character (\(name)) here; type a plain space instead",
                    start..<position,
                    " "
                )
            } else {
                return
            }
        }
    }

    /// Returns the end of the comment at an offset; nil if there is none.
    private func endOfComment(at start: Int) -> Int? {
        let rest = bytes[start...]
        guard let (opening, closing) = Self.comments.first(where: { rest.starts(with: $0.0.utf8) }), !isKey(at: start)
        else { return nil }
        if closing == "\n" { return rest.firstIndex(where: \.isLineBreak) ?? bytes.count }
        let end = rest.indices.dropFirst(opening.utf8.count).first { rest[$0...].starts(with: closing.utf8) }
        return end.map { $0 + closing.utf8.count } ?? bytes.count
    }

    /// True at a name without its quotation marks, such as `//h.org/path: "…"`.
    private func isKey(at start: Int) -> Bool {
        let line = bytes[start...].prefix(500).prefix { !$0.isLineBreak }
        let word = line.dropFirst(2).prefix { !$0.isJSONSpace && $0 != UInt8(ascii: "\"") }
        return line.starts(with: "//".utf8) && word.first?.isASCIILetter == true && word.contains(UInt8(ascii: "."))
            && (word.last == UInt8(ascii: ":") || word.endIndex < line.endIndex && bytes[word.endIndex] == 0x22)
    }
}

extension UInt8 {
    var isLineBreak: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
}
