import LocalSubstitutionCache

/// Repairs of common mistakes: text that is not JSON is read as the JSON that was probably meant.
///
/// Each repair reports an error, and parsing continues after the mistake. Ranges and offsets count the bytes of the
/// whole text. A string is either a name, which is what precedes the colon of an object's member, or a value.
///
/// `report` records an error, and throws `Stop` when there are too many. `stop` records an error after which parsing
/// cannot continue. `isUTF8` reports an error before it returns false.
extension RepairingJSONParser {
    // MARK: - Missing quotation marks

    /// Returns the string in `range`, and reports that its closing quotation mark is missing.
    ///
    /// `range` begins after the opening quotation mark, and may end in white space. The result is nil if the string is
    /// not UTF-8, or if it has escapes, which are not decoded here. `position` stays unchanged.
    mutating func closed(_ range: Range<Int>) throws(Stop) -> String? {
        var end = range.upperBound
        while end > range.lowerBound, bytes[end - 1].isJSONSpace { end -= 1 }
        guard try isUTF8(range.lowerBound..<end) else { return nil }
        let text = scanner.text(range.lowerBound..<end)
        if let last = text.last, Self.isTypographicQuote(last) {
            let mark = end - String(last).utf8.count
            try report(
                error("write a straight quotation mark (\") here, not a typographic one (\(last))", at: mark)
            )
            return text.contains("\\") ? nil : String(text.dropLast())
        }
        try report(error("a quotation mark is missing here, at the end of \(quoted(text))", at: end))
        return text.contains("\\") ? nil : text
    }

    /// Reads a string without a closing quotation mark; `range` is the rest of the line after the opening one.
    ///
    /// A name ends before its colon, as in `"name: {`; if it has no colon, the result is nil. A value ends before the
    /// commas and brackets at the end of the line, as in `"value,`.
    mutating func unclosedString(_ range: Range<Int>, isName: Bool) throws(Stop) -> String? {
        if isName {
            // The range for `colonInside` begins at the opening quotation mark.
            guard let colon = colonInside(range.lowerBound - 1..<range.upperBound) else {
                _ = try closed(range)
                return nil
            }
            position = colon
            return try closed(range.lowerBound..<colon)
        }
        // The comma and the brackets at the end of the line are JSON, and no part of the string.
        var end = range.upperBound
        while end > range.lowerBound,
            bytes[end - 1].isJSONSpace || bytes[end - 1].isClosingBracket
                || bytes[end - 1] == UInt8(ascii: ",")
        {
            end -= 1
        }
        position = end
        return try closed(range.lowerBound..<end)
    }

    /// Returns the string `a` of text such as `"a, "b"`, in which the closing quotation mark after `a` is missing.
    ///
    /// The parser has taken the opening quotation mark of `"b"` for the missing one. `range` is the string that it has
    /// read, here `a, `, and `position` is before `b`. On return, `position` is at the comma after `a`. The result is
    /// nil for text in any other form, and an empty string if `a` cannot be read.
    mutating func withoutNextName(_ range: Range<Int>) throws(Stop) -> String? {
        // A real closing quotation mark would be followed by white space, a closing bracket, a comma or a colon. A
        // second quotation mark is a different mistake.
        guard let next = current, !next.isJSONSpace, !next.isClosingBracket, next != UInt8(ascii: ","),
            next != UInt8(ascii: ":"), next != UInt8(ascii: "\""),
            bytes[range].last(where: { !$0.isJSONSpace }) == UInt8(ascii: ","),
            let comma = range.first(where: { bytes[$0] == UInt8(ascii: ",") && bytes[$0 + 1].isJSONSpace })
        else { return nil }
        position = comma
        return try closed(range.lowerBound..<comma) ?? ""
    }

