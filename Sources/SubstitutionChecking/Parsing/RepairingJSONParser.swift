package import LocalSubstitutionCache

/// A JSON parser for the designers' tool; it is as strict as ``JSONParser``, but continues after each error.
///
/// After an error, the parser guesses what the text was meant to be, so that one run finds every mistake. If it cannot
/// guess, the value is ``JSONValue/Kind/unreadable``. The parser takes time linear in the length of the text. The
/// number of errors is limited. The nesting is limited, too; this also limits the depth of the stack.
package struct RepairingJSONParser {
    /// The number of errors after which parsing stops, since no user reads more.
    static let maximumErrors = 100

    var scanner: JSONScanner
    /// The closing bracket of each open object and array, outermost first.
    private var closings: [UInt8] = []
    private(set) var errors: [JSONSyntaxError] = []

    /// The error that ends parsing; the last element of `errors` gives the reason.
    struct Stop: Error {}

    /// Parses one JSON text.
    package static func parse(_ bytes: some Collection<UInt8>) -> JSONDocument {
        bytes.withContiguousStorageIfAvailable(parse(buffer:)) ?? Array(bytes).withUnsafeBufferPointer(parse(buffer:))
    }

    private static func parse(buffer: UnsafeBufferPointer<UInt8>) -> JSONDocument {
        // A file with zeros is not a text from another program.
        guard !buffer.contains(0), let pasted = PastedText(buffer) else { return parse(buffer, []) }
        return pasted.bytes.withUnsafeBufferPointer { parse($0, pasted.errors) }
    }

    /// Parses a text; `known` are the errors about marks that were removed from it.
    private static func parse(_ buffer: UnsafeBufferPointer<UInt8>, _ known: [JSONSyntaxError]) -> JSONDocument {
        var parser = RepairingJSONParser(scanner: JSONScanner(buffer))
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = parser.wholeText()
        let errors = known.isEmpty ? parser.errors : (known + parser.errors).sorted { $0.offset < $1.offset }
        return JSONDocument(value: value, errors: errors)
    }

    private mutating func wholeText() -> JSONValue {
        let start = position
        do throws(Stop) {
            if let foreign = foreignFormat() { throw stop(foreign) }
            try skipSpace()
            guard current != nil else { throw stop(error("the file is empty; write at least {}")) }
            if !bytes.contains(where: { $0 != 0 }) {
                throw stop(
                    error("the file holds only zeros, so its content is lost; restore it from a copy", kind: .encoding)
                )
            }
            let isInFence = isFence ? try skipProse() : false
            var value = try value(depth: 0)
            try skipSpace()
            if case .string = value.kind, current == UInt8(ascii: ":") {
                // The text is an object whose "{" is missing. The members of the object can still be read.
                position = value.offset
                try report(error("the \"{\" before the first entry is missing"))
                value = JSONValue(kind: .object(try members(opening: nil, depth: 1)), offset: value.offset)
                try skipSpace()
            }
            if current != nil, !(isFence && isInFence) { errors.append(trailingContent()) }
            return value
        } catch {
            return JSONValue(kind: .unreadable, offset: start)
        }
    }

    // MARK: - Values

    mutating func value(depth: Int) throws(Stop) -> JSONValue {
        let start = position
        guard let byte = current else { throw stop(unexpected(expecting: "a value")) }
        switch byte {
        case UInt8(ascii: "\""):
            return JSONValue(kind: try string().map(JSONValue.Kind.string) ?? .unreadable, offset: start)
        case UInt8(ascii: "{"):
            position += 1
            return JSONValue(kind: .object(try members(opening: start, depth: depth + 1)), offset: start)
        case UInt8(ascii: "(") where !closings.isEmpty:
            try report(error("\"(\" is not used in JSON; write { } instead of ( )"))
            position += 1
            let members = try members(opening: start, closing: UInt8(ascii: ")"), depth: depth + 1)
            return JSONValue(kind: .object(members), offset: start)
        case UInt8(ascii: "["):
            position += 1
            return JSONValue(kind: .array(try elements(opening: start, depth: depth + 1)), offset: start)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return JSONValue(kind: try number(), offset: start)
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "/"):
            return JSONValue(kind: try word(), offset: start)
        default:
            if let string = try foreignString() {
                return JSONValue(kind: string.text.map(JSONValue.Kind.string) ?? .unreadable, offset: start)
            }
            try report(unexpected(expecting: "a value"))
            // If the text does not even begin like JSON, nothing can be said about the rest.
            if closings.isEmpty { throw Stop() }
            skipStray()
            return JSONValue(kind: .unreadable, offset: start)
        }
    }

    private mutating func members(
        opening: Int?,
        closing: UInt8 = UInt8(ascii: "}"),
        depth: Int
    ) throws(Stop) -> [JSONMember] {
        var members: [JSONMember] = []
        try list(closing: closing, opening: opening, depth: depth) { parser throws(Stop) in
            let start = parser.position
            let member = try parser.member(depth: depth)
            // Record an unreadable member, too, so that the code that uses the members knows that one is missing.
            let unreadable = JSONValue(kind: .unreadable, offset: start)
            members.append(member ?? JSONMember(name: "", nameOffset: start, value: unreadable))
            return member != nil
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

    /// Reads the elements between two brackets, the commas between them, and the closing bracket.
    ///
    /// `element` reads one element, and returns true if it could read all of it.
    private mutating func list(
        closing: UInt8,
        opening: Int?,
        depth: Int,
        element: (inout RepairingJSONParser) throws(Stop) -> Bool
    ) throws(Stop) {
        guard depth <= JSONParser.maximumDepth else { throw stop(nestingError(at: opening)) }
        closings.append(closing)
        defer { closings.removeLast() }
        var before = Before.nothing
        while true {
            try skipSpace()
            guard let byte = current else { return try reportEnd(opening) }
            switch byte {
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ")"):
                if byte != closing {
                    // If this bracket closes an outer object or array, the inner closing bracket is missing. If not,
                    // the wrong bracket was written.
                    let isMissing = closings.dropLast().contains(byte)
                    try report(wrongClosing(byte, expected: closing, isMissing: isMissing))
                    if isMissing { return }
                }
                if case .comma(let offset) = before { try report(trailingComma(offset, before: byte)) }
                if depth == 1, try closesTooEarly() {
                    before = .stray
                    continue
                }
                position += 1
                return
            case UInt8(ascii: ","), UInt8(ascii: ";"):
                switch before {
                case .nothing: try report(unexpected(expecting: "the first entry"))
                case _ where byte == UInt8(ascii: ";"):
                    try report(error("write a comma between two entries, not \";\""))
                case .comma: try report(error("two commas in a row; remove one"))
                case .element, .stray: break
                }
                if case .nothing = before { before = .stray } else { before = .comma(position) }
                position += 1
            case 0:
                throw stop(unexpected(expecting: "a comma"))
            default:
                if case .element(let end) = before {
                    guard startsElement else {
                        try report(unexpected(expecting: "a comma"))
                        skipStray()
                        before = .stray
                        continue
                    }
                    try report(error("a comma is missing here, before the next entry", at: end))
                }
                let isWhole = try element(&self)
                before = isWhole ? .element(end: position) : .stray
            }
        }
    }

    /// The last thing that was read between two brackets.
    private enum Before {
        case nothing
        case element(end: Int)
        case comma(Int)
        /// Unreadable or misplaced text; after it, a missing comma is not an error.
        case stray
    }

    /// True if a name or a value may begin here, in any kind of quotation marks or in none.
    private var startsElement: Bool {
        guard let (character, _) = scanner.character(at: position) else { return false }
        return character.isLetter || character.isNumber || "\"{[-'/$_".contains(character)
            || Self.isTypographicQuote(character)
    }

    /// Reports the brackets that are still open at the end of the text, unless they have been reported.
    private mutating func reportEnd(_ opening: Int?) throws(Stop) {
        if errors.last?.kind == .end { return }
        try report(unclosed(opening, closings: closings))
    }

    /// Skips a bracket that closes the whole text too early, and reports it.
    ///
    /// Returns false if no more entries follow the bracket.
    private mutating func closesTooEarly() throws(Stop) -> Bool {
        let rest = bytes[(position + 1)...].drop { $0.isJSONSpace || $0 == UInt8(ascii: ",") }
        if rest.first == UInt8(ascii: "{"), bytes[position] == UInt8(ascii: "}") {
            let isJoined = bytes[position..<rest.startIndex].contains(UInt8(ascii: ","))
            try report(
                error(
                    "a second \"{\" follows, but a file has only one; "
                        + (isJoined
                            ? "remove this \"}\" and that \"{\"" : "write a comma instead of this \"}\" and that \"{\"")
                )
            )
            position = rest.startIndex + 1
            return true
        }
        guard rest.first == UInt8(ascii: "\"") else { return false }
        let bracket = Character(Unicode.Scalar(bytes[position]))
        try report(error("this \"\(bracket)\" closes the whole file, but more entries follow; remove it"))
        position += 1
        return true
    }

    private mutating func member(depth: Int) throws(Stop) -> JSONMember? {
        let offset = position
        guard let name = try name(depth: depth) else { return nil }
        let end = position
        var hasColon = true
        try skipSpace()
        switch current {
        case UInt8(ascii: ":"):
            position += 1
        case UInt8(ascii: ";"):
            try report(error("write a colon here instead of \";\""))
            position += 1
        case UInt8(ascii: "="):
            let isArrow = position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: ">")
            try report(error("write a colon here instead of \"\(isArrow ? "=>" : "=")\""))
            position += isArrow ? 2 : 1
        case nil:
            return nil
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"):
            // A name that could not be read has an error already.
            if let text = name.text {
                try report(error("\(quoted(text)) stands alone; an entry is two strings joined by a colon", at: end))
            }
            return nil
        default:
            guard let text = name.text else { return nil }
            if !name.holdsColon { try report(error("a colon is missing after \(quoted(text))", at: end)) }
            hasColon = false
        }
        let colon = position - 1
        try skipSpace()
        switch current {
        case nil:
            return nil
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"):
            if hasColon { try report(error("nothing follows this colon; write what belongs there", at: colon)) }
            return nil
        default:
            let known = errors.count
            let value = try value(depth: depth)
            if hasColon, errors.count == known, case .string = value.kind, isFollowedByColon {
                // The string that was read as the value is the name of the next member.
                try report(error("nothing follows this colon; write what belongs there", at: colon))
                position = value.offset
                return nil
            }
            return name.text.map { JSONMember(name: $0, nameOffset: offset, value: value) }
        }
    }

    // MARK: - Words and numbers

    /// Reads `true`, `false`, `null`, or a string without quotation marks.
    private mutating func word() throws(Stop) -> JSONValue.Kind {
        let start = position
        let bare = bareText { byte, _ in byte == UInt8(ascii: ",") || byte.isClosingBracket }
        switch scanner.text(bare) {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default: break
        }
        let text = scanner.text(bare)
        if closings.isEmpty {
            guard let brace = bytes[bare].firstIndex(of: UInt8(ascii: "{")) else {
                position = start
                if try skipProse() { return try value(depth: 0).kind }
                throw stop(
                    error("this is not JSON, which looks like this: { \"name\": \"value\" }", at: start)
                )
            }
            // The text before the "{" is the beginning of a JavaScript statement, such as `const manifest =`.
            let rest = bytes[start..<brace].lastIndex { !$0.isJSONSpace }.map { start..<$0 + 1 } ?? start..<start
            try report(error("remove \(quoted(scanner.text(rest))) before the \"{\"", at: start))
            position = brace
            return try value(depth: 0).kind
        }
        switch text.lowercased() {
        case "true", "false", "null":
            try report(error("JSON writes \(text.lowercased()), not \(text)", at: start))
            return text.lowercased() == "null" ? .null : .bool(text.lowercased() == "true")
        case "yes", "on", "no", "off":
            let value = ["yes", "on"].contains(text.lowercased())
            try report(error("JSON writes \(value), not \(text)", at: start))
            return .bool(value)
        case "nan", "infinity", "undefined":
            try report(error("JSON has no \(text); write a number, or null", at: start))
            return .unreadable
        default:
            try reportMissingQuotes(around: bare)
            return .string(text)
        }
    }

    private mutating func number() throws(Stop) -> JSONValue.Kind {
        let start = position
        let problem: JSONSyntaxError
        do throws(JSONSyntaxError) {
            return .number(try scanner.number())
        } catch {
            problem = error
        }
        position = start
        let bare = bareText { byte, _ in byte == UInt8(ascii: ",") || byte.isClosingBracket }
        if position == start { position += 1 }
        let text = scanner.text(bare)
        try report(
            problem.kind == .word
                ? error("\(quoted(text)) is not a number, so it needs quotation marks", at: start) : problem
        )
        return .unreadable
    }

    // MARK: - Errors

    /// Records an error, and throws when there are too many.
    ///
    /// Of several encoding errors, only the first is recorded: saving the file again in UTF-8 fixes them all.
    mutating func report(_ error: JSONSyntaxError) throws(Stop) {
        if error.kind == .encoding, errors.contains(where: { $0.kind == .encoding }) { return }
        errors.append(error.withRemedy)
        guard errors.count == Self.maximumErrors else { return }
        errors.append(self.error("more than \(Self.maximumErrors) errors; fix these first", at: error.offset))
        throw Stop()
    }

    mutating func stop(_ error: JSONSyntaxError) -> Stop {
        errors.append(error.withRemedy)
        return Stop()
    }

    // MARK: - Scanning

    var bytes: UnsafeBufferPointer<UInt8> { scanner.bytes }

    var position: Int {
        get { scanner.position }
        set { scanner.position = newValue }
    }

    var current: UInt8? { scanner.current }

    /// Skips white space; skips and reports comments, merge conflict markers and invisible characters.
    mutating func skipSpace() throws(Stop) {
        while let byte = current {
            if byte.isJSONSpace {
                position += 1
            } else if byte < 0x80, !"/#<=>|".utf8.contains(byte) {
                return
            } else if try !skipComments(), try !skipInvisible() {
                return
            }
        }
    }

    /// Skips unreadable text, up to the next line break, comma or closing bracket.
    mutating func skipStray() {
        repeat {
            position += 1
        } while current.map { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: ",") && !$0.isClosingBracket }
            ?? false
    }
}

extension UInt8 {
    var isClosingBracket: Bool { self == UInt8(ascii: "}") || self == UInt8(ascii: "]") }
}
