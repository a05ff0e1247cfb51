import Foundation
package import LocalSubstitutionCache

/// A JSON parser for the designers' tool; it is as strict as ``JSONParser``, but continues after each error.
///
/// Each error is a ``JSONRepair``. If all repairs of a text have a replacement, the text with them is JSON, and has the
/// value that the parser returns. If what was meant is not certain, the value is ``JSONValue/Kind/unreadable``. The
/// parser takes time linear in the length of the text. The number of errors is limited. The nesting is limited, too.
package struct RepairingJSONParser {
    /// The number of errors after which parsing stops, since no user reads more.
    static let maximumErrors = 100

    /// The part of the text that has to come next.
    enum Expected {
        case value, name, colon, comma
    }

    /// An object or array that is still open.
    struct Container {
        let closing: UInt8
        /// The offset of the opening bracket.
        let start: Int
        var members: [JSONMember] = []
        var elements: [JSONValue] = []
        /// The name whose value is next.
        var name: JSONToken?
        /// The comma after which nothing was read yet.
        var comma: Range<Int>?
        /// True after misplaced text, before which or after which a comma may be missing.
        var hasStray = false

        var isObject: Bool { closing == UInt8(ascii: "}") }
    }

    var scanner: JSONScanner
    var token = JSONToken(kind: .end, range: 0..<0)
    /// The end of the token before `token`.
    var end = 0
    /// The number of repairs before `token` was read.
    var known = 0
    var expected = Expected.value
    /// The open objects and arrays, outermost first.
    private(set) var containers: [Container] = []
    private(set) var repairs: [JSONRepair] = []
    private var root: JSONValue?
    /// The last value if it is a string.
    private var lastString: JSONToken?
    /// The stray marks that were reported; one at the beginning of many lines is one mistake.
    private var strays: Set<String> = []

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
        let value = (try? parser.wholeText()) ?? JSONValue(kind: .unreadable, offset: 0)
        return (value, parser.repairs.sorted { $0.error.offset < $1.error.offset })
    }

    private mutating func wholeText() throws(Stop) -> JSONValue {
        try refuseOtherFormats()
        try skipSpace()
        guard let byte = current else { throw stop(error("the file is empty; write at least {}")) }
        let isLiteral = ["true", "false", "null"].contains { bytes[position...].starts(with: $0.utf8) }
        let isJSON = "{[\"'-0123456789".utf8.contains(byte) || byte >= 0x80 || isLiteral
        if !isJSON { try skipProse() }
        try advance()
        while root == nil { try readToken() }
        let value = root ?? JSONValue(kind: .unreadable, offset: 0)
        if token.kind == .end { return value }
        if !isJSON {
            let range = token.range.lowerBound..<bytes.count
            try report("the text after the last \"}\" is not JSON; remove it", range, "")
            return value
        }
        if lastString != nil { throw stop(notJSON(at: value.offset)) }
        try reportTrailing()
        return value
    }

    // MARK: - Tokens

    /// Reads the current token, if it is what has to come next; otherwise repairs the text.
    private mutating func readToken() throws(Stop) {
        let found = token
        let start = found.range.lowerBound
        switch (expected, found.kind) {
        case (_, .end): try readEnd()
        case (_, .mark(let byte)) where found.isClosing && !containers.isEmpty: try close(byte, found.range)
        case (.value, .string(let text)):
            put(JSONValue(kind: text.map(JSONValue.Kind.string) ?? .unreadable, offset: start))
            lastString = found
            try advance()
        case (.value, .number(let digits)):
            put(JSONValue(kind: .number(digits), offset: start))
            try advance()
        case (.value, .word(let word)):
            put(JSONValue(kind: word == "null" ? .null : .bool(word == "true"), offset: start))
            try advance()
        case (.value, .mark(UInt8(ascii: "{"))): try open(UInt8(ascii: "}"), start)
        case (.value, .mark(UInt8(ascii: "["))): try open(UInt8(ascii: "]"), start)
        case (.name, .string):
            change { $0.name = found }
            try advance(.colon)
        case (.colon, .mark(UInt8(ascii: ":"))): try advance(.value)
        case (.comma, .mark(UInt8(ascii: ","))):
            change { ($0.comma, $0.hasStray) = (found.range, false) }
            try advance(next)
        case (.colon, _): try readWithoutColon(found)
        case (.comma, _): try readWithoutComma(found)
        default: try readWithoutValue(found)
        }
    }

    /// The part that follows a comma or an opening bracket.
    private var next: Expected { containers.last?.isObject == true ? .name : .value }

    private mutating func change(_ body: (inout Container) -> Void) {
        if !containers.isEmpty { body(&containers[containers.count - 1]) }
    }

    /// Adds a value to the innermost object or array.
    private mutating func put(_ value: JSONValue) {
        (expected, lastString) = (.comma, nil)
        if containers.isEmpty { root = value }
        change { container in
            (container.comma, container.hasStray) = (nil, false)
            guard let name = container.name else { return container.elements.append(value) }
            // Add an unreadable member, too, so that the code that uses the members knows that one is missing.
            let unreadable = JSONValue(kind: .unreadable, offset: name.range.lowerBound)
            container.members.append(
                JSONMember(
                    name: name.kind.text ?? "",
                    nameOffset: name.range.lowerBound,
                    value: name.kind.text == nil ? unreadable : value
                )
            )
            container.name = nil
        }
    }

    private mutating func putUnreadable() { put(JSONValue(kind: .unreadable, offset: token.range.lowerBound)) }

    /// Takes back the last value, so that another one can be put in its place.
    private mutating func takeBack() {
        change { container in
            guard container.isObject, let member = container.members.popLast() else {
                return _ = container.elements.popLast()
            }
            let range = member.nameOffset..<member.nameOffset
            container.name = JSONToken(kind: .string(member.isUnreadable ? nil : member.name), range: range)
        }
    }

    // MARK: - Brackets

    private mutating func open(_ closing: UInt8, _ start: Int) throws(Stop) {
        guard containers.count < JSONParser.maximumDepth else {
            let limit = "objects and lists are nested more than \(JSONParser.maximumDepth) deep"
            throw stop(error("\(limit); a manifest needs three levels", at: start, kind: .nesting))
        }
        containers.append(Container(closing: closing, start: start))
        try advance(next)
    }

    private mutating func close(_ byte: UInt8, _ bracket: Range<Int>) throws(Stop) {
        guard let container = containers.last else { return }
        if expected == .colon || container.name != nil { return try readWithoutValue(token) }
        let (found, wanted) = (String(Unicode.Scalar(byte)), String(Unicode.Scalar(container.closing)))
        if let comma = container.comma {
            try report("there is a comma before the closing \"\(found)\"; remove the comma", comma, "")
            change { $0.comma = nil }
        }
        // If this bracket closes an outer object or array, the inner closing bracket is missing. If not, the wrong
        // bracket was written.
        let isMissing = byte != container.closing && containers.contains { $0.closing == byte }
        if isMissing {
            try report(
                "\"\(wanted)\" is missing before this \"\(found)\"",
                bracket.lowerBound..<bracket.lowerBound,
                wanted
            )
        } else if byte != container.closing {
            try report("\"\(found)\" closes nothing here; write \"\(wanted)\"", bracket, wanted)
        }
        if !isMissing, containers.count == 1, try closesTooEarly(container) { return }
        containers.removeLast()
        put(container.value)
        if !isMissing { try advance() }
    }

    /// Skips a bracket that closes the whole text too early, and reports it.
    ///
    /// - Returns: False if no more entries follow the bracket.
    private mutating func closesTooEarly(_ container: Container) throws(Stop) -> Bool {
        let rest = bytes[position...].drop { $0.isJSONSpace || $0 == UInt8(ascii: ",") }
        let inner = rest.first == UInt8(ascii: "{") ? rest.dropFirst().drop(while: \.isJSONSpace) : rest
        guard token.isMark("}"), inner.first == UInt8(ascii: "\"") else { return false }
        let sentence =
            inner.startIndex > rest.startIndex
            ? "a second \"{\" follows, but a file has only one; write a comma instead of this \"}\" and that \"{\""
            : "this \"}\" closes the whole file, but more entries follow; write a comma instead"
        let space = String(decoding: bytes[position..<inner.startIndex].filter(\.isJSONSpace), as: UTF8.self)
        position = inner.startIndex
        try report(sentence, token.range.lowerBound..<position, container.members.isEmpty ? nil : ",\(space)")
        try advance(.name)
        return true
    }

    /// Closes all brackets that are still open at the end of the text.
    private mutating func readEnd() throws(Stop) {
        guard let innermost = containers.last else { throw stop(unexpected("a value")) }
        // After a comma or a name, something may be lost.
        let isCertain = expected == .comma && !innermost.hasStray
        if innermost.name != nil { putUnreadable() }
        let missing = String(decoding: containers.reversed().map(\.closing), as: UTF8.self)
        let bracket = innermost.isObject ? "{" : "["
        let sentence =
            "the file ends too early; write \"\(missing)\" at its end, since the \"\(bracket)\" of line "
            + "\(line(of: innermost.start)) is never closed"
        let end = bytes.count
        try report(error(sentence, at: end, kind: .end), end..<end, isCertain ? missing : nil)
        while let container = containers.popLast() { put(container.value) }
    }

    // MARK: - Repairs

    /// Reads a token that is no colon, after a name.
    private mutating func readWithoutColon(_ found: JSONToken) throws(Stop) {
        guard let name = containers.last?.name, let text = name.kind.text, found.isBeginOfValue else {
            return try readWithoutValue(found)
        }
        expected = .value
        guard text.hasSuffix(":"), bytes[end - 2] == UInt8(ascii: ":"), bytes[end - 1] == UInt8(ascii: "\"") else {
            // The colon precedes a quotation mark that is missing at the same place.
            let missing = error("a colon is missing after \(quoted(text))", at: end)
            return try report(missing, end..<end, ":", at: known)
        }
        let plain = String(text.dropLast())
        change { $0.name = JSONToken(kind: .string(plain), range: name.range) }
        let sentence = "the colon of \(quoted(plain)) is inside the quotation marks; write it after them"
        try report(sentence, end - 2..<end, "\":")
    }

    /// Reads a token that is neither a name nor a value, although one is next.
    private mutating func readWithoutValue(_ found: JSONToken) throws(Stop) {
        guard let container = containers.last else {
            // If the text does not even begin like JSON, nothing can be said about the rest.
            throw stop(notJSON(at: found.range.lowerBound))
        }
        if expected == .value, found.kind == .stray {
            try report(unexpected("a value"), found.range)
            return try skipToSeparator()
        }
        if let name = container.name {
            try reportNothing(after: name)
            return putUnreadable()
        }
        if found.isMark(",") {
            let isFirst = container.comma == nil
            let sentence = isFirst ? unexpected("the first entry").message : "two commas in a row; remove one"
            try report(sentence, found.range, "")
            return try advance(next)
        }
        if expected == .name, found.isBeginOfValue {
            try report(unexpected("a name in quotation marks"))
            // Read the whole value, so that its closing brackets do not close the objects around it.
            change { $0.name = JSONToken(kind: .string(nil), range: found.range) }
            return expected = .value
        }
        try skipStray(expected == .name ? "a name in quotation marks" : "a value")
    }

    /// Reads a token that is neither a comma nor a closing bracket, after a value.
    private mutating func readWithoutComma(_ found: JSONToken) throws(Stop) {
        guard let container = containers.last else { return }
        if found.isBeginOfValue {
            expected = next
            // The comma precedes a quotation mark that is missing at the same place.
            let missing = error("a comma is missing here, before the next entry", at: end)
            return container.hasStray ? () : try report(missing, end..<end, ",", at: known)
        }
        if found.kind == .stray, let last = lastString, bytes[found.range.lowerBound] == UInt8(ascii: "+") {
            return try readSum(of: last)
        }
        if found.isMark(":"), container.isObject, let last = lastString {
            // The string that was read as the value is the name of the next member.
            takeBack()
            if let name = containers.last?.name {
                repairs.removeAll {
                    $0.replacement == ":" && name.range.upperBound...last.range.lowerBound ~= $0.error.offset
                }
                try reportNothing(after: name)
            }
            putUnreadable()
            change { $0.name = last }
            return try advance(.value)
        }
        try skipStray(container.isObject ? "a name in quotation marks" : "a value")
    }

    /// Joins a string with the one that follows it behind a "+", as in code.
    private mutating func readSum(of first: JSONToken) throws(Stop) {
        let plus = unexpected("a comma")
        try advance(.value)
        guard case .string(let text) = token.kind else {
            expected = .comma
            change { $0.hasStray = true }
            return try report(plus, plus.offset..<plus.offset + 1)
        }
        let range = first.range.lowerBound..<token.range.upperBound
        let sum = first.kind.text.flatMap { first in text.map { first + $0 } }
        if let sum {
            try report("JSON cannot join strings with \"+\"; write \(quoted(sum))", range, jsonString(sum))
        }
        takeBack()
        token = JSONToken(kind: .string(sum), range: range)
        expected = .value
    }

    /// Skips text that can be no part of JSON.
    private mutating func skipStray(_ wanted: String) throws(Stop) {
        let isPair = token.isMark(":") && containers.last?.isObject == false
        let error =
            isPair
            ? error("JSON has names and values in { }, not in [ ]", at: containers.last?.start) : unexpected(wanted)
        // It may begin each line of a quotation.
        if strays.insert(scanner.text(token.range)).inserted { try report(error, isPair ? nil : token.range) }
        change { $0.hasStray = true }
        try advance()
    }

    /// Skips a value that cannot be read.
    private mutating func skipToSeparator() throws(Stop) {
        putUnreadable()
        let rest = bytes[position...]
        position =
            rest.firstIndex { $0.isLineBreak || $0.isClosingBracket || $0 == UInt8(ascii: ",") } ?? bytes.count
        try advance()
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
        if ["}", "]", ")", ",", ";"].contains(mark), token.kind == .end {
            return try report("this \"\(mark)\" is one too many; remove it", first.lowerBound..<end, "")
        }
        let sentence = "all brackets are already closed; remove this, or the bracket that closes too early"
        try report(error(sentence, at: first.lowerBound))
    }

    /// Throws for a file that is no text in UTF-8, or that is a page or a document.
    private mutating func refuseOtherFormats() throws(Stop) {
        let text = bytes.drop(while: \.isJSONSpace)
        let isPage = text.first == UInt8(ascii: "<") && !text.starts(with: "<<".utf8)
        if isPage || text.starts(with: "{\\rtf".utf8) {
            let sentence = "the file is a page or a document, not JSON; put the right file in its place"
            throw stop(error(sentence, at: 0))
        }
        let isWide = bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE])
        let isBinary = bytes.prefix(4).contains(0) || bytes.prefix(32).contains { $0 < 0x07 } || isWide
        guard isBinary else { return }
        let sentence = "the file is no text in UTF-8; save it as UTF-8, or put the right file in its place"
        throw stop(error(sentence, at: 0, kind: .encoding))
    }

    // MARK: - Errors

    func error(_ message: String, at offset: Int? = nil, kind: JSONSyntaxError.Kind = .syntax) -> JSONSyntaxError {
        JSONSyntaxError(offset: offset ?? position, kind: kind, message: message)
    }

    private func notJSON(at offset: Int) -> JSONSyntaxError {
        error("this is not JSON, which looks like this: { \"name\": \"value\" }", at: offset)
    }

    private mutating func reportNothing(after name: JSONToken) throws(Stop) {
        guard let text = name.kind.text else { return }
        let sentence = "nothing follows \(quoted(text)); an entry is two strings joined by a colon"
        try report(error(sentence, at: name.range.lowerBound))
    }

    /// Returns the error about a token that is not what is expected.
    private func unexpected(_ wanted: String) -> JSONSyntaxError {
        let start = token.range.lowerBound
        if token.kind == .end { return error("the file ends where \(wanted) is expected", at: start) }
        let remedy = token.isMark(",") || token.kind == .stray && wanted != "a value" ? "; remove it" : ""
        return error("there is \(quoted(scanner.text(token.range))) where \(wanted) is expected\(remedy)", at: start)
    }

    private func line(of offset: Int) -> Int { bytes[..<offset].count { $0 == UInt8(ascii: "\n") } + 1 }

    mutating func report(_ sentence: String, _ range: Range<Int>, _ replacement: String?) throws(Stop) {
        try report(error(sentence, at: range.lowerBound), range, replacement)
    }

    /// Records an error, and throws when there are too many.
    ///
    /// Of several encoding errors, only the first is recorded: saving the file again in UTF-8 fixes them all.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - range: The text to replace; nil for none.
    ///   - replacement: The text to write; nil if only the author can know it.
    ///   - index: The place among the repairs; nil for the end.
    /// - Throws: ``Stop`` after the last error that is recorded.
    mutating func report(
        _ error: JSONSyntaxError,
        _ range: Range<Int>? = nil,
        _ replacement: String? = nil,
        at index: Int? = nil
    ) throws(Stop) {
        if error.kind == .encoding, repairs.contains(where: { $0.error.kind == .encoding }) { return }
        let range = range ?? error.offset..<error.offset
        // What is written anew, or removed, needs no repair of its own.
        repairs.removeAll {
            range.lowerBound <= $0.range.lowerBound && $0.range.upperBound <= range.upperBound
                && ($0.range.lowerBound > range.lowerBound || !$0.range.isEmpty)
        }
        let repair = JSONRepair(error: error.withRemedy, range: range, replacement: replacement)
        repairs.insert(repair, at: min(index ?? repairs.count, repairs.count))
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

extension RepairingJSONParser.Container {
    /// The whole object or array.
    fileprivate var value: JSONValue {
        JSONValue(kind: isObject ? .object(members) : .array(elements), offset: start)
    }
}

extension JSONSyntaxError {
    /// The same error, with the remedy for one that the scanner has found.
    fileprivate var withRemedy: JSONSyntaxError {
        let remedy = AdviceTable.current.syntax[message.prefix { $0 != "(" }.trimmingCharacters(in: .whitespaces)]
        return JSONSyntaxError(offset: offset, kind: kind, message: message + (remedy.map { "; \($0)" } ?? ""))
    }
}