    /// Reads the whole of a string that continues after its second quotation mark; nil if it does not continue.
    ///
    /// Such a string contains quotation marks, as in `"the "new" logo"`, or is joined to others, as in `"a" + "b"`.
    /// `opening` is the offset of its first quotation mark, and `position` is just after its second.
    mutating func wholeString(from opening: Int) throws(Stop) -> String? {
        // White space may precede a "+". A letter or digit continues the string only directly after the quotation mark.
        guard let next = bytes[position...].first(where: { !$0.isJSONSpace }),
            next == UInt8(ascii: "+") || current?.isASCIILetter == true || current?.isASCIIDigit == true
        else { return nil }
        // Look at 500 bytes of the line at most; strings that designers write are shorter.
        let line = bytes[position...].prefix(500).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let quotes = line.indices.filter { bytes[$0] == UInt8(ascii: "\"") }
        let ends = quotes.filter { isEndOfValue($0 + 1) }
        guard let last = next == UInt8(ascii: "+") ? ends.first : ends.last,
            !bytes[opening...last].contains(UInt8(ascii: "\\"))
        else { return nil }
        let parts = bytes[opening...last].split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
            .dropFirst().dropLast()
        if next == UInt8(ascii: "+") {
            // The parts at even indices are the strings, and each part between two of them is a "+".
            let isSum =
                !parts.count.isMultiple(of: 2)
                && parts.enumerated().allSatisfy { index, part in
                    index.isMultiple(of: 2) || part.filter { !$0.isJSONSpace } == [UInt8(ascii: "+")]
                }
            guard isSum, try isUTF8(opening..<last) else { return nil }
            let sum = parts.enumerated().filter { $0.offset.isMultiple(of: 2) }.map {
                String(decoding: $1, as: UTF8.self)
            }
            try report(error("JSON cannot join strings with \"+\"; write \(quoted(sum.joined()))", at: opening))
            position = last + 1
            return sum.joined()
        }
        // A string with one quoted word has two more quotation marks: after the word, and at the end of the string.
        let inner = quotes.prefix { $0 <= last }
        guard inner.count == 2, !line[..<last].contains(UInt8(ascii: ":")), try isUTF8(opening..<last)
        else { return nil }
        let text = scanner.text(opening + 1..<last)
        let written = text.replacing("\"", with: "\\\"")
        try report(error("a quotation mark in a string is written \\\"; write \"\(visible(written))\"", at: opening))
        position = last + 1
        return text
    }

    /// True if a value may end at `offset`: a comma, a closing bracket, or the end of the line or text is next.
    private func isEndOfValue(_ offset: Int) -> Bool {
        guard let next = bytes[offset...].first(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else {
            return true
        }
        return next.isClosingBracket || ",\n\r".utf8.contains(next)
    }

    /// Returns the offset of the last colon inside a name's quotation marks, if a value seems to follow that colon.
    ///
    /// In `"name: "value"`, for example, the name's closing quotation mark is missing, so the parser has read `name: `
    /// as the string. `range` begins at the opening quotation mark, and ends before the next one or at the line's end.
    func colonInside(_ range: Range<Int>) -> Int? {
        var end = range.upperBound
        while end > range.lowerBound + 1, bytes[end - 1].isJSONSpace || "{[".utf8.contains(bytes[end - 1]) { end -= 1 }
        if bytes[end - 1] == UInt8(ascii: ":") { return end - 1 }
        let isClosed = range.upperBound < bytes.count && bytes[range.upperBound] == UInt8(ascii: "\"")
        if isClosed { return nil }
        return range.last { bytes[$0] == UInt8(ascii: ":") && $0 + 1 < range.upperBound && bytes[$0 + 1].isJSONSpace }
    }

    /// True if the next character after white space is a colon, or the "=" that is often written instead.
    var isFollowedByColon: Bool {
        let rest = bytes[position...].first { !$0.isJSONSpace }
        return rest == UInt8(ascii: ":") || rest == UInt8(ascii: "=")
    }

    /// Skips the rest of a string that continues on the next line, and reports the line break.
    ///
    /// Returns false if the string does not seem to continue; then its closing quotation mark is missing.
    mutating func skipBrokenString(isName: Bool) throws(Stop) -> Bool {
        let next = bytes[position...].drop { $0.isJSONSpace }
        let line = next.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard let quote = line.firstIndex(of: UInt8(ascii: "\"")), quote > line.startIndex,
            line[..<quote].first?.isClosingBracket == false, !line[..<quote].contains(UInt8(ascii: ":"))
        else { return false }
        let after = bytes[(quote + 1)...].first { !$0.isJSONSpace }
        guard isName ? after == UInt8(ascii: ":") : after != UInt8(ascii: ":") else { return false }
        let opening = bytes[..<position].lastIndex(of: UInt8(ascii: "\"")) ?? position
        let parts = [opening + 1..<position, line.startIndex..<quote]
        if try isUTF8(parts[0]), try isUTF8(parts[1]) {
            let joined = scanner.text(parts[0]) + scanner.text(parts[1])
            try report(error("there is a line break in this string; write \(quoted(joined)) on one line"))
        }
        position = quote + 1
        return true
    }

    // MARK: - Other quotation marks, and none

    /// Reads text without quotation marks, up to a quotation mark, a line break, or a byte for which `ends` is true.
    ///
    /// Returns the range of the text without white space at its end.
    mutating func bareText(until ends: (UInt8, _ next: UInt8?) -> Bool) -> Range<Int> {
        let start = position
        while let byte = current, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r"), byte != UInt8(ascii: "\"") {
            if ends(byte, position + 1 < bytes.count ? bytes[position + 1] : nil) { break }
            position += 1
        }
        var end = position
        while end > start, bytes[end - 1].isJSONSpace { end -= 1 }
        return start..<end
    }

