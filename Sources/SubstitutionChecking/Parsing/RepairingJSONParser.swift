package import LocalSubstitutionCache

/// A JSON parser for the designers' tool; it is as strict as ``JSONParser``, but continues after each error.
///
/// Each error is a ``JSONRepair``. If all repairs of a text have a replacement, the text with them is JSON, and has the
/// value that the parser returns. If what was meant is not certain, the value is ``JSONValue/Kind/unreadable``. The
/// parser takes time linear in the length of the text. The number of errors is limited. The nesting is limited, too;
/// this also limits the depth of the stack.
package struct RepairingJSONParser {
    /// The number of errors after which parsing stops, since no user reads more.
    static let maximumErrors = 100

    var scanner: JSONScanner
    var token = JSONToken(kind: .end, range: 0..<0)
    /// The closing bracket of each open object and array, outermost first.
    private(set) var closings: [UInt8] = []
    private(set) var repairs: [JSONRepair] = []
    /// The stray marks that were reported; one at the beginning of many lines is one mistake.
    private var strays: Set<String> = []
    /// The end of the token before `token`.
    var end = 0

    /// The error that ends parsing; the last of `repairs` gives the reason.
    struct Stop: Error {}

    /// Parses one JSON text.
    package static func parse(_ bytes: some Collection<UInt8>) -> JSONDocument {
        let (value, repairs) = read(bytes)
        return JSONDocument(value: value, errors: repairs.map(\.error))
    }

    /// Returns the value of a JSON text, and the repairs of its mistakes in the order of the text.
    package static func read(_ bytes: some Collection<UInt8>) -> (value: JSONValue, repairs: [JSONRepair]) {
        bytes.withContiguousStorageIfAvailable(read(buffer:)) ?? Array(bytes).withUnsafeBufferPointer(read(buffer:))
    }

    private static func read(buffer: UnsafeBufferPointer<UInt8>) -> (value: JSONValue, repairs: [JSONRepair]) {
        var parser = RepairingJSONParser(scanner: JSONScanner(buffer))
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = parser.wholeText()
        let sorted = parser.repairs.enumerated().sorted {
            ($0.element.error.offset, $0.offset) < ($1.element.error.offset, $1.offset)
        }
        return (value, sorted.map(\.element))
    }

    private mutating func wholeText() -> JSONValue {
        let start = position
        do {
            if let foreign = foreignFormat { throw stop(foreign) }
            try skipSpace()
            guard let byte = current else { throw stop(error("the file is empty; write at least {}")) }
            let isJSON = "{[\"'-0123456789".utf8.contains(byte) || byte >= 0x80 || isLiteral
            if !isJSON { try skipProse() }
            try advance()
            let first = token
            var value = try value(depth: 0)
            if case .string = value.kind, token.isMark(":") {
                try report("the \"{\" before the first entry is missing", value.offset..<value.offset, "{")
                value = JSONValue(
                    kind: .object(try members(opening: nil, first: first, depth: 1)),
                    offset: value.offset
                )
            }
            guard token.kind != .end else { return value }
            if !isJSON {
                try report(
                    "the text after the last \"}\" is not JSON; remove it",
                    token.range.lowerBound..<bytes.count,
                    ""
                )
                return value
            }
            switch value.kind {
            case .object, .array: try reportTrailing()
            default: throw stop(notJSON(at: first.range.lowerBound))
            }
            return value
        } catch {
            return JSONValue(kind: .unreadable, offset: start)
        }
    }

    /// True at `true`, `false` or `null`.
    private var isLiteral: Bool {
        ["true", "false", "null"].contains { bytes[position...].starts(with: $0.utf8) }
    }

    // MARK: - Values

    private mutating func value(depth: Int) throws(Stop) -> JSONValue {
        let first = token
        let start = first.range.lowerBound
        switch first.kind {
        case .string(let text):
            try advance()
            return JSONValue(kind: try joined(text, from: start), offset: start)
        case .number(let digits):
            try advance()
            return JSONValue(kind: .number(digits), offset: start)
        case .word(let text):
            return JSONValue(kind: try word(text, first.range), offset: start)
        case .mark(UInt8(ascii: "{")), .mark(UInt8(ascii: "(")):
            if first.isMark("(") { try report("\"(\" is not used in JSON; write \"{\"", first.range, "{") }
            return JSONValue(kind: .object(try members(opening: start, depth: depth + 1)), offset: start)
        case .mark(UInt8(ascii: "[")):
            return JSONValue(kind: .array(try elements(opening: start, depth: depth + 1)), offset: start)
        default:
            // If the text does not even begin like JSON, nothing can be said about the rest.
            if closings.isEmpty { throw stop(first.kind == .end ? unexpected("a value") : notJSON(at: start)) }
            try report(unexpected("a value"), first.range)
            position =
                bytes[position...].firstIndex { $0.isLineBreak || $0.isClosingBracket || $0 == UInt8(ascii: ",") }
                ?? bytes.count
            try advance()
            return JSONValue(kind: .unreadable, offset: start)
        }
    }

    /// Joins a string with those that follow it behind a "+", as in code.
    private mutating func joined(_ text: String?, from start: Int) throws(Stop) -> JSONValue.Kind {
        var (text, last, isSum) = (text, end, false)
        while token.kind == .stray, bytes[token.range.lowerBound] == UInt8(ascii: "+") {
            let plus = unexpected("a comma")
            try advance(.value)
            guard case .string(let next) = token.kind else {
                try report(plus, plus.offset..<plus.offset + 1)
                break
            }
            text = next.flatMap { next in text.map { $0 + next } }
            (last, isSum) = (token.range.upperBound, true)
            try advance()
        }
        guard let text else { return .unreadable }
        if isSum {
            try report("JSON cannot join strings with \"+\"; write \(quoted(text))", start..<last, jsonString(text))
        }
        return .string(text)
    }

    /// Reads `true`, `false`, `null`, or a string without quotation marks.
    private mutating func word(_ text: String, _ range: Range<Int>) throws(Stop) -> JSONValue.Kind {
        let word = ["yes": "true", "on": "true", "no": "false", "off": "false"][text.lowercased()] ?? text.lowercased()
        if ["nan", "infinity", "undefined"].contains(word) {
            try report("JSON has no \(text); write a number, or null", range, nil)
            try advance()
            return .unreadable
        }
        guard ["true", "false", "null"].contains(word) else {
            let text = try withQuotes(text, range)
            try advance()
            return text.map(JSONValue.Kind.string) ?? .unreadable
        }
        if word != text { try report("JSON writes \(word), not \(text)", range, word) }
        try advance()
        return word == "null" ? .null : .bool(word == "true")
    }

    /// Reports the missing quotation marks of a word, and skips the closing one if there is one.
    private mutating func withQuotes(_ text: String, _ range: Range<Int>) throws(Stop) -> String? {
        if let error = scanner.encodingError(in: range) {
            try report(error, range)
            return nil
        }
        guard range.upperBound == position, current == UInt8(ascii: "\"") else {
            let sentence =
                text.utf8.first?.isASCIIDigit == true || text.hasPrefix("-")
                ? "\(quoted(text)) is not a number, so it needs quotation marks"
                : "\(quoted(text)) needs quotation marks around it"
            try report(sentence, range, jsonString(text))
            return text
        }
        position += 1
        token = JSONToken(kind: .word(text), range: range.lowerBound..<position)
        let isPlain = !text.contains("\\")
        let sentence = "a quotation mark is missing before \(quoted(text))"
        try report(sentence, range.lowerBound..<range.lowerBound, isPlain ? "\"" : nil)
        return isPlain ? text : nil
    }

    // MARK: - Objects and arrays

    private mutating func members(
        opening: Int?,
        first: JSONToken? = nil,
        depth: Int
    ) throws(Stop) -> [JSONMember] {
        var members: [JSONMember] = []
        var name = first
        try list(closing: UInt8(ascii: "}"), opening: opening, isOpened: first != nil, depth: depth) {
            parser throws(Stop) in
            let start = (name ?? parser.token).range.lowerBound
            while true {
                let (member, next) = try parser.member(name, depth: depth)
                name = next
                // Record an unreadable member, too, so that the code that uses the members knows that one is missing.
                let unreadable = JSONValue(kind: .unreadable, offset: start)
                members.append(member ?? JSONMember(name: "", nameOffset: start, value: unreadable))
                if next == nil { return member != nil }
            }
        }
        return members
    }

    private mutating func elements(opening: Int, depth: Int) throws(Stop) -> [JSONValue] {
        var elements: [JSONValue] = []
        try list(closing: UInt8(ascii: "]"), opening: opening, depth: depth) { parser throws(Stop) in
            elements.append(try parser.value(depth: depth))
            return true
        }
        return elements
    }

    /// The last thing that was read between two brackets.
    private enum Before {
        case nothing
        case element
        case comma(JSONToken)
        /// Unreadable or misplaced text; after it, a missing comma is not an error.
        case stray
    }

    /// Reads the elements between two brackets, the commas between them, and the closing bracket.
    ///
    /// `element` reads one element, and returns true if it could read all of it. If `isOpened` is true, the first
    /// element has begun.
    private mutating func list(
        closing: UInt8,
        opening: Int?,
        isOpened: Bool = false,
        depth: Int,
        element: (inout RepairingJSONParser) throws(Stop) -> Bool
    ) throws(Stop) {
        guard depth <= JSONParser.maximumDepth else { throw stop(nestingError(at: opening)) }
        closings.append(closing)
        var before = Before.nothing
        if isOpened {
            before = try element(&self) ? .element : .stray
        } else {
            try advance()
        }
        while true {
            let mark = token
            switch mark.kind {
            case .end:
                try reportEnd(opening, before)
                closings.removeLast()
                return
            case .mark(let byte) where mark.isClosing:
                if case .comma(let comma) = before {
                    let bracket = Character(Unicode.Scalar(byte))
                    let sentence = "there is a comma before the closing \"\(bracket)\"; remove the comma"
                    try report(sentence, comma.range, "")
                }
                if byte != closing {
                    // If this bracket closes an outer object or array, the inner closing bracket is missing. If not,
                    // the wrong bracket was written.
                    let isMissing = closings.dropLast().contains(byte)
                    try reportClosing(mark.range, expected: closing, isMissing: isMissing)
                    if isMissing {
                        closings.removeLast()
                        return
                    }
                }
                if depth == 1, try closesTooEarly(&before) { continue }
                closings.removeLast()
                try advance()
                return
            case .mark(UInt8(ascii: ",")):
                switch before {
                case .nothing: try report(unexpected("the first entry"), mark.range, "")
                case .comma: try report("two commas in a row; remove one", mark.range, "")
                case .element, .stray: before = .comma(mark)
                }
                try advance()
            case .stray, .mark(UInt8(ascii: ":")):
                if mark.isMark(":"), closing == UInt8(ascii: "]") {
                    try reportStray(error("JSON has names and values in { }, not in [ ]", at: opening))
                } else {
                    try reportStray(unexpected(closing == UInt8(ascii: "}") ? "a name in quotation marks" : "a value"))
                }
                before = .stray
                try advance()
            default:
                if case .element = before {
                    try report("a comma is missing here, before the next entry", end..<end, ",")
                }
                before = try element(&self) ? .element : .stray
            }
        }
    }

    /// Reads a member whose name is `first`, or else the current token.
    ///
    /// Returns the token that is the name of the next member, if it has been read.
    private mutating func member(
        _ first: JSONToken?,
        depth: Int
    ) throws(Stop) -> (member: JSONMember?, next: JSONToken?) {
        let name = first ?? token
        guard let text = try first == nil ? readName(depth: depth) : name.kind.text else { return (nil, nil) }
        let nameEnd = end
        let colon = token.isMark(":") ? token : nil
        if colon != nil { try advance(.value) }
        let nothing =
            colon.map { error("nothing follows this colon; write what belongs there", at: $0.range.lowerBound) }
            ?? error("\(quoted(text)) stands alone; an entry is two strings joined by a colon", at: nameEnd)
        if token.kind == .end { return (nil, nil) }
        guard !token.isClosing, !token.isMark(","), colon != nil || token.kind != .stray else {
            try report(nothing)
            return (nil, nil)
        }
        let (second, known) = (token, repairs.count)
        let value = try value(depth: depth)
        if case .string = second.kind, token.isMark(":") {
            // The string that was read as the value is the name of the next member.
            try report(nothing)
            return (nil, second)
        }
        if colon != nil { return (JSONMember(name: text, nameOffset: name.range.lowerBound, value: value), nil) }
        guard text.hasSuffix(":"), bytes[nameEnd - 2] == UInt8(ascii: ":"), bytes[nameEnd - 1] == UInt8(ascii: "\"")
        else {
            // The colon precedes a quotation mark that is missing at the same place.
            let missing = error("a colon is missing after \(quoted(text))", at: nameEnd)
            repairs.insert(JSONRepair(error: missing, range: nameEnd..<nameEnd, replacement: ":"), at: known)
            return (JSONMember(name: text, nameOffset: name.range.lowerBound, value: value), nil)
        }
        let plain = String(text.dropLast())
        let sentence = "the colon of \(quoted(plain)) is inside the quotation marks; write it after them"
        try report(sentence, nameEnd - 2..<nameEnd, "\":")
        return (JSONMember(name: plain, nameOffset: name.range.lowerBound, value: value), nil)
    }

    /// Reads the name of a member, with or without quotation marks; nil if there is none, or if it cannot be read.
    ///
    /// If the name cannot be read, its value is skipped.
    private mutating func readName(depth: Int) throws(Stop) -> String? {
        let name = token
        switch name.kind {
        case .string(let text?):
            try advance(.colon)
            return text
        case .string(nil):
            try advance(.colon)
            if token.isMark(":") {
                try advance(.value)
                if !token.isClosing, !token.isMark(","), token.kind != .end { _ = try value(depth: depth) }
            }
        case .word(let text), .number(let text):
            let next = bytes[position...].first { !$0.isJSONSpace }
            if next == UInt8(ascii: ":") || position == name.range.upperBound && next == UInt8(ascii: "\"") {
                let text = try withQuotes(text, name.range)
                try advance(.colon)
                return text
            }
            try reportStray(unexpected("a name in quotation marks"))
            try advance()
        default:
            try report(unexpected("a name in quotation marks"))
            // Read the whole value, so that its closing brackets do not close the objects around it.
            _ = try value(depth: depth)
        }
        return nil
    }

    // MARK: - Around the value

    /// Skips any text before the first object, as in a chatbot's answer, a Markdown file or JavaScript.
    private mutating func skipProse() throws(Stop) {
        let start = position
        let brace = bytes.indices[start...].first { index in
            bytes[index] == UInt8(ascii: "{")
                && "\"'}".utf8.contains(bytes[(index + 1)...].first { !$0.isJSONSpace } ?? 0)
        }
        guard let brace else { throw stop(notJSON(at: start)) }
        try report("this is not JSON; remove everything before the \"{\" of line \(line(of: brace))", start..<brace, "")
        position = brace
    }

    /// Reports the text after the brackets that close the whole text.
    private mutating func reportTrailing() throws(Stop) {
        let first = token.range
        let mark = scanner.text(first)
        while token.isClosing || token.isMark(",") || token.kind == .stray { try advance() }
        guard ["}", "]", ")", ",", ";"].contains(mark), token.kind == .end else {
            return try report(
                error(
                    "all brackets are already closed; remove this, or the bracket that closes too early",
                    at: first.lowerBound
                )
            )
        }
        try report("this \"\(mark)\" is one too many; remove it", first.lowerBound..<end, "")
    }

    /// Skips a bracket that closes the whole text too early, and reports it.
    ///
    /// Returns false if no more entries follow the bracket.
    private mutating func closesTooEarly(_ before: inout Before) throws(Stop) -> Bool {
        let rest = bytes[position...].drop { $0.isJSONSpace || $0 == UInt8(ascii: ",") }
        let isObject = rest.first == UInt8(ascii: "{")
        guard token.isMark("}"), isObject || rest.first == UInt8(ascii: "\"") else { return false }
        let commas = bytes[position..<rest.startIndex].count { $0 == UInt8(ascii: ",") }
        if isObject { position = rest.startIndex + 1 }
        let range = token.range.lowerBound..<position
        let isMember = bytes[position...].first { !$0.isJSONSpace } == UInt8(ascii: "\"")
        let isCertain = if case .nothing = before { false } else { !isObject || isMember && commas < 2 }
        let sentence =
            isObject
            ? "a second \"{\" follows, but a file has only one; write a comma instead of this \"}\" and that \"{\""
            : "this \"}\" closes the whole file, but more entries follow; remove it"
        let needsComma = isObject || commas == 0
        try report(error(sentence, at: range.lowerBound), range, isCertain ? needsComma ? "," : "" : nil)
        before = needsComma ? .stray : .element
        try advance()
        return true
    }

    /// Reports the brackets that are still open at the end of the text, unless they have been reported.
    private mutating func reportEnd(_ opening: Int?, _ before: Before) throws(Stop) {
        guard repairs.last?.error.kind != .end else { return }
        let missing = String(decoding: closings.reversed(), as: UTF8.self)
        var sentence = "the file ends too early; write \"\(missing)\" at its end"
        if let opening {
            let bracket = Character(Unicode.Scalar(bytes[opening]))
            sentence += ", since the \"\(bracket)\" of line \(line(of: opening)) is never closed"
        }
        // After a comma, an entry may be lost.
        let isCertain = if case .element = before { true } else { false }
        let end = bytes.count
        try report(error(sentence, at: end, kind: .end), end..<end, isCertain ? missing : nil)
    }

    private mutating func reportClosing(_ bracket: Range<Int>, expected: UInt8, isMissing: Bool) throws(Stop) {
        let (found, expected) = (scanner.text(bracket), String(Unicode.Scalar(expected)))
        if isMissing {
            let start = bracket.lowerBound
            try report("\"\(expected)\" is missing before this \"\(found)\"", start..<start, expected)
        } else {
            try report("\"\(found)\" closes nothing here; write \"\(expected)\"", bracket, expected)
        }
    }

    private func line(of offset: Int) -> Int { bytes[..<offset].count { $0 == UInt8(ascii: "\n") } + 1 }

    /// Returns the error for a file that is no text in UTF-8, or is a page; nil for any other file.
    private var foreignFormat: JSONSyntaxError? {
        let zeros = bytes.prefix(4).map { $0 == 0 }
        // Two ASCII characters in UTF-16, or one in UTF-32, have zeros at every second place.
        let isWide =
            zeros == [true, false, true, false] || zeros.count == 4 && zeros.count { $0 } == 3
            || zeros == [false, true, false, true]
        if isWide || bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            return error("the file is UTF-16 or UTF-32; save it as UTF-8", at: 0, kind: .encoding)
        }
        if !bytes.isEmpty, bytes.allSatisfy({ $0 == 0 }) {
            let sentence = "the file holds only zeros, so its content is lost; restore it from a copy"
            return error(sentence, at: 0, kind: .encoding)
        }
        let beginning = bytes.drop(while: \.isJSONSpace).prefix(9).map(\.asciiLowercased)
        let isBinary =
            !"{[\"".utf8.contains(beginning.first ?? 0) && bytes.prefix(32).contains { $0 < 0x20 && !$0.isJSONSpace }
        let isTag = beginning.first == UInt8(ascii: "<") && beginning.dropFirst().first?.isASCIILetter == true
        let formats = [
            (
                isBinary || !bytes.isEmpty && scanner.character(at: 0) == nil,
                "is a picture, an archive or another file that is no text; put the right file in its place"
            ),
            (
                beginning.starts(with: "{\\rtf".utf8),
                "is RTF, which is text with fonts; in TextEdit choose Format > Make Plain Text, and save it again"
            ),
            (
                isTag || beginning.starts(with: "<!doctype".utf8) || beginning.starts(with: "<?xml".utf8),
                "is HTML or XML, such as servers send for a missing file; put the right file in its place"
            ),
        ]
        return formats.first { $0.0 }.map { error("the file \($0.1)", at: 0) }
    }

    // MARK: - Errors

    func error(_ message: String, at offset: Int? = nil, kind: JSONSyntaxError.Kind = .syntax) -> JSONSyntaxError {
        JSONSyntaxError(offset: offset ?? position, kind: kind, message: message)
    }

    private func notJSON(at offset: Int) -> JSONSyntaxError {
        error("this is not JSON, which looks like this: { \"name\": \"value\" }", at: offset)
    }

    private func nestingError(at opening: Int?) -> JSONSyntaxError {
        let sentence =
            "objects and lists are nested more than \(JSONParser.maximumDepth) deep; a manifest needs three levels"
        return error(sentence, at: opening, kind: .nesting)
    }

    /// Returns the error about a token that is not what is expected.
    private func unexpected(_ expected: String) -> JSONSyntaxError {
        let (start, text) = (token.range.lowerBound, scanner.text(token.range))
        if token.kind == .end { return error("the file ends where \(expected) is expected", at: start) }
        if token.isMark(",") { return error("there is a comma where \(expected) is expected; remove it", at: start) }
        if expected == "a value", ["+", "-", "."].contains(text) {
            let sentence = text == "-" ? "a digit is missing after \"-\"" : "a number begins with a digit or \"-\""
            return error(sentence, at: start)
        }
        let remedy = token.kind == .stray && expected != "a value" ? "; remove it" : ""
        return error("there is \(quoted(text)) where \(expected) is expected\(remedy)", at: start)
    }

    /// Reports text that can be no part of JSON, once for each kind: it may begin each line of a quotation.
    private mutating func reportStray(_ error: JSONSyntaxError) throws(Stop) {
        let isNumber = if case .number = token.kind { true } else { false }
        guard strays.insert(isNumber ? "0" : scanner.text(token.range)).inserted else { return }
        try report(error)
    }

    mutating func report(_ sentence: String, _ range: Range<Int>, _ replacement: String?) throws(Stop) {
        try report(error(sentence, at: range.lowerBound), range, replacement)
    }

    /// Records an error, and throws when there are too many.
    ///
    /// Of several encoding errors, only the first is recorded: saving the file again in UTF-8 fixes them all.
    mutating func report(_ error: JSONSyntaxError, _ range: Range<Int>? = nil, _ replacement: String? = nil)
        throws(Stop)
    {
        if error.kind == .encoding, repairs.contains(where: { $0.error.kind == .encoding }) { return }
        let range = range ?? error.offset..<error.offset
        // What is written anew, or removed, needs no repair of its own.
        repairs.removeAll {
            range.lowerBound <= $0.range.lowerBound && $0.range.upperBound <= range.upperBound
                && ($0.range.lowerBound > range.lowerBound || !$0.range.isEmpty)
        }
        repairs.append(JSONRepair(error: error.withRemedy, range: range, replacement: replacement))
        guard repairs.count >= Self.maximumErrors else { return }
        throw stop(self.error("more than \(Self.maximumErrors) errors; fix these first", at: error.offset))
    }

    mutating func stop(_ error: JSONSyntaxError) -> Stop {
        repairs.append(JSONRepair(error: error.withRemedy, range: error.offset..<error.offset, replacement: nil))
        return Stop()
    }

    // MARK: - Scanning

    var bytes: UnsafeBufferPointer<UInt8> { scanner.bytes }

    var position: Int {
        get { scanner.position }
        set { scanner.position = newValue }
    }

    var current: UInt8? { scanner.current }
}

extension JSONSyntaxError {
    /// The same error, with the remedy for one that the scanner has found.
    fileprivate var withRemedy: JSONSyntaxError {
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
