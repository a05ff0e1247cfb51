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
                let range = readString()
                // A string directly in `image-set()` is an address (CSS Images Level 4 §2.4). A string in `type()`
                // inside `image-set()` is not an address.
                if let range, depth == imageSet { addStyle(range) }
                continue
            case UInt8(ascii: "i"), UInt8(ascii: "I"), UInt8(ascii: "-"):
                if isWord("image-set(") || isWord("-webkit-image-set(") { imageSet = depth + 1 }
            case UInt8(ascii: "/"), UInt8(ascii: "@"), UInt8(ascii: "u"), UInt8(ascii: "U"):
                if hasBlock, isWord("@import") { isIgnored = true }
                if skipComment() || readURL() { continue }
                if isWord("unicode-range") { isForSomeText = true }
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
        if isWord("url(") {
            index += 4
            skipSpace()
            if let range = readString() { addStyle(range) } else { readPlainURL() }
            skipSpace()
            if index < bytes.count, bytes[index] == UInt8(ascii: ")") { index += 1 }
        } else if isWord("@import") {
            index += 7
            skipSpace()
            while index < bytes.count, skipComment() { skipSpace() }
            if let range = readString() { addStyle(range) }
        } else {
            return skipNamespace()
        }
        return true
    }

    /// Skips `@namespace`, whose URL is never loaded.
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
        var end = index
        while end > start, bytes[end - 1].isHTMLSpace { end -= 1 }
        addStyle(start..<end)
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
            let digits = bytes[index..<range.upperBound].prefix(6).prefix(while: \.isHexDigit)
            if digits.isEmpty {
                // An escaped line break represents nothing.
                if index < range.upperBound, !skipBreak(&index, range.upperBound) {
                    text.append(bytes[index], at: start)
                    index += 1
                }
            } else {
                index += digits.count
                if !skipBreak(&index, range.upperBound), index < range.upperBound, bytes[index].isHTMLSpace {
                    index += 1
                }
                let value = digits.reduce(UInt32(0)) { $0 << 4 | UInt32($1.hexValue) }
                let scalar = value == 0 ? nil : Unicode.Scalar(value)
                text.append(String(scalar ?? "\u{FFFD}").utf8, at: start)
            }
        }
        return text
    }

    private func skipBreak(_ index: inout Int, _ end: Int) -> Bool {
        guard index < end, "\n\r\u{0C}".utf8.contains(bytes[index]) else { return false }
        let isPair = bytes[index] == UInt8(ascii: "\r") && index + 1 < end && bytes[index + 1] == UInt8(ascii: "\n")
        index += isPair ? 2 : 1
        return true
    }
}