    /// True if a quotation mark directly follows bare text in `range`, so that only the opening one is missing.
    func isClosedOnly(by range: Range<Int>) -> Bool {
        range.upperBound == position && current == UInt8(ascii: "\"")
    }

    /// Reports that the bare text before `position` lacks one or both quotation marks, and skips the closing one.
    mutating func reportMissingQuotes(around bare: Range<Int>) throws(Stop) {
        let text = quoted(scanner.text(bare))
        if isClosedOnly(by: bare) {
            position += 1
            return try report(error("a quotation mark is missing before \(text)", at: bare.lowerBound))
        }
        try report(error("\(text) needs quotation marks around it", at: bare.lowerBound))
    }

    /// Reads a name or value in single or typographic quotation marks or in backticks, and reports the marks.
    ///
    /// The result is nil if there is no such string here. The text in the result is nil if the string is not UTF-8.
    mutating func foreignString() throws(Stop) -> Name? {
        let start = position
        guard let (opening, width) = scanner.character(at: start),
            opening == "'" || opening == "`" || Self.isTypographicQuote(opening)
        else {
            return nil
        }
        position += width
        let content = position
        var end: (mark: Character?, offset: Int)?
        while let byte = current, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
            guard let (character, width) = scanner.character(at: position) else {
                position += 1
                continue
            }
            let isQuote = "\"'`".contains(character) || Self.isTypographicQuote(character)
            let next = position + width < bytes.count ? bytes[position + width] : UInt8(ascii: "\n")
            if isQuote,
                next.isJSONSpace || next.isClosingBracket || next == UInt8(ascii: ",") || next == UInt8(ascii: ":")
            {
                end = (character, position)
                position += width
                break
            }
            position += width
        }
        guard try isUTF8(content..<(end?.offset ?? position)) else { return Name(text: nil) }
        let text = scanner.text(content..<(end?.offset ?? position))
        let marks = "\(opening)" + (end.flatMap(\.mark).map { $0 == "\"" ? "" : " \($0)" } ?? "")
        let kind = ["'": "single ones", "`": "backticks"][opening] ?? "typographic ones"
        try report(
            error("\(quoted(text)) needs straight double quotation marks (\"), not \(kind) (\(marks))", at: start)
        )
        return Name(text: text)
    }

    static func isTypographicQuote(_ character: Character) -> Bool {
        // Comparing scalars is much faster than comparing characters, for each of which Unicode's normal form counts.
        character.unicodeScalars.count == 1 && typographicQuotes.contains(character.unicodeScalars.first ?? "\0")
    }

    private static let typographicQuotes = Set(
        "\u{201C}\u{201D}\u{201E}\u{AB}\u{BB}\u{2018}\u{2019}\u{201A}\u{2039}\u{203A}\u{300C}\u{300D}\u{FF02}"
            .unicodeScalars
    )

    // MARK: - Before the object

    /// Skips any text before the first object, as in a chatbot's answer or a Markdown file, and reports an error.
    ///
    /// Such text may be prose, or the line that opens a code block. The object begins at the first line that begins
    /// with "{" and continues like JSON. This line is never the first line of the text, because the text begins with
    /// something else. Returns false if there is no object.
    mutating func skipProse() throws(Stop) -> Bool {
        let start = position
        let brace = bytes.indices[start...].first { index in
            guard bytes[index] == UInt8(ascii: "{") else { return false }
            let next = bytes[(index + 1)...].first { !$0.isJSONSpace }
            return (next == UInt8(ascii: "\"") || next == UInt8(ascii: "}"))
                && bytes[..<index].last { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } == UInt8(ascii: "\n")
        }
        guard let brace else { return false }
        let line = bytes[..<brace].count { $0 == UInt8(ascii: "\n") } + 1
        let remedy = "remove everything before the \"{\" of line \(line)"
        try report(
            error(
                isFence
                    ? "\"```\" is not JSON, but begins a block of code in Markdown; \(remedy), and the line that ends the block"
                    : "this is not JSON; \(remedy)"
            )
        )
        position = brace
        return true
    }

    /// True at a fence, the line that begins or ends a code block in Markdown.
    var isFence: Bool { ["```", "~~~"].contains { bytes[position...].starts(with: $0.utf8) } }

    // MARK: - Between values

    /// Skips consecutive comments, or one marker line of a merge conflict, and reports one error.
    ///
    /// Each of a conflict's three or four marker lines gets a separate error. Returns false if there is neither a
    /// comment nor a marker line here.
    mutating func skipComments() throws(Stop) -> Bool {
        if skipsConflictMarker { return try skipConflictMarker() }
        guard let length = commentLength else { return false }
        let start = position
        if bytes[start..<start + length].starts(with: "/*".utf8),
            !bytes[..<(start + length)].suffix(2).elementsEqual("*/".utf8)
        {
            throw stop(error("this comment is never closed, and JSON has no comments; remove it", at: start))
        }
        var end = start + length
        var count = 1
        while true {
            position = end
            while let byte = current, byte.isJSONSpace { position += 1 }
            guard let length = commentLength else { break }
            end = position + length
            count += 1
        }
        position = end
        try report(comment(start..<end, count))
        return true
    }

    /// True at the beginning of a line that Git writes to mark a part of a merge conflict.
    private var skipsConflictMarker: Bool {
        guard position == 0 || bytes[position - 1] == UInt8(ascii: "\n") else { return false }
        return ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].contains { bytes[position...].starts(with: $0.utf8) }
    }

    private mutating func skipConflictMarker() throws(Stop) -> Bool {
        try report(
            error("there is a Git merge conflict here; keep one version, and remove the lines with <, = and >")
        )
        while let byte = current, byte != UInt8(ascii: "\n") { position += 1 }
        return true
    }

    /// Returns an error that says how to remove or replace `count` consecutive comments.
    func comment(_ range: Range<Int>, _ count: Int) -> JSONSyntaxError {
        let lines = bytes[range].count { $0 == UInt8(ascii: "\n") }
        let content = bytes[range].drop { "/*#<!- ".utf8.contains($0) }
        // A commented-out entry can be used again if the characters that make it a comment are removed.
        let isEntry = content.first == UInt8(ascii: "\"") || content.first == UInt8(ascii: "}")
        let remedy =
            if count > 1 {
                "remove this one and the \(count == 2 ? "next" : "next \(count - 1)")"
            } else if isEntry, lines == 0 {
                "remove the whole line, or, to use the entry again, only what is before it"
            } else {
                "remove it, or write \"$comment\": \"…\" with a comma after it instead"
            }
        return error("JSON has no comments; \(remedy)", at: range.lowerBound)
    }

    /// The length in bytes of the comment that begins here; nil if none does.
    var commentLength: Int? {
        let rest = bytes[position...]
        if rest.starts(with: "/*".utf8) {
            var end = position + 2
            while end + 1 < bytes.count, bytes[end] != UInt8(ascii: "*") || bytes[end + 1] != UInt8(ascii: "/") {
                end += 1
            }
            return min(end + 2, bytes.count) - position
        }
        if rest.starts(with: "<!--".utf8) {
            let end = rest.indices.dropFirst(4).first { rest[$0...].starts(with: "-->".utf8) }
            return (end.map { $0 + 3 } ?? bytes.count) - position
        }
        let isSlashes = rest.starts(with: "//".utf8)
        guard isSlashes || rest.first == UInt8(ascii: "#") else { return nil }
        let isInLine: (UInt8) -> Bool = { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        // `//h.org/path": …` is a name without its opening quotation mark, and `//h.org/path: …` a name without both.
        // A comment that looks like such a name is unlikely.
        let beginning = rest.prefix(500).prefix(while: isInLine)
        let word = beginning.prefix { !$0.isJSONSpace && $0 != UInt8(ascii: "\"") }
        let isClosed = word.endIndex < beginning.endIndex && beginning[word.endIndex] == UInt8(ascii: "\"")
        let isKey =
            isSlashes && word.dropFirst(2).first.map { $0.isASCIILetter || $0.isASCIIDigit } == true
            && word.contains(UInt8(ascii: ".")) && (word.last == UInt8(ascii: ":") || isClosed)
        return isKey ? nil : rest.prefix(while: isInLine).count
    }

    /// Skips consecutive characters that are invisible or look like spaces, and reports one error.
    ///
    /// Returns false if there are none.
    mutating func skipInvisible() throws(Stop) -> Bool {
        guard let (first, width) = scanner.character(at: position), first.unicodeScalars.allSatisfy(\.isInvisible)
        else {
            return false
        }
        let name = first.unicodeScalars.first?.properties.name?.lowercased() ?? codePoint(String(first))
        try report(error("there is an invisible character (\(name)) here; type a plain space instead"))
        position += width
        while let (next, width) = scanner.character(at: position), next.unicodeScalars.allSatisfy(\.isInvisible),
            next != " "
        {
            // Tabs and line breaks are allowed, and other control characters get an error of their own.
            if next.isASCII { break }
            position += width
        }
        return true
    }
}
