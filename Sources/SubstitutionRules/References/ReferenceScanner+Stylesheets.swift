import LocalSubstitutionCache

/// The part of the scanner for stylesheets (CSS Syntax Level 3 §4).
extension ReferenceScanner {
    mutating func readStylesheet() {
        // `depth` is the number of open parentheses. `imageSet` is the value of `depth` directly inside the open
        // `image-set()`; nil if none is open.
        var depth = 0
        var imageSet: Int?
        // The number of references before the current block and before the current declaration.
        var (block, declaration) = (0, 0)
        // True in a block with `unicode-range`: browsers load its font only for a text with one of these characters.
        var isForSomeText = false
        // True after the first block, and in an `@import` after it, which browsers ignore (CSS Cascade Level 5 §2).
        var (hasBlock, isIgnored) = (false, false)
        while index < bytes.count {
            // Most bytes match none of the cases, and are skipped.
            switch bytes[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                if depth == imageSet { imageSet = nil }
                depth -= 1
            case UInt8(ascii: ";"), UInt8(ascii: "{"), UInt8(ascii: "}"):
                (depth, imageSet) = (0, nil)
                markFurtherFonts(from: declaration)
                if isIgnored { markOptional(from: declaration) }
                (declaration, isIgnored) = (references.count, false)
                if bytes[index] != UInt8(ascii: ";") {
                    if isForSomeText { markOptional(from: block) }
                    (block, isForSomeText, hasBlock) = (declaration, false, true)
                }
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let range = readStyleString()
                // A string directly in `image-set()` is an address (CSS Images Level 4 §2.4). A string in `type()`
                // inside `image-set()` is not an address.
                if let range, depth == imageSet { addStyle(range) }
                continue
            case UInt8(ascii: "i"), UInt8(ascii: "I"), UInt8(ascii: "-"):
                if isWord("image-set(") || isWord("-webkit-image-set(") { imageSet = depth + 1 }
            case UInt8(ascii: "/"), UInt8(ascii: "@"), UInt8(ascii: "u"), UInt8(ascii: "U"), UInt8(ascii: "\\"):
                if hasBlock, isWord("@import") { isIgnored = true }
                if skipComment() || readURL() { continue }
                if isWord("unicode-range") { isForSomeText = true }
                if bytes[index] == UInt8(ascii: "\\") { index += 1 }
            default: break
            }
            index += 1
        }
        markFurtherFonts(from: declaration)
        if isForSomeText { markOptional(from: block) }
    }

    /// Marks the fonts of a declaration that browsers do not load, as they load only the first in a known format.
    ///
    /// Embedded OpenType and SVG are formats of old browsers.
    private mutating func markFurtherFonts(from first: Int) {
        var isFound = false
        for index in references.indices[first...] {
            let bytes = references[index].place.bytes
            let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            let end = String(decoding: path.suffix(6), as: UTF8.self).lowercased()
            let isFont =
                [".woff2", ".woff", ".ttf", ".otf"].contains(where: end.hasSuffix)
                || bytes.starts(with: "data:font/".utf8) || bytes.starts(with: "data:application/".utf8)
            if isFont ? isFound : end.hasSuffix(".eot") || end.hasSuffix(".svg") && isFound {
                references[index].isOptional = true
            }
            if isFont { isFound = true }
        }
    }

    private mutating func markOptional(from first: Int) {
        for index in references.indices[first...] { references[index].isOptional = true }
    }

    /// Reads `url(…)`, `@import` with a string, or `@namespace`; returns false if none of these begins here.
    private mutating func readURL() -> Bool {
        if let end = end(ofWord: "url(") {
            index = end
            skipSpace()
            if index < bytes.count, "\"'".utf8.contains(bytes[index]) {
                readStyleString().map { addStyle($0) }
            } else {
                readPlainURL()
            }
            skipSpace()
            if index < bytes.count, bytes[index] == UInt8(ascii: ")") { index += 1 }
        } else if let end = end(ofWord: "@import") {
            index = end
            skipSpace()
            while index < bytes.count, skipComment() { skipSpace() }
            readStyleString().map { addStyle($0) }
        } else if isWord("@namespace") {
            // Its URL is never loaded.
            while index < bytes.count, bytes[index] != UInt8(ascii: ";") { index += 1 }
        } else {
            return false
        }
        return true
    }

