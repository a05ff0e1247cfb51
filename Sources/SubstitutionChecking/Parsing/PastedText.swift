import LocalSubstitutionCache

/// A text with marks that another program added when it showed or copied the text.
///
/// Examples are the "+" of a diff, the ">" of a quotation, the numbers of lines, Excel's doubled quotation marks, and
/// the full-width punctuation of a keyboard for Chinese. Each mark is replaced by spaces or by what was meant. The
/// length of the text stays the same, so that the offsets of all other mistakes are right.
struct PastedText {
    /// The text without the marks.
    private(set) var bytes: [UInt8]
    /// The errors about the marks, in the order of the text.
    private(set) var errors: [JSONSyntaxError] = []

    /// Removes the marks from a text; nil if it has none.
    init?(_ buffer: UnsafeBufferPointer<UInt8>) {
        bytes = Array(buffer)
        removeLineMarks()
        removeDoubledQuotes()
        removeLinks()
        replaceSquareBrackets()
        replaceLookalikes()
        guard !errors.isEmpty else { return nil }
        errors.sort { $0.offset < $1.offset }
    }

    private mutating func report(_ message: String, at offset: Int) {
        errors.append(JSONSyntaxError(offset: offset, kind: .syntax, message: message))
    }

    private mutating func blank(_ range: Range<Int>) {
        for index in range where bytes[index] != UInt8(ascii: "\r") { bytes[index] = UInt8(ascii: " ") }
    }

    /// The ranges of the lines, without their line feeds.
    private var lines: [Range<Int>] {
        var (lines, start): ([Range<Int>], Int) = ([], 0)
        for index in bytes.indices where bytes[index] == UInt8(ascii: "\n") {
            lines.append(start..<index)
            start = index + 1
        }
        return lines + [start..<bytes.count]
    }

    // MARK: - At the beginning of lines

    private enum Mark {
        /// A line about a change in a diff, such as `@@ -1,3 +1,4 @@`.
        case heading
        case sign(Range<Int>, String)
        case number(Range<Int>, Int)
    }

    private mutating func removeLineMarks() {
        let marked = lines.compactMap { line in mark(of: line).map { (line, $0) } }
        guard let first = marked.first?.0 else { return }
        let isDiff = marked.contains { _, mark in
            switch mark {
            case .heading: true
            case .sign(_, let sign): sign == "+"
            case .number: false
            }
        }
        if isDiff { return removeDiff(marked) }
        let signs = marked.compactMap { line, mark -> (Range<Int>, String)? in
            if case .sign(let range, let sign) = mark { return (range, sign) }
            return nil
        }
        if let (range, sign) = signs.first {
            let what = sign == ">" || sign == "|" ? "a quotation" : "a list"
            report(
                "this line begins with \(quoted(sign)), which belongs to \(what); remove it"
                    + Self.others(signs.count - 1),
                at: range.lowerBound
            )
            signs.forEach { blank($0.0) }
            return
        }
        let numbers = marked.compactMap { _, mark -> (Range<Int>, Int)? in
            if case .number(let range, let number) = mark { return (range, number) }
            return nil
        }
        // Numbers without a mark after them are numbers of lines only if they count the lines.
        let isCount = zip(numbers, numbers.dropFirst()).allSatisfy { $0.1 + 1 == $1.1 }
        guard numbers.count > 1, isCount, let range = numbers.first?.0 else { return }
        report(
            "this line begins with its number; remove it" + Self.others(numbers.count - 1),
            at: max(range.lowerBound, first.lowerBound)
        )
        numbers.forEach { blank($0.0) }
    }

    private static func others(_ count: Int) -> String {
        count == 0
            ? ""
            : ", and from the \(count == 1 ? "other line" : "\(count) other lines") that \(count == 1 ? "has" : "have") one"
    }

    private mutating func removeDiff(_ marked: [(Range<Int>, Mark)]) {
        report(
            "this is a diff, as Git shows it; remove the lines that begin with \"-\", \"@@\" or \"diff\", and the \"+\" before "
                + "the others",
            at: marked[0].0.lowerBound
        )
        for (line, mark) in marked {
            switch mark {
            case .sign(let range, "+"): blank(range)
            case .heading, .sign: blank(line)
            case .number: break
            }
        }
    }

