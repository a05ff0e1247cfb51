package import Foundation

/// A scanner that finds the addresses in a stylesheet or a script, and their positions.
///
/// Foundation has no parser for either language. The scanner knows only what distinguishes references from comments and
/// other strings, in CSS (CSS Syntax Level 3 §4) and ECMAScript (ECMA-262 §16.2, modules). The functions for
/// stylesheets are in a separate extension.
package struct ReferenceScanner {
    /// An address and its position.
    package struct Reference: Hashable, Sendable {
        /// The address with its escapes decoded, and its offsets in the source.
        package let place: SourceMappedText
        /// The escaping that a new address needs at this position.
        package let notation: PageEdit.Escaping
        /// True for the address of an image, audio or video in a page.
        ///
        /// In an https page, browsers replace http by https in such an address. Only ``PageScanner`` sets this
        /// property.
        package var isUpgraded = false
        /// True for a module specifier, which is an address only if it begins with `/`, `./` or `../`.
        package var isSpecifier = false
        /// True for an address that browsers may never load, such as a font's second format.
        package var isOptional = false
        /// The name of the element that loads the address, with "img" for every attribute of pictures.
        ///
        /// Nil for all else, as only ``PageScanner`` sets it.
        package var element: String?

        package var text: String { place.string }
        /// The offset of the address in the source, in bytes.
        package var offset: Int { place.offset(0) }

        /// Returns this reference with its offsets in the enclosing page; `text` is the page's stylesheet.
        package func placed(in text: SourceMappedText, isOptional: Bool = false) -> Reference {
            Reference(
                place: place.placed(in: text),
                notation: notation,
                isUpgraded: isUpgraded,
                isSpecifier: isSpecifier,
                isOptional: isOptional || self.isOptional
            )
        }
    }

    let bytes: [UInt8]
    var index = 0
    var references: [Reference] = []

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the addresses in `url()`, `image-set()` and `@import` of a stylesheet.
    package static func references(inStylesheet text: Data) -> [Reference] { references(inStylesheet: Array(text)) }

    /// Returns the addresses in a script.
    ///
    /// They are in `import`, `export … from`, `new URL(…, import.meta.url)` and `import.meta.resolve()`.
    package static func references(inScript text: Data) -> [Reference] { references(inScript: Array(text)) }

    package static func references(inScript bytes: [UInt8]) -> [Reference] {
        var scanner = ReferenceScanner(bytes)
        scanner.readScript()
        return scanner.references
    }

    /// Returns the addresses in a text that a pattern captures.
    package static func references(matching pattern: Regex<(Substring, Substring)>, in bytes: [UInt8]) -> [Reference] {
        let text = String(decoding: bytes, as: UTF8.self)
        // In a text that is not UTF-8, the offsets would be others.
        guard text.utf8.count == bytes.count else { return [] }
        var scanner = ReferenceScanner(bytes)
        // With characters in place of scalars, the search takes quadratic time in combining marks.
        for match in text.matches(of: pattern.matchingSemantics(.unicodeScalar)) {
            let start = text.utf8.distance(from: text.startIndex, to: match.1.startIndex)
            scanner.add(SourceMappedText(start..<start + match.1.utf8.count, of: bytes))
        }
        return scanner.references
    }

    package static func references(inStylesheet bytes: [UInt8]) -> [Reference] {
        var scanner = ReferenceScanner(bytes)
        scanner.readStylesheet()
        return scanner.references
    }

    // MARK: - Scripts

    private mutating func readScript() {
        // The kind of reference that a string at the current position would be; nil if it would not be a reference.
        // `isCall` is true after the parenthesis that begins the arguments of a call.
        var expected: Expected?
        var isCall = false
        var isAfterNew = false
        // The byte that decides whether a "/" at the current position is a division sign or begins a regular
        // expression. It is the last byte that was a punctuation character, a quotation mark or the first byte of a
        // word.
        var last = UInt8(ascii: ";")
        // The current position may lie in nested `${…}` of templates. The array has the number of open braces in each
        // of them, the outermost first.
        var openBraces: [Int] = []
        while index < bytes.count {
            let byte = bytes[index]
            if skipComment() || skipLineComment() { continue }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                let range = readString()
                skipSpace()
                switch (expected, range) {
                // In a call such as `import(…)`, the string must be the whole argument: the value of a longer
                // expression is unknown.
                case (.specifier, let range?) where !isCall || isArgumentEnd:
                    add(SourceMappedText(range, of: bytes), isSpecifier: true)
                case (.address, let range?) where isCall && isModuleAddressNext():
                    add(SourceMappedText(range, of: bytes))
                default: break
                }
                (expected, isCall, isAfterNew, last) = (nil, false, false, byte)
            } else if byte == UInt8(ascii: "`") || byte == UInt8(ascii: "}") && openBraces.last == 0 {
                if byte == UInt8(ascii: "}") { openBraces.removeLast() }
                index += 1
                let start = index
                let isInterrupted = skipTemplateText()
                if isInterrupted {
                    openBraces.append(0)
                } else if expected == .specifier, isCall, byte == UInt8(ascii: "`") {
                    let range = start..<min(index - 1, bytes.count)
                    skipSpace()
                    if isArgumentEnd { add(SourceMappedText(range, of: bytes), isSpecifier: true) }
                }
                (expected, isCall, isAfterNew, last) = (nil, false, false, UInt8(ascii: isInterrupted ? "{" : "`"))
            } else if byte == UInt8(ascii: "/"), "(,=:[!&|?{};".utf8.contains(last) {
                skipRegularExpression()
                last = byte
            } else if isNameByte(byte) {
                let start = index
                while index < bytes.count, isNameByte(bytes[index]) { index += 1 }
                let word = bytes[start..<index]
                let isProperty = start > 0 && bytes[start - 1] == UInt8(ascii: ".")
                expected = isProperty ? expectedOfProperty(word, at: start) : Self.expected(after: word, isAfterNew)
                isAfterNew = word.elementsEqual("new".utf8)
                // After a word, "/" normally divides. After `return` it begins a regular expression, as after ";".
                // Rarer exceptions, such as `typeof`, are ignored.
                (isCall, last) = (false, word.elementsEqual("return".utf8) ? UInt8(ascii: ";") : byte)
            } else {
                if byte == UInt8(ascii: "(") {
                    isCall = expected != nil
                } else if byte > 0x20 {
                    expected = nil
                }
                if let count = openBraces.last, "{}".utf8.contains(byte) {
                    openBraces[openBraces.count - 1] = count + (byte == UInt8(ascii: "{") ? 1 : -1)
                }
                if byte > 0x20 { (isAfterNew, last) = (false, byte) }
                index += 1
            }
        }
    }

    /// True if an argument of a call ends at the current position.
    private var isArgumentEnd: Bool { index < bytes.count && ",)".utf8.contains(bytes[index]) }

    private enum Expected {
        case specifier
        case address
    }

    private static func expected(after word: ArraySlice<UInt8>, _ isAfterNew: Bool) -> Expected? {
        if word.elementsEqual("from".utf8) || word.elementsEqual("import".utf8) { return .specifier }
        return isAfterNew && word.elementsEqual("URL".utf8) ? .address : nil
    }

    private func expectedOfProperty(_ word: ArraySlice<UInt8>, at start: Int) -> Expected? {
        word.elementsEqual("resolve".utf8) && bytes[..<start].suffix(12).elementsEqual("import.meta.".utf8)
            ? .specifier : nil
    }

    /// Returns true if `import.meta.url` follows as the last argument of the call.
    private func isModuleAddressNext() -> Bool {
        guard index < bytes.count else { return false }
        let rest = bytes[index...].prefix(100).filter { $0 > 0x20 }
        return [",import.meta.url)", ",import.meta.url,)"].contains { rest.starts(with: $0.utf8) }
    }

    private mutating func skipRegularExpression() {
        var isInClass = false
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n"), isInClass || bytes[index] != UInt8(ascii: "/") {
            if bytes[index] == UInt8(ascii: "[") { isInClass = true }
            if bytes[index] == UInt8(ascii: "]") { isInClass = false }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index += 1
    }

    private mutating func skipLineComment() -> Bool {
        guard isNext("/", "/") else { return false }
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
        return true
    }

    /// Skips a template's text; returns true at a `${`, and false at the template's end.
    private mutating func skipTemplateText() -> Bool {
        while index < bytes.count, bytes[index] != UInt8(ascii: "`") {
            if isNext("$", "{") {
                index += 2
                return true
            }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index += 1
        return false
    }

    func isNameByte(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }

    // MARK: - Scripts and stylesheets

    mutating func skipComment() -> Bool {
        guard isNext("/", "*") else { return false }
        index += 2
        while index < bytes.count, !isNext("*", "/") { index += 1 }
        index += 2
        return true
    }

    private func isNext(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        bytes[index] == UInt8(ascii: first) && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: second)
    }

    mutating func skipSpace() {
        while index < bytes.count, bytes[index] <= 0x20 { index += 1 }
    }

    /// Reads a string, and returns the range of its content; nil if no string begins here.
    mutating func readString() -> Range<Int>? {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "'") else {
            return nil
        }
        let quote = bytes[index]
        index += 1
        let start = index
        while index < bytes.count, bytes[index] != quote, bytes[index] != UInt8(ascii: "\n") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        let end = min(index, bytes.count)
        index = end + 1
        return start..<end
    }

    mutating func add(_ text: SourceMappedText, isSpecifier: Bool = false) {
        if text.bytes.isEmpty { return }
        references.append(Reference(place: text, notation: .stylesheet, isSpecifier: isSpecifier))
    }
}