    /// Reads a string; nil for a bad one, which a line break ends, and which browsers ignore.
    private mutating func readStyleString() -> Range<Int>? {
        readString().flatMap { $0.upperBound < bytes.count && bytes[$0.upperBound] == UInt8(ascii: "\n") ? nil : $0 }
    }

    /// Reads an address without quotation marks; browsers ignore a bad one (CSS Syntax Level 3 §4.3.6).
    private mutating func readPlainURL() {
        let start = index
        while index < bytes.count, !bytes[index].isHTMLSpace, !"\"'()".utf8.contains(bytes[index]), bytes[index] > 0x1F
        {
            index = next(index)
        }
        let end = min(index, bytes.count)
        skipSpace()
        if index >= bytes.count || bytes[index] == UInt8(ascii: ")") { return addStyle(start..<end) }
        while index < bytes.count, bytes[index] != UInt8(ascii: ")") { index = next(index) }
    }

    private func isWord(_ word: StaticString) -> Bool { end(ofWord: word) != nil }

    /// Returns the end of a word at the current position; nil if another word, or none, begins here.
    ///
    /// The word may have letters in upper case and escapes, and includes the parenthesis of a function.
    private func end(ofWord word: StaticString) -> Int? {
        // Most words differ in the first letter.
        guard bytes[index] == UInt8(ascii: "\\") || bytes[index] | 0x20 == word.utf8Start.pointee | 0x20,
            index == 0 || !isNameByte(bytes[index - 1]) && !"-\\".utf8.contains(bytes[index - 1])
        else { return nil }
        var end = index
        while end < bytes.count, isNameByte(bytes[end]) || "-@\\".utf8.contains(bytes[end]) { end = next(end) }
        end = min(end, bytes.count)
        let name = unescaped(index..<end).string + (end < bytes.count && bytes[end] == UInt8(ascii: "(") ? "(" : "")
        return name.isASCIICaseInsensitiveEqual(to: word) ? end + (name.hasSuffix("(") ? 1 : 0) : nil
    }

    /// Returns the position after a byte, or after an escape.
    private func next(_ index: Int) -> Int {
        guard bytes[index] == UInt8(ascii: "\\") else { return index + 1 }
        return escaped(at: index + 1, bytes.count)?.next ?? index + 2
    }

    private mutating func addStyle(_ range: Range<Int>) { add(unescaped(range)) }

    /// Returns the text in `range` with its escapes decoded (CSS Syntax Level 3 §4.3.7).
    private func unescaped(_ range: Range<Int>) -> SourceMappedText {
        guard bytes[range].contains(UInt8(ascii: "\\")) else { return SourceMappedText(range, of: bytes) }
        var text = SourceMappedText(endingAt: range.upperBound)
        var index = range.lowerBound
        while index < range.upperBound {
            let start = index
            index += 1
            guard bytes[start] == UInt8(ascii: "\\") else {
                text.append(bytes[start], at: start)
                continue
            }
            if let (scalar, next) = escaped(at: index, range.upperBound) {
                text.append(String(scalar).utf8, at: start)
                index = next
            } else if index < range.upperBound, !skipBreak(&index, range.upperBound) {
                // An escaped line break represents nothing.
                text.append(bytes[index], at: start)
                index += 1
            }
        }
        return text
    }

    /// Returns the character that digits after a backslash mean, and their end; nil without digits.
    ///
    private func escaped(at index: Int, _ end: Int) -> (Unicode.Scalar, next: Int)? {
        guard index < end else { return nil }
        let digits = bytes[index..<end].prefix(6).prefix(while: \.isHexDigit)
        if digits.isEmpty { return nil }
        var next = index + digits.count
        if !skipBreak(&next, end), next < end, bytes[next].isHTMLSpace { next += 1 }
        let value = digits.reduce(UInt32(0)) { $0 << 4 | UInt32($1.hexValue) }
        return ((value == 0 ? nil : Unicode.Scalar(value)) ?? "\u{FFFD}", next)
    }

    private func skipBreak(_ index: inout Int, _ end: Int) -> Bool {
        guard index < end, "\n\r\u{0C}".utf8.contains(bytes[index]) else { return false }
        let isPair = bytes[index] == UInt8(ascii: "\r") && index + 1 < end && bytes[index + 1] == UInt8(ascii: "\n")
        index += isPair ? 2 : 1
        return true
    }
}