    private func mark(of line: Range<Int>) -> Mark? {
        guard let start = line.first(where: { !bytes[$0].isJSONSpace }) else { return nil }
        let headings = ["diff --git ", "@@ -", "+++ ", "--- a/", "--- b/", "index "]
        if start == line.lowerBound, headings.contains(where: { bytes[line].starts(with: $0.utf8) }) {
            return .heading
        }
        for sign in ["+", "-", "*", ">", "|", "•", "·", "–"]
        where bytes[start..<line.upperBound].starts(with: sign.utf8) {
            let end = start + sign.utf8.count
            return beginsValue(end..<line.upperBound) ? .sign(start..<end, sign) : nil
        }
        let digits = bytes[start..<line.upperBound].prefix(6).prefix(while: \.isASCIIDigit)
        guard !digits.isEmpty, let number = Int(String(decoding: digits, as: UTF8.self)) else { return nil }
        var end = digits.endIndex
        if end < line.upperBound, ".):|".utf8.contains(bytes[end]) { end += 1 }
        guard end < line.upperBound, bytes[end] == UInt8(ascii: " ") || bytes[end] == UInt8(ascii: "\t"),
            beginsValue(end..<line.upperBound)
        else { return nil }
        return .number(start..<end, number)
    }

    /// True if a line's first character is one with which JSON's names, values and brackets begin or end.
    private func beginsValue(_ rest: Range<Int>) -> Bool {
        guard let next = rest.first(where: { !bytes[$0].isJSONSpace }) else { return false }
        return "\"{}]'".utf8.contains(bytes[next]) || bytes[next..<rest.upperBound].starts(with: "“".utf8)
    }

    // MARK: - Quotation marks of tables

    /// Halves the quotation marks that spreadsheets double, as in `""name"": ""value""`.
    private mutating func removeDoubledQuotes() {
        let quote = UInt8(ascii: "\"")
        var first: Int?
        for line in lines {
            var doubled: [Int] = []
            var index = line.lowerBound
            while index + 1 < line.upperBound {
                let isPair = bytes[index] == quote && bytes[index + 1] == quote
                if isPair { doubled.append(index) }
                index += isPair ? 2 : 1
            }
            guard enclose(doubled, in: line) else { continue }
            first = first ?? doubled[0]
            for (number, place) in doubled.enumerated() {
                bytes[number.isMultiple(of: 2) ? place : place + 1] = UInt8(ascii: " ")
            }
        }
        guard let first else { return }
        // A spreadsheet also encloses each line, or the whole text, in quotation marks.
        for line in lines {
            let visible = line.filter { !bytes[$0].isJSONSpace }
            guard let start = visible.first, let end = visible.last else { continue }
            let after = visible.count > 1 ? bytes[visible[1]] : 0
            if bytes[start] == quote, start + 1 < line.upperBound,
                bytes[start + 1] == UInt8(ascii: " ") || "{}".utf8.contains(after)
            {
                blank(start..<start + 1)
            }
            let before = visible.count > 1 ? bytes[visible[visible.count - 2]] : 0
            if bytes[end] == quote, end > start, ",{}\"".utf8.contains(before) { blank(end..<end + 1) }
        }
        report(
            "the quotation marks are doubled, as Excel writes them; write \" in place of each \"\", and none around a line",
            at: first
        )
    }

    /// True if each two pairs of quotation marks enclose a string without quotation marks.
    ///
    /// An empty string is a pair that encloses nothing.
    private func enclose(_ pairs: [Int], in line: Range<Int>) -> Bool {
        guard !pairs.isEmpty, pairs.count.isMultiple(of: 2) else { return false }
        return stride(from: 0, to: pairs.count, by: 2).allSatisfy { index in
            let content = pairs[index] + 2..<pairs[index + 1]
            let before = pairs[index] > line.lowerBound ? bytes[pairs[index] - 1] : UInt8(ascii: " ")
            let after = content.upperBound + 2 < line.upperBound ? bytes[content.upperBound + 2] : UInt8(ascii: " ")
            return !content.isEmpty && !bytes[content].contains(UInt8(ascii: "\""))
                && !before.isASCIILetter && !before.isASCIIDigit && !after.isASCIILetter && !after.isASCIIDigit
                && !",:".utf8.contains(bytes[content.lowerBound])
        }
    }

