package import Foundation

/// Finds the addresses that a stylesheet or a script names.
///
/// Nothing given does it: only as much of CSS (CSS Syntax Level 3 §4) and of ECMAScript (§16.2) is read as tells
/// references from comments and other strings.
package struct ReferenceScanner {
    /// One address, and where it stands.
    package struct Reference: Hashable, Sendable {
        package let text: String
        /// Of its first character, in bytes.
        package let offset: Int
        /// Whether it names a module, which is an address only where it begins with `/`, `./` or `../`.
        package var isSpecifier = false
    }

    private let bytes: [UInt8]
    private var index = 0
    private var references: [Reference] = []

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// What `url()`, `image-set()` and `@import` of a stylesheet name.
    package static func references(inStylesheet text: Data) -> [Reference] { references(inStylesheet: Array(text)) }

    /// What `import`, `export … from`, `new URL(…, import.meta.url)` and `import.meta.resolve()` of a script name.
    package static func references(inScript text: Data) -> [Reference] {
        var scanner = ReferenceScanner(Array(text))
        scanner.readScript()
        return scanner.references
    }

    static func references(inStylesheet bytes: [UInt8]) -> [Reference] {
        var scanner = ReferenceScanner(bytes)
        scanner.readStylesheet()
        return scanner.references
    }

    // MARK: - Stylesheets

    private mutating func readStylesheet() {
        // How many brackets are open, and how many of them up to that of `image-set()`.
        var depth = 0
        var imageSet: Int?
        while index < bytes.count {
            // Most bytes begin nothing.
            switch bytes[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                if depth == imageSet { imageSet = nil }
                depth -= 1
            case UInt8(ascii: ";"), UInt8(ascii: "{"), UInt8(ascii: "}"): (depth, imageSet) = (0, nil)
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let start = index + 1
                let text = readString()
                // A string alone is an address there (CSS Images Level 4 §2.4), and not in its `type()`.
                if let text, depth == imageSet { add(Self.unescaped(text), at: start) }
                continue
            case UInt8(ascii: "i"), UInt8(ascii: "I"), UInt8(ascii: "-"):
                if isWord("image-set(") || isWord("-webkit-image-set(") { imageSet = depth + 1 }
            case UInt8(ascii: "/"), UInt8(ascii: "@"), UInt8(ascii: "u"), UInt8(ascii: "U"):
                if skipComment() || readURL() { continue }
            default: break
            }
            index += 1
        }
    }

    /// Reads `url(` up to its end, or `@import` up to its string.
    private mutating func readURL() -> Bool {
        if isWord("url(") {
            index += 4
            skipSpace()
            let start = index + 1
            if let text = readString() { add(Self.unescaped(text), at: start) } else { readPlainURL() }
            skipSpace()
            if index < bytes.count, bytes[index] == UInt8(ascii: ")") { index += 1 }
        } else if isWord("@import") {
            index += 7
            skipSpace()
            while index < bytes.count, skipComment() { skipSpace() }
            let start = index + 1
            if let text = readString() { add(Self.unescaped(text), at: start) }
        } else {
            return skipNamespace()
        }
        return true
    }

    /// `@namespace` names what is never loaded.
    private mutating func skipNamespace() -> Bool {
        guard isWord("@namespace") else { return false }
        while index < bytes.count, bytes[index] != UInt8(ascii: ";") { index += 1 }
        return true
    }

    private mutating func readPlainURL() {
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: ")"), bytes[index] != UInt8(ascii: "\n") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index = min(index, bytes.count)
        let text = String(decoding: bytes[start..<index], as: UTF8.self).trimmingCharacters(in: .whitespaces)
        add(Self.unescaped(text), at: start)
    }

    /// What escapes stand for (CSS Syntax Level 3 §4.3.7).
    private static func unescaped(_ text: String) -> String {
        guard text.contains("\\") else { return text }
        var result = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                result.unicodeScalars.append(scalar)
                continue
            }
            let digits = rest.prefix(6).prefix { $0.properties.isASCIIHexDigit }
            if digits.isEmpty {
                // Before the end of a line it stands for nothing.
                if let next = rest.popFirst(), next != "\n" { result.unicodeScalars.append(next) }
            } else {
                rest = rest.dropFirst(digits.count)
                if rest.first == " " { rest.removeFirst() }
                let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16) ?? 0xFFFD
                result.unicodeScalars.append(Unicode.Scalar(value) ?? "\u{FFFD}")
            }
        }
        return result
    }

    // MARK: - Scripts

    private mutating func readScript() {
        // What a string that comes next would be, and whether it is in the brackets of a call.
        var expected: Expected?
        var isCall = false
        var isAfterNew = false
        // The last byte that is neither space nor comment: a "/" after it divides, or begins a regular expression.
        var last = UInt8(ascii: ";")
        while index < bytes.count {
            let byte = bytes[index]
            if skipComment() || skipLineComment() { continue }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                let start = index + 1
                let text = readString()
                skipSpace()
                switch (expected, text) {
                // What is put together from several strings is not known.
                case (.specifier, let text?) where !isCall || index < bytes.count && ",)".utf8.contains(bytes[index]):
                    add(text, at: start, isSpecifier: true)
                case (.address, let text?) where isCall && isModuleAddressNext(): add(text, at: start)
                default: break
                }
                (expected, isCall, isAfterNew, last) = (nil, false, false, byte)
            } else if byte == UInt8(ascii: "`") {
                let start = index + 1
                skipTemplate()
                let text = String(decoding: bytes[start..<max(start, min(index, bytes.count) - 1)], as: UTF8.self)
                if expected == .specifier, isCall, !text.contains("${") { add(text, at: start, isSpecifier: true) }
                (expected, isCall, isAfterNew, last) = (nil, false, false, byte)
            } else if byte == UInt8(ascii: "/"), "(,=:[!&|?{};".utf8.contains(last) {
                skipRegularExpression()
            } else if isNameByte(byte) {
                let start = index
                while index < bytes.count, isNameByte(bytes[index]) { index += 1 }
                let word = bytes[start..<index]
                let isProperty = start > 0 && bytes[start - 1] == UInt8(ascii: ".")
                expected = isProperty ? expectedOfProperty(word, at: start) : Self.expected(after: word, isAfterNew)
                isAfterNew = word.elementsEqual("new".utf8)
                // A regular expression may follow this word, and no other that is common.
                (isCall, last) = (false, word.elementsEqual("return".utf8) ? UInt8(ascii: ";") : byte)
            } else {
                if byte == UInt8(ascii: "(") {
                    isCall = expected != nil
                } else if byte > 0x20 {
                    expected = nil
                }
                if byte > 0x20 { (isAfterNew, last) = (false, byte) }
                index += 1
            }
        }
    }

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

    /// Whether the next argument of a call, its last, is the address of the module.
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

    private mutating func skipTemplate() {
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "`") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index += 1
    }

    private func isNameByte(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }

    // MARK: - Both

    private mutating func skipComment() -> Bool {
        guard isNext("/", "*") else { return false }
        index += 2
        while index < bytes.count, !isNext("*", "/") { index += 1 }
        index += 2
        return true
    }

    private func isNext(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        bytes[index] == UInt8(ascii: first) && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: second)
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] <= 0x20 { index += 1 }
    }

    /// A string up to its end or that of its line; nil when there is none.
    private mutating func readString() -> String? {
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
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Whether this word begins here, in letters of any case.
    private func isWord(_ word: String) -> Bool {
        let slice = bytes[index...].prefix(word.utf8.count)
        return slice.count == word.utf8.count && zip(slice, word.utf8).allSatisfy { $0 == $1 || $0 | 0x20 == $1 }
            && (index == 0 || !isNameByte(bytes[index - 1]) && bytes[index - 1] != UInt8(ascii: "-"))
    }

    private mutating func add(_ text: String, at offset: Int, isSpecifier: Bool = false) {
        if !text.isEmpty { references.append(Reference(text: text, offset: offset, isSpecifier: isSpecifier)) }
    }
}
