import Foundation

/// Finds mistakes in a stylesheet, such as a preprocessor's syntax, or wrong brackets or quotation marks.
///
/// The scan reports only text that browsers ignore or misread. It accepts nesting, which is CSS today. It also accepts
/// `@mixin --name` and `@apply --name`, which are in drafts.
struct StylesheetScan {
    /// A mistake, with the word at which it is reported.
    struct Problem {
        let word: String
        /// The line, counted from 1.
        let line: Int
        let sentence: String
    }

    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    /// The lines of the open braces, outermost first.
    private var braces: [Int] = []
    /// The number of open parentheses.
    private var brackets = 0
    /// The index and the line at which the current declaration or rule begins.
    private var start = (index: 0, line: 1)
    /// True after the first rule with braces.
    private var hasRule = false

    /// Returns a mistake, usually the first; nil if there is none.
    static func problem(in text: Data) -> Problem? {
        var scan = StylesheetScan(bytes: Array(text))
        return scan.firstProblem()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// Scans the text once, and checks each position at which a declaration or a rule begins or ends.
    private mutating func firstProblem() -> Problem? {
        var isAtStart = true
        while index < bytes.count {
            let byte = bytes[index]
            if starts(with: "/*") {
                let start = line
                guard skip(to: "*/") else {
                    return problem("/*", "this comment is never closed; write */ at its end", in: start)
                }
            } else if isAtStart, !byte.isSpace, let problem = problemHere() {
                return problem
            } else if byte == UInt8(ascii: "u") || byte == UInt8(ascii: "f"), let problem = problemInCall() {
                return problem
            } else if brackets == 0, !braces.isEmpty, byte == UInt8(ascii: ";") || byte == UInt8(ascii: "}"),
                let problem = problemBehind()
            {
                return problem
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                skipString(byte)
                isAtStart = false
            } else if brackets == 0, let quote = Self.typographicQuotes.first(where: { starts(with: $0) }) {
                return problem("\(quote)", "CSS knows only straight quotation marks, \" and '")
            } else if byte == UInt8(ascii: "}"), brackets == 0, braces.isEmpty {
                return problem("}", "it closes nothing, and browsers skip the rule after it")
            } else {
                if isAtStart, !byte.isSpace { start = (index, line) }
                isAtStart = step(over: byte, isAtStart)
            }
        }
        return braces.first.map { line in
            problem("{", "it is never closed, so everything after it belongs to this rule; write }", in: line)
        }
    }

    /// Returns a mistake in a line, or in the current line if `line` is nil.
    private func problem(_ word: String, _ sentence: String, in line: Int? = nil) -> Problem {
        Problem(word: word, line: line ?? self.line, sentence: sentence)
    }

    private static let typographicQuotes: [StaticString] = ["\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}"]

    /// Consumes one byte; returns true if a declaration or a rule begins after it.
    private mutating func step(over byte: UInt8, _ wasAtStart: Bool) -> Bool {
        index += byte == UInt8(ascii: "\\") ? 2 : 1
        switch byte {
        case UInt8(ascii: "\n"): line += 1
        case UInt8(ascii: "("): brackets += 1
        case UInt8(ascii: ")"): brackets = max(0, brackets - 1)
        case UInt8(ascii: "{"): braces.append(line)
        case UInt8(ascii: "}"):
            _ = braces.popLast()
            hasRule = true
        default: break
        }
        return byte.isSpace ? wasAtStart : brackets == 0 && "{};".utf8.contains(byte)
    }

    // MARK: - Words

    private func problemHere() -> Problem? {
        if braces.isEmpty, starts(with: "//") {
            let comment = text(until: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
            return problem(comment, "CSS has no such comments, and browsers skip the rule that follows; write /* … */")
        }
        let word = text { $0.isSpace || "(){};:,".utf8.contains($0) }
        if braces.isEmpty, 48...57 ~= bytes[index], bytes[(index + word.utf8.count)...].first == 0x20 {
            let sentence = "no selector begins with a digit, so browsers skip this rule; copy it without line numbers"
            return problem(word, sentence)
        }
        guard let first = word.utf8.first, first == UInt8(ascii: "$") || first == UInt8(ascii: "@"), word.count > 1
        else {
            return nil
        }
        // CSS Cascade §2: only @charset and @layer may precede @import.
        if hasRule, braces.isEmpty, word.lowercased() == "@import" {
            return problem(word, "browsers ignore it after a rule; move it to the top of the file")
        }
        let rest = bytes[(index + word.utf8.count)...].drop { $0 == 0x20 || $0 == 0x09 }
        let isAssigned = rest.first == UInt8(ascii: ":")
        guard let language = Self.language(of: word, isAssigned: isAssigned, next: rest) else { return nil }
        return problem(
            word,
            "this is \(language), which browsers do not read; name the stylesheet that is built from it"
        )
    }

    /// Finds an address with a space, and a font format that browsers do not know, in the function that begins here.
    private func problemInCall() -> Problem? {
        guard let name: StaticString = ["url(", "format("].first(where: { starts(with: $0) }),
            index == 0 || " :,(\n\t".utf8.contains(bytes[index - 1])
        else { return nil }
        let rest = bytes[(index + name.utf8CodeUnitCount)...].prefix(200)
        guard let end = rest.firstIndex(of: UInt8(ascii: ")")) else { return nil }
        let value = String(decoding: rest[..<end], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let bare = value.filter { !"\"'".contains($0) }
        let sentence: String
        if name.utf8CodeUnitCount == 4 {
            // CSS Syntax Level 3 §4.3.6: such a token is a bad URL.
            guard bare == value, value.contains(where: \.isWhitespace), !value.contains(where: { "(\\".contains($0) })
            else { return nil }
            sentence = "an address with a space needs quotation marks; write url(\"\(value)\")"
        } else {
            guard let known = Self.fontFormats[bare.lowercased()] else { return nil }
            sentence = "browsers know no such format of fonts, and skip the file; write format(\"\(known)\")"
        }
        return problem("\(name)\(value))", sentence)
    }

    /// Names that are often written in place of those of CSS Fonts Level 4 §4.3.1.
    private static let fontFormats = [
        "ttf": "truetype", "otf": "opentype", "eot": "embedded-opentype", "ttc": "collection", "otc": "collection",
        "font/ttf": "truetype", "font/otf": "opentype", "font/woff": "woff", "font/woff2": "woff2", "woff-2": "woff2",
    ]

    nonisolated(unsafe) private static let twoDeclarations =
        /[a-z][a-z\-]*[ \t]*:[^\n;{}]*[^\s;{},][ \t]*\r?\n\s*([a-z\-]+)[ \t]*:/

    /// Finds a missing semicolon in the declaration that ends here, if the next line begins a second declaration.
    ///
    /// A word with a colon after it usually begins a declaration. The value of a declaration contains such a word only
    /// in Internet Explorer's filters and in custom properties.
    private func problemBehind() -> Problem? {
        // A declaration of 2,000 bytes or more holds data, and would take too long to search.
        guard start.index < index, index - start.index < 2_000, bytes[start.index..<index].contains(UInt8(ascii: "\n"))
        else { return nil }
        let text = String(decoding: bytes[start.index..<index], as: UTF8.self)
        guard !text.contains("/*"), let match = text.prefixMatch(of: Self.twoDeclarations), match.1 != "progid" else {
            return nil
        }
        let word = String(text.prefix { !$0.isNewline }.prefix(60))
        let sentence = "no semicolon follows, so browsers skip this and the next declaration; write ; at its end"
        return problem(word, sentence, in: start.line)
    }

    private static func language(of word: String, isAssigned: Bool, next: ArraySlice<UInt8>) -> String? {
        if word.hasPrefix("$") { return isAssigned ? "SCSS" : nil }
        // In CSS, a name that the author chooses begins with two hyphens.
        let isCustom = next.starts(with: "--".utf8)
        switch word {
        case "@include", "@extend", "@forward", "@each", "@while", "@elseif", "@debug": return "SCSS"
        case "@mixin", "@function": return isCustom ? nil : "SCSS"
        case "@use": return next.first == UInt8(ascii: "\"") || next.first == UInt8(ascii: "'") ? "SCSS" : nil
        case "@tailwind": return "Tailwind's source"
        case "@apply": return isCustom ? nil : "Tailwind's source"
        default: break
        }
        // In Less, `@name: value` assigns a value to a variable. In CSS, `@page:first` may be written without a space.
        return isAssigned && word != "@page" && !word.hasPrefix("@-")
            && next.dropFirst().first.map { $0.isSpace } == true
            ? "Less" : nil
    }

    // MARK: - Scanning

    private func starts(with text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[index...].starts(with: $0) }
    }

    /// Returns the text from here to the first byte for which `isEnd` is true, but at most 60 bytes.
    ///
    /// Sixty bytes are enough for a message.
    private func text(until isEnd: (UInt8) -> Bool) -> String {
        String(decoding: bytes[index...].prefix(60).prefix { !isEnd($0) }, as: UTF8.self)
    }

    /// Skips a comment; returns false if it has no end.
    private mutating func skip(to end: StaticString) -> Bool {
        index += 2
        while index < bytes.count, !starts(with: end) {
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            index += 1
        }
        guard index < bytes.count else { return false }
        index += 2
        return true
    }

    /// Skips a string; a string without a closing quotation mark ends at the end of its line.
    private mutating func skipString(_ quote: UInt8) {
        index += 1
        while index < bytes.count, bytes[index] != quote {
            if bytes[index] == UInt8(ascii: "\n") { return }
            if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count {
                index += 1
                if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            }
            index += 1
        }
        index = min(index + 1, bytes.count)
    }
}

extension UInt8 {
    /// True for white space (CSS Syntax §4.2).
    fileprivate var isSpace: Bool { [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(self) }
}