    // MARK: - Links with quotation marks of their own

    /// Replaces a link of HTML or Markdown, in which there are quotation marks, by its URL.
    private mutating func removeLinks() {
        let marks = ["=\"", " \""].map { Array($0.utf8) }
        for line in lines where bytes[line].contains(UInt8(ascii: "<")) || bytes[line].contains(UInt8(ascii: "(")) {
            guard marks.contains(where: { bytes[line].firstRange(of: $0) != nil }),
                bytes[line].firstInvalidUTF8() == nil, case let text = String(decoding: bytes[line], as: UTF8.self)
            else { continue }
            for match in text.matches(of: Self.link) {
                guard let url = match.1 ?? match.2 else { continue }
                let start = line.lowerBound + text.utf8.distance(from: text.startIndex, to: match.range.lowerBound)
                let length = match.0.utf8.count
                let what = match.1 == nil ? "a link as Markdown writes it" : "HTML"
                report("this is \(what), not a URL; write \(quoted(String(url), limit: 1000))", at: start)
                blank(start..<start + length)
                let string = Array("\"\(url)\"".utf8)
                bytes.replaceSubrange(start..<start + string.count, with: string)
            }
        }
    }

    // No part of a line is read again after a failure: the first address of a tag counts, and the text of a link does
    // not contain the beginning of another link.
    nonisolated(unsafe) private static let link =
        /"(?:<[A-Za-z](?>[^<>\n]*?(?:href|src|content|url)="([^"<>\n]+)")[^<>\n]*+>(?:[^"\n]*?<\/[A-Za-z]+>)?|\[(?:[^"\]\n]|"(?!\[))*+\]\(([^\s")]+) "[^"\n]*"\))"(?=\s*[:,}\]])/

    // MARK: - Brackets

    /// Replaces the square brackets around names and values, as Swift and PHP write them, by curly ones.
    private mutating func replaceSquareBrackets() {
        let text = String(decoding: bytes.prefix(2000), as: UTF8.self)
        guard text.prefixMatch(of: Self.dictionary) != nil,
            let start = bytes.firstIndex(of: UInt8(ascii: "[")), let end = bytes.lastIndex(where: { !$0.isJSONSpace }),
            bytes[end] == UInt8(ascii: "]")
        else { return }
        report(
            "names and values are in [ ], as Swift writes them; write { in place of this [, and } in place of the last ]",
            at: start
        )
        bytes[start] = UInt8(ascii: "{")
        bytes[end] = UInt8(ascii: "}")
    }

    nonisolated(unsafe) private static let dictionary = /\s*\[\s*"[^"\n]*"\s*:/

    // MARK: - Punctuation

    /// Replaces punctuation outside of strings that only looks like JSON's.
    private mutating func replaceLookalikes() {
        guard bytes.contains(where: { $0 >= 0x80 }) else { return }
        var scanned = bytes
        var found: [(offset: Int, width: Int, character: Character, plain: Character)] = []
        scanned.withUnsafeBufferPointer { buffer in
            let scanner = JSONScanner(buffer)
            var index = 0
            var isInString = false
            while index < buffer.count {
                guard let (character, width) = scanner.character(at: index) else {
                    index += 1
                    continue
                }
                if character == "\n" {
                    isInString = false
                } else if isInString, character == "\\" {
                    index += 1
                } else if character == "\"" || RepairingJSONParser.isTypographicQuote(character) {
                    isInString.toggle()
                } else if !isInString, width > 1, let plain = Lookalike.plain(character), ":,;{}[]=".contains(plain) {
                    found.append((index, width, character, plain))
                }
                index += width
            }
        }
        for (offset, width, character, plain) in found.prefix(RepairingJSONParser.maximumErrors) {
            report(
                "\(quoted(String(character))) only looks like \(quoted(String(plain))); write \(quoted(String(plain)))",
                at: offset
            )
            blank(offset..<offset + width)
            bytes[offset] = plain.asciiValue ?? UInt8(ascii: " ")
        }
        scanned = []
    }
}
