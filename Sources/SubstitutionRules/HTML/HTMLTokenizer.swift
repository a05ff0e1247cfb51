import LocalSubstitutionCache

/// A tokenizer that splits a page into tags and text (HTML §13.2.5).
///
/// Foundation has no HTML parser. This tokenizer reads every encoding in which ASCII characters are single, unchanged
/// bytes. ``HTMLContext`` decides where CDATA sections are allowed and which elements hold text.
struct HTMLTokenizer {
    enum Token {
        case tag(HTMLTag)
        /// Text whose character references are not decoded yet.
        case text(Range<Int>)
        case characterData(Range<Int>)
        /// A comment or a doctype.
        case comment
    }

    let bytes: [UInt8]
    private var index = 0

    /// True if `<?xml-stylesheet` begins a tag of that name (Associating Style Sheets with XML §3), as in XHTML.
    private let isXML: Bool

    init(_ bytes: [UInt8], isXML: Bool = false) { (self.bytes, self.isXML) = (bytes, isXML) }

    /// Reads the next token.
    ///
    /// - Parameter allowsCharacterData: True if `<![CDATA[` begins a section of text, as in SVG and MathML.
    /// - Returns: The token; nil at the end of the page.
    mutating func next(allowsCharacterData: Bool) -> Token? {
        guard index < bytes.count else { return nil }
        guard bytes[index] == UInt8(ascii: "<"), index + 1 < bytes.count else { return text() }
        switch bytes[index + 1] {
        case UInt8(ascii: "!"): return declaration(allowsCharacterData)
        case UInt8(ascii: "?") where !isXML || !isTagNext("<?xml-stylesheet"): return bogusComment(from: index + 1)
        case UInt8(ascii: "?"): return tag(isEnd: false)
        case UInt8(ascii: "/"):
            guard index + 2 < bytes.count else { return text() }
            return bytes[index + 2].isASCIILetter ? tag(isEnd: true) : bogusComment(from: index + 2)
        default: return bytes[index + 1].isASCIILetter ? tag(isEnd: false) : text()
        }
    }

    /// Skips the content and the end tag of an element whose content has no tags.
    ///
    /// - Returns: The range of the content.
    mutating func skipContent(of element: HTMLTag) -> Range<Int> {
        let start = index
        if element.name == "script" { skipScript() } else { skip(toEndOf: element.name) }
        let content = start..<index
        if index < bytes.count { _ = tag(isEnd: true) }
        return content
    }

    /// Skips the rest of the page.
    mutating func skipRest() { index = bytes.count }

    // MARK: - Text and comments

    private mutating func text() -> Token {
        let start = index
        index = bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        return .text(start..<index)
    }

    private mutating func declaration(_ allowsCharacterData: Bool) -> Token {
        if isNext("<!--") {
            index += 4
            skipComment()
            return .comment
        }
        if allowsCharacterData, isNext("<![CDATA[") {
            let start = index + 9
            index = start
            while index < bytes.count, bytes[index] != UInt8(ascii: "]") || !isNext("]]>") { index += 1 }
            let end = index
            index = min(index + 3, bytes.count)
            return .characterData(start..<end)
        }
        return bogusComment(from: index + 2)
    }

