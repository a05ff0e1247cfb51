import LocalSubstitutionCache

/// What people write instead of JSON, taken for what they probably mean.
///
/// Each step reports an error and goes on behind what it has read, so that what follows is judged by itself.
extension RepairingJSONParser {
    // MARK: - Missing quotation marks

    /// The text before a place where the closing quotation mark is missing; nil when it cannot be read.
    mutating func closed(_ range: Range<Int>) throws(Stop) -> String? {
        var end = range.upperBound
        while end > range.lowerBound, bytes[end - 1].isJSONSpace { end -= 1 }
        guard try isUTF8(range.lowerBound..<end) else { return nil }
        let text = faultyText(range.lowerBound..<end)
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

    /// What to make of a string that its line, or the file, ends in.
    mutating func unclosedString(_ range: Range<Int>, isName: Bool) throws(Stop) -> String? {
        if isName {
            guard let colon = colonInside(range.lowerBound - 1..<range.upperBound) else {
                _ = try closed(range)
                return nil
            }
            position = colon
            return try closed(range.lowerBound..<colon)
        }
        // What closes the entry belongs behind the string.
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

    /// The value of a string that took the next one's opening quotation mark for its own end, as in `"a, "b"`; nil when
    /// it did not.
    mutating func withoutNextName(_ range: Range<Int>) throws(Stop) -> String? {
        guard let next = current, !next.isJSONSpace, !next.isClosingBracket, next != UInt8(ascii: ","),
            next != UInt8(ascii: ":"), next != UInt8(ascii: "\""),
            bytes[range].last(where: { !$0.isJSONSpace }) == UInt8(ascii: ","),
            let comma = range.first(where: { bytes[$0] == UInt8(ascii: ",") && bytes[$0 + 1].isJSONSpace })
        else { return nil }
        position = comma
        return try closed(range.lowerBound..<comma) ?? ""
    }

    /// The value of a string that begins at `opening` and goes on behind its quotation mark: with a word in quotation
    /// marks of its own, or with `+` and another string; nil when it does not.
    mutating func wholeString(from opening: Int) throws(Stop) -> String? {
        guard let next = bytes[position...].first(where: { !$0.isJSONSpace }),
            next == UInt8(ascii: "+") || current?.isASCIILetter == true || current?.isASCIIDigit == true
        else { return nil }
        // As much of the line as a person writes.
        let line = bytes[position...].prefix(500).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let quotes = line.indices.filter { bytes[$0] == UInt8(ascii: "\"") }
        let last = quotes.last { isEndOfValue($0 + 1) }
        guard let last, !bytes[opening...last].contains(UInt8(ascii: "\\")) else { return nil }
        let parts = bytes[opening...last].split(separator: UInt8(ascii: "\""))
        if next == UInt8(ascii: "+") {
            // Strings at even places, and at odd ones nothing but the sign between them.
            let isSum = parts.enumerated().allSatisfy { index, part in
                index.isMultiple(of: 2) || part.filter { !$0.isJSONSpace } == [UInt8(ascii: "+")]
            }
            guard isSum, try isUTF8(opening..<last) else { return nil }
            let sum = parts.enumerated().filter { $0.offset.isMultiple(of: 2) }.map {
                String(decoding: $1, as: UTF8.self)
            }
            try report(error("JSON adds no texts with \"+\"; write \(quoted(sum.joined()))", at: opening))
            position = last + 1
            return sum.joined()
        }
        let inner = quotes.prefix { $0 <= last }
        guard inner.count == 2, !line[..<last].contains(UInt8(ascii: ":")), try isUTF8(opening..<last)
        else { return nil }
        let text = faultyText(opening + 1..<last)
        let written = text.replacing("\"", with: "\\\"")
        try report(error("a quotation mark inside a text is written \\\"; write \"\(visible(written))\"", at: opening))
        position = last + 1
        return text
    }

    /// True where a value ends: nothing but a comma or a closing bracket follows on the line.
    private func isEndOfValue(_ offset: Int) -> Bool {
        guard let next = bytes[offset...].first(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else {
            return true
        }
        return next.isClosingBracket || ",\n\r".utf8.contains(next)
    }

    /// The last colon in a name's quotation marks that a value seems to follow.
    ///
    /// `range` is from the opening quotation mark to the closing one, or to the end of the line.
    func colonInside(_ range: Range<Int>) -> Int? {
        var end = range.upperBound
        while end > range.lowerBound + 1, bytes[end - 1].isJSONSpace || "{[".utf8.contains(bytes[end - 1]) { end -= 1 }
        if bytes[end - 1] == UInt8(ascii: ":") { return end - 1 }
        let isClosed = range.upperBound < bytes.count && bytes[range.upperBound] == UInt8(ascii: "\"")
        if isClosed { return nil }
        return range.last { bytes[$0] == UInt8(ascii: ":") && $0 + 1 < range.upperBound && bytes[$0 + 1].isJSONSpace }
    }

    /// Whether a colon, or what people write for one, comes next.
    var isFollowedByColon: Bool {
        let rest = bytes[position...].first { !$0.isJSONSpace }
        return rest == UInt8(ascii: ":") || rest == UInt8(ascii: "=")
    }

    /// Steps over the rest of a string that goes on in the next line; false when its end is missing instead.
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
            let joined = faultyText(parts[0]) + faultyText(parts[1])
            try report(error("a line break is between these quotation marks; write \(quoted(joined)) on one line"))
        }
        position = quote + 1
        return true
    }

    // MARK: - Other quotation marks, and none

    /// Text without quotation marks: up to a quotation mark, the end of the line, or what `ends` it.
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

    /// Whether bare text ends directly at a quotation mark, so that only the one before it is missing.
    func isClosedOnly(by range: Range<Int>) -> Bool {
        range.upperBound == position && current == UInt8(ascii: "\"")
    }

    /// Reports that bare text, which ends at the current place, needs quotation marks.
    mutating func reportMissingQuotes(around bare: Range<Int>) throws(Stop) {
        let text = quoted(faultyText(bare))
        if isClosedOnly(by: bare) {
            position += 1
            return try report(error("a quotation mark is missing before \(text)", at: bare.lowerBound))
        }
        try report(error("\(text) needs quotation marks around it", at: bare.lowerBound))
    }

    /// A string in single or typographic quotation marks, with an error; nil when there is none.
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
        let text = faultyText(content..<(end?.offset ?? position))
        let marks = "\(opening)" + (end.flatMap(\.mark).map { $0 == "\"" ? "" : " \($0)" } ?? "")
        let kind = ["'": "single ones", "`": "backticks"][opening] ?? "typographic ones"
        try report(
            error("\(quoted(text)) needs straight double quotation marks (\"), not \(kind) (\(marks))", at: start)
        )
        return Name(text: text)
    }

