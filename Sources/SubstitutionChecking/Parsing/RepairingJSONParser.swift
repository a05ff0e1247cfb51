import Foundation
package import LocalSubstitutionCache

/// A JSON parser for the designers' tool; it is as strict as ``JSONParser``, but continues after each error.
///
/// It repairs the text from mistake to mistake, and ``JSONParser`` reads the repaired text. Where only the author can
/// know what was meant, a stand-in is read, and the value is ``JSONValue/Kind/unreadable``.
package struct RepairingJSONParser {
    /// The number of errors after which parsing stops, since no user reads more.
    static let maximumErrors = 100

    /// The part of the text that has to come next.
    enum Expected: String {
        case value = "a value"
        case name = "a name in quotation marks"
        case colon = "a colon"
        case comma = "a comma"
    }

    /// An object or array that is still open.
    struct Container {
        let closing: UInt8
        /// The offset of the opening bracket.
        let start: Int
        /// The last name.
        var name = JSONToken(kind: .end, range: 0..<0)

        var isObject: Bool { closing == UInt8(ascii: "}") }
    }

    let bytes: [UInt8]
    var position = 0
    var token = JSONToken(kind: .end, range: 0..<0)
    /// The end of the token before `token`.
    var end = 0
    private(set) var expected = Expected.value
    /// The open objects and arrays, outermost first.
    private(set) var containers: [Container] = []
    private var repairs: [JSONRepair] = []
    /// The token before `token`.
    private var last = JSONToken(kind: .end, range: 0..<0)

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Parses one JSON text.
    package static func parse(_ bytes: some Collection<UInt8>) -> JSONDocument {
        let (value, repairs) = read(bytes)
        return JSONDocument(value: value, errors: repairs.map(\.error))
    }

    /// Returns the value of a JSON text, and the repairs of its mistakes in the order of the text.
    package static func read(_ bytes: some Collection<UInt8>) -> (value: JSONValue, repairs: [JSONRepair]) {
        let strict = JSONParser.parse(bytes)
        if strict.isValid { return (strict.value, []) }
        var parser = Self(Array(bytes))
        var value = JSONValue(kind: .unreadable, offset: 0)
        do throws(JSONSyntaxError) {
            try parser.wholeText()
            var text = RepairedText(parser.bytes, parser.repairs)
            let document = JSONParser.parse(text.bytes)
            if let error = document.errors.first { throw text.original(error) }
            value = text.original(document.value)
        } catch {
            parser.repairs.append(
                JSONRepair(error: error.withRemedy, range: error.offset..<error.offset, replacement: nil)
            )
        }
        return (value, parser.repairs.sorted { $0.error.offset < $1.error.offset })
    }

    private mutating func wholeText() throws(JSONSyntaxError) {
        try refuseForeignText()
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        try skipSpace()
        guard let first = scalar(at: position) else { throw error("the file is empty; write at least {}") }
        let isJSON = ["{", "["].contains(String(first).precomposedStringWithCompatibilityMapping)
        if !isJSON { try skipProse() }
        try advance()
        repeat { try readToken() } while !containers.isEmpty
        try skipSpace()
        guard let last = bytes[position...].lastIndex(where: { !$0.isJSONSpace }) else { return }
        let isHarmless = !isJSON || bytes[position...last].allSatisfy { $0.isJSONSpace || "}]),;".utf8.contains($0) }
        let sentence = "all brackets are already closed here; remove what follows"
        let remedy = isHarmless ? "" : ", or the bracket that closes too early"
        try report(sentence + remedy, position..<last + 1, isHarmless ? "" : nil)
    }

    /// Throws for a text that was not meant to be JSON, or is not in UTF-8.
    private func refuseForeignText() throws(JSONSyntaxError) {
        if let offset = bytes.firstIndex(of: 0) {
            let sentence = "the file is no text in UTF-8; save it as UTF-8, or put the right file in its place"
            throw error(sentence, at: offset, kind: .encoding)
        }
        let wrong = bytes.withUnsafeBufferPointer { JSONScanner($0).encodingError(in: 0..<bytes.count) }
        if let wrong { throw wrong }
        let beginning = String(decoding: bytes.prefix(1_000_000), as: UTF8.self)
        for rule in AdviceTable.current.texts {
            guard let place = rule.match.place(in: beginning), let sentence = rule.says else { continue }
            throw error(sentence, at: beginning[..<place.lowerBound].utf8.count)
        }
    }

    /// Skips any text before the first object, as in a chatbot's answer, a Markdown file or JavaScript.
    private mutating func skipProse() throws(JSONSyntaxError) {
        let start = position
        let brace = bytes.indices[start...].first { index in
            bytes[index] == UInt8(ascii: "{")
                && "\"'}".utf8.contains(bytes[(index + 1)...].first { !$0.isJSONSpace } ?? 0)
        }
        guard let brace else { throw error("this is not JSON, which looks like this: { \"name\": \"value\" }") }
        try report("this is not JSON; remove everything before the \"{\" of line \(line(of: brace))", start..<brace, "")
        position = brace
    }

    // MARK: - Tokens

    /// Reads the current token, if it is what has to come next; otherwise repairs the text.
    private mutating func readToken() throws(JSONSyntaxError) {
        let isClosing = token.isMark("}") || token.isMark("]")
        if lacksValue, isClosing || isName || token.isMark(",") { return try reportNothing() }
        switch (expected, token.kind) {
        case (_, .end): try readEnd()
        case _ where isClosing: try close()
        case (.value, .mark(UInt8(ascii: "{"))), (.value, .mark(UInt8(ascii: "["))):
            let start = token.range.lowerBound
            guard containers.count < JSONParser.maximumDepth else {
                let limit = "objects and lists are nested more than \(JSONParser.maximumDepth) deep"
                throw error("\(limit); a manifest needs three levels", at: start, kind: .nesting)
            }
            containers.append(Container(closing: token.isMark("{") ? 0x7D : 0x5D, start: start))
            try read(next)
        case (.value, .string), (.value, .literal): try read(.comma)
        case (.name, .string):
            containers[containers.count - 1].name = token
            try read(.colon)
        case (.colon, .mark(UInt8(ascii: ":"))): try read(.value)
        case (.comma, .mark(UInt8(ascii: ","))): try read(next)
        default: try readMisplaced()
        }
    }

    /// True after a name, as long as its value was not read.
    private var lacksValue: Bool { expected == .colon || expected == .value && containers.last?.isObject == true }

    /// The text for a value that is missing.
    private var nothing: String { [.colon: ":null", .value: "null"][expected, default: ""] }

    /// True if a colon follows the token.
    private var isName: Bool {
        token.text != nil && bytes[position...].first { !$0.isJSONSpace } == UInt8(ascii: ":")
    }

    /// Reads the next token, after which that part is expected.
    private mutating func read(_ part: Expected) throws(JSONSyntaxError) {
        (expected, last) = (part, token)
        try advance()
    }

    /// The part that follows a comma or an opening bracket.
    private var next: Expected { containers.last?.isObject == true ? .name : .value }

    private mutating func close() throws(JSONSyntaxError) {
        guard let container = containers.last else { return }
        let (found, wanted) = (text(token.range), String(Unicode.Scalar(container.closing)))
        if last.isMark(",") {
            try report("there is a comma before the closing \"\(found)\"; remove the comma", last.range, "")
        }
        if !token.isMark(Unicode.Scalar(container.closing)) {
            // If this bracket closes an outer object or array, the inner closing bracket is missing. If not, the wrong
            // bracket was written.
            if containers.contains(where: { token.isMark(Unicode.Scalar($0.closing)) }) {
                let (start, sentence) = (token.range.lowerBound, "\"\(wanted)\" is missing before this \"\(found)\"")
                try report(sentence, start..<start, wanted)
                (expected, last) = (.comma, container.name)
                return _ = containers.removeLast()
            }
            try report("\"\(found)\" closes nothing here; write \"\(wanted)\"", token.range, wanted)
        }
        containers.removeLast()
        if !containers.isEmpty { try read(.comma) }
    }

    /// Closes all brackets that are still open at the end of the text.
    private mutating func readEnd() throws(JSONSyntaxError) {
        guard let innermost = containers.last else { throw error(unexpected, at: token.range.lowerBound) }
        // After a comma or a name, something may be lost.
        let isCertain = expected == .comma
        let missing = String(decoding: containers.reversed().map(\.closing), as: UTF8.self)
        let bracket = innermost.isObject ? "{" : "["
        let sentence =
            "the file ends too early; write \"\(missing)\" at its end, since the \"\(bracket)\" of line "
            + "\(line(of: innermost.start)) is never closed"
        let range = (last.isMark(",") ? last.range.lowerBound : bytes.count)..<bytes.count
        let standIn = (lacksValue ? nothing : "") + missing
        try report(sentence, range, isCertain ? missing : nil, standIn: standIn, at: bytes.count, kind: .end)
        containers = []
    }

    // MARK: - Repairs

    /// Reads a token that is not what has to come next.
    private mutating func readMisplaced() throws(JSONSyntaxError) {
        guard let container = containers.last else { throw error(unexpected, at: token.range.lowerBound) }
        let start = token.range.lowerBound
        switch expected {
        case .colon where token.isBeginOfValue:
            let name = container.name.text ?? ""
            // The colon may be inside the quotation marks.
            let isCertain = !name.hasSuffix(":")
            try report("a colon is missing after \(quoted(name))", end..<end, isCertain ? ":" : nil, standIn: ":")
            expected = .value
        case _ where expected != .name && (token.kind == .stray || token.isMark(":")):
            position = bytes[position...].firstIndex { $0.isLineBreak || "}],".utf8.contains($0) } ?? bytes.count
            try report(unexpected, start..<position, nil, standIn: nothing)
            try read(.comma)
        case .name where token.isBeginOfValue:
            // Read the whole value, so that its closing brackets do not close the objects around it.
            try report(unexpected, start..<start, nil, standIn: "\"\":")
            expected = .value
        case .comma where token.isBeginOfValue:
            try report("a comma is missing here, before the next entry", end..<end, ",")
            expected = next
        default:
            let isSecond = token.isMark(",") && last.isMark(",")
            let sentence = isSecond ? "two commas in a row; remove one" : unexpected
            try report(sentence, token.range, token.isMark(",") ? "" : nil)
            try advance()
        }
    }

    /// Reports that a name has no value, and continues as if it had one.
    private mutating func reportNothing() throws(JSONSyntaxError) {
        guard let name = containers.last?.name else { return }
        let sentence = "nothing follows \(quoted(name.text ?? "")); an entry is two strings joined by a colon"
        let standIn = nothing + (isName ? "," : "")
        try report(sentence, end..<end, nil, standIn: standIn, at: name.range.lowerBound)
        expected = isName ? .name : .comma
    }

    // MARK: - Errors

    func error(_ message: String, at offset: Int? = nil, kind: JSONSyntaxError.Kind = .syntax) -> JSONSyntaxError {
        JSONSyntaxError(offset: offset ?? position, kind: kind, message: message)
    }

    /// The sentence about a token that is not what is expected.
    private var unexpected: String {
        let isNeedless = token.isMark(",") || token.kind == .stray && expected != .value
        return "there is \(quoted(text(token.range))) where \(expected.rawValue) is expected"
            + (isNeedless ? "; remove it" : "")
    }

    private func line(of offset: Int) -> Int { bytes[..<offset].count { $0 == UInt8(ascii: "\n") } + 1 }

    /// Records a mistake, and throws when there are too many.
    ///
    /// - Parameters:
    ///   - sentence: The mistake and its remedy.
    ///   - range: The text to replace.
    ///   - replacement: The text to write; nil if only the author can know it.
    ///   - standIn: The text with which the parser continues if there is no replacement.
    ///   - offset: The place of the mistake; nil for the beginning of `range`.
    ///   - kind: The kind of the mistake.
    /// - Throws: The error about too many mistakes.
    mutating func report(
        _ sentence: String,
        _ range: Range<Int>,
        _ replacement: String?,
        standIn: String = "",
        at offset: Int? = nil,
        kind: JSONSyntaxError.Kind = .syntax
    ) throws(JSONSyntaxError) {
        let error = error(sentence, at: offset ?? range.lowerBound, kind: kind).withRemedy
        // What is written anew, or removed, needs no repair of its own.
        repairs.removeAll { !$0.range.isEmpty && range.contains($0.range.lowerBound) }
        repairs.append(JSONRepair(error: error, range: range, replacement: replacement, standIn: standIn))
        guard repairs.count >= Self.maximumErrors else { return }
        throw self.error("more than \(Self.maximumErrors) errors; fix these first", at: error.offset)
    }

    var current: UInt8? { position < bytes.count ? bytes[position] : nil }
}

extension JSONSyntaxError {
    /// The same error, with the remedy for one that ``JSONParser`` has found.
    fileprivate var withRemedy: JSONSyntaxError {
        let remedy = AdviceTable.current.syntax[message.prefix { $0 != "(" }.trimmingCharacters(in: .whitespaces)]
        return JSONSyntaxError(offset: offset, kind: kind, message: message + (remedy.map { "; \($0)" } ?? ""))
    }
}