    private mutating func bogusComment(from start: Int) -> Token {
        index = bytes[start...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
        return .comment
    }

    /// Moves past "-->" or "--!>"; only "-->" may share its hyphens with the opening "<!--".
    private mutating func skipComment() {
        let start = index
        index -= 2
        while index < bytes.count,
            bytes[index] != UInt8(ascii: "-") || !isNext("-->") && (index < start || !isNext("--!>"))
        {
            index += 1
        }
        index = bytes[index...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
    }

    // MARK: - Tags

    private mutating func tag(isEnd: Bool) -> Token {
        index += isEnd ? 2 : 1
        var tag = HTMLTag(name: name(until: " \t\n\u{0C}\r/>"), isEnd: isEnd)
        var names: Set<String> = []
        while true {
            let start = index
            while index < bytes.count, bytes[index].isHTMLSpace || bytes[index] == UInt8(ascii: "/") { index += 1 }
            // A tag that is cut off by the end of the page does not count.
            guard index < bytes.count else { return .comment }
            if bytes[index] == UInt8(ascii: ">") {
                tag.isSelfClosing = index > start && bytes[index - 1] == UInt8(ascii: "/")
                index += 1
                return .tag(tag)
            }
            let attribute = attribute()
            // Of several attributes with the same name, only the first counts.
            if names.insert(attribute.name).inserted { tag.attributes.append(attribute) }
        }
    }

    private mutating func attribute() -> HTMLTag.Attribute {
        // A leading "=" belongs to the name.
        let isOdd = bytes[index] == UInt8(ascii: "=")
        if isOdd { index += 1 }
        let name = (isOdd ? "=" : "") + name(until: " \t\n\u{0C}\r/>=")
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else {
            return HTMLTag.Attribute(name: name, value: SourceMappedText(endingAt: index))
        }
        index += 1
        skipSpace()
        guard index < bytes.count else {
            return HTMLTag.Attribute(name: name, value: SourceMappedText(endingAt: index))
        }
        let quote = bytes[index]
        let (end, next): (Int, Int)
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            index += 1
            end = bytes[index...].firstIndex(of: quote) ?? bytes.count
            next = min(end + 1, bytes.count)
        } else {
            end = bytes[index...].firstIndex { $0.isHTMLSpace || $0 == UInt8(ascii: ">") } ?? bytes.count
            next = end
        }
        let value = decoded(index..<end)
        index = next
        return HTMLTag.Attribute(name: name, value: value)
    }

    /// Returns the text in `range` with its character references decoded.
    func decoded(_ range: Range<Int>, inAttribute: Bool = true) -> SourceMappedText {
        var value = SourceMappedText(endingAt: range.upperBound)
        var index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] == UInt8(ascii: "&"),
                let reference = CharacterReference(bytes[index..<range.upperBound], inAttribute: inAttribute)
            {
                value.append(reference.bytes, at: index)
                index += reference.length
            } else {
                value.append(bytes[index], at: index)
                index += 1
            }
        }
        return value
    }

    private mutating func name(until ends: String) -> String {
        let start = index
        while index < bytes.count, !ends.utf8.contains(bytes[index]) { index += 1 }
        let name = String(decoding: bytes[start..<index].lazy.map(\.asciiLowercased), as: UTF8.self)
        // Any unknown name will do.
        return name.isStreamSafe ? name : "\u{FFFD}"
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index].isHTMLSpace { index += 1 }
    }

    // MARK: - Content without tags

    /// Moves to the "<" of the element's end tag.
    private mutating func skip(toEndOf element: String) {
        let end = "</" + element
        while index < bytes.count, bytes[index] != UInt8(ascii: "<") || !isTagNext(end) { index += 1 }
    }

    /// Moves to the "<" of the script's end tag.
    ///
    /// In a script, the text between "<!--" and "-->" may contain a `script` start tag. The end tag after it does not
    /// end the script (§13.2.5.20 to §13.2.5.31).
    private mutating func skipScript() {
        var (isComment, isNested) = (false, false)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "<") where isTagNext("</script"):
                if !isNested { return }
                isNested = false
            case UInt8(ascii: "<") where !isComment && isNext("<!--"):
                isComment = true
                // The hyphens of "<!--" may also be those of "-->", as in "<!-->".
                index += 1
            case UInt8(ascii: "<") where isComment && isTagNext("<script"): isNested = true
            case UInt8(ascii: "-") where isNext("-->"): (isComment, isNested) = (false, false)
            default: break
            }
            index += 1
        }
    }

    private func isNext(_ text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

    /// True if the tag that begins here has exactly the name in `start`, such as "</style"; case is ignored.
    private func isTagNext(_ start: String) -> Bool {
        guard bytes[index] == UInt8(ascii: "<"), index + start.utf8.count < bytes.count,
            zip(bytes[index...], start.utf8).allSatisfy({ $0.asciiLowercased == $1 })
        else { return false }
        return bytes[index + start.utf8.count].isHTMLSpace || "/>".utf8.contains(bytes[index + start.utf8.count])
    }
}

extension UInt8 {
    /// True for ASCII whitespace (Infra Standard §4.6).
    package var isHTMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0C || self == 0x0D }
}