    static func isTypographicQuote(_ character: Character) -> Bool {
        "\u{201C}\u{201D}\u{201E}\u{AB}\u{BB}\u{2018}\u{2019}\u{201A}\u{2039}\u{203A}\u{300C}\u{300D}\u{FF02}"
            .contains(character)
    }

    // MARK: - Around the whole

    /// Steps over what stands before the first bracket in an answer that was copied from a chat, or in a text with
    /// Markdown: sentences, and the line that begins a block of code.
    ///
    /// False when no object follows.
    mutating func skipProse() throws(Stop) -> Bool {
        let start = position
        let brace = bytes.indices[start...].first { index in
            let next = bytes[(index + 1)...].first { !$0.isJSONSpace }
            return bytes[index] == UInt8(ascii: "{") && (next == UInt8(ascii: "\"") || next == UInt8(ascii: "}"))
                && bytes[..<index].last { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } == UInt8(ascii: "\n")
        }
        guard let brace else { return false }
        let line = bytes[..<brace].count { $0 == UInt8(ascii: "\n") } + 1
        let remedy = "remove all that stands before the \"{\" of line \(line)"
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

    /// True at a line that begins or ends a block of code in Markdown.
    var isFence: Bool { ["```", "~~~"].contains { bytes[position...].starts(with: $0.utf8) } }

    // MARK: - Between values

    /// Steps over comments, with one error for all that follow each other; false when there is none.
    mutating func skipComments() throws(Stop) -> Bool {
        if skipsConflictMarker { return try skipConflictMarker() }
        guard let length = commentLength else { return false }
        let start = position
        if bytes[start..<start + length].starts(with: "/*".utf8),
            !bytes[..<(start + length)].suffix(2).elementsEqual("*/".utf8)
        {
            throw stop(error("this comment is never closed, and JSON has none; remove it", at: start))
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

    /// Whether a line begins here that Git writes where two versions could not be joined.
    private var skipsConflictMarker: Bool {
        guard position == 0 || bytes[position - 1] == UInt8(ascii: "\n") else { return false }
        return ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].contains { bytes[position...].starts(with: $0.utf8) }
    }

    private mutating func skipConflictMarker() throws(Stop) -> Bool {
        try report(
            error("two versions that Git could not join are here; keep one, and remove the lines with <, = and >")
        )
        while let byte = current, byte != UInt8(ascii: "\n") { position += 1 }
        return true
    }

    /// What to do with a comment, or with several that follow each other.
    func comment(_ range: Range<Int>, _ count: Int) -> JSONSyntaxError {
        let lines = bytes[range].count { $0 == UInt8(ascii: "\n") }
        let content = bytes[range].drop { "/*#<!- ".utf8.contains($0) }
        let isEntry = content.first == UInt8(ascii: "\"") || content.first == UInt8(ascii: "}")
        let remedy =
            if count > 1 {
                "remove this one and the \(count == 2 ? "next" : "next \(count - 1)")"
            } else if isEntry, lines == 0 {
                "remove the whole line, or use the entry again by removing only what is before it"
            } else {
                "remove it, or write \"$comment\": \"…\" with a comma after it instead"
            }
        return error("JSON has no comments; \(remedy)", at: range.lowerBound)
    }

    /// The length of the comment that begins here.
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
        // `//host/path": …` is a key whose first quotation mark is missing, and `//host/path: …` one without any.
        let beginning = rest.prefix(500).prefix(while: isInLine)
        let word = beginning.prefix { !$0.isJSONSpace && $0 != UInt8(ascii: "\"") }
        let isClosed = word.endIndex < beginning.endIndex && beginning[word.endIndex] == UInt8(ascii: "\"")
        let isKey =
            isSlashes && word.dropFirst(2).first.map { $0.isASCIILetter || $0.isASCIIDigit } == true
            && word.contains(UInt8(ascii: ".")) && (word.last == UInt8(ascii: ":") || isClosed)
        return isKey ? nil : rest.prefix(while: isInLine).count
    }

    /// Steps over characters that look like spaces, with one error for all that follow each other; false when there are
    /// none.
    mutating func skipInvisible() throws(Stop) -> Bool {
        guard let (first, width) = scanner.character(at: position), first.unicodeScalars.allSatisfy(\.isInvisible)
        else {
            return false
        }
        let name = first.unicodeScalars.first?.properties.name?.lowercased() ?? codePoint(String(first))
        try report(error("an invisible character (\(name)) is here; type a plain space instead"))
        position += width
        while let (next, width) = scanner.character(at: position), next.unicodeScalars.allSatisfy(\.isInvisible),
            next != " "
        {
            if next.isASCII { break }
            position += width
        }
        return true
    }
}
