/// Finds the addresses that an HTML page names, and where.
///
/// Nothing given does it: Foundation has no parser of HTML. Only as much of the standard (HTML §13.2.5, tokenization)
/// is read as tells attributes from text, comments and scripts. Works on every encoding that holds ASCII as it is.
package struct PageScanner {
    package typealias Reference = ReferenceScanner.Reference

    /// What a page names.
    package struct References {
        /// Of pictures, styles, scripts, links and forms.
        var addresses: [Reference] = []
        /// Of the styles in the page itself.
        fileprivate(set) var styles: [Reference] = []
        /// Of elements with `integrity`, which promises their bytes beforehand; and those of them that are links.
        fileprivate(set) var promised: [Reference] = [], promisedLinks: [Reference] = []
        /// Of the elements that say what relative addresses are relative to.
        package fileprivate(set) var bases: [Reference] = []
        /// What is loaded with the page: pictures, styles, scripts, sounds and films, also those with `integrity`.
        package fileprivate(set) var resources: [String] = []
        /// The content policies that it names itself.
        var policies: [Policy] = []
    }

    /// A content policy, with the offset of each of its bytes in the page.
    struct Policy {
        let bytes: [UInt8]
        let offsets: [Int]
    }

    private let bytes: [UInt8]
    private var index = 0
    private var references = References()

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    package static func references(in bytes: [UInt8]) -> References {
        var scanner = PageScanner(bytes)
        scanner.readPage()
        return scanner.references
    }

    /// One attribute, with the offset of each byte of its value in the page: character references are shorter than what
    /// stands there.
    private struct Attribute {
        let name: String
        var value: [UInt8] = []
        var offsets: [Int] = []
    }

    private mutating func readPage() {
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            index = start + 1
            if isNext("!--") {
                skipComment()
            } else if index < bytes.count, bytes[index].isASCIILetter {
                readTag()
            }
        }
    }

    private mutating func readTag() {
        let name = readName(until: " \t\n\u{0C}\r/>")
        var attributes: [Attribute] = []
        while let attribute = readAttribute() { attributes.append(attribute) }
        let isClosed = index < bytes.count
        if isClosed { index += 1 }
        add(attributes, of: name)
        switch name {
        case "style" where isClosed:
            let start = index
            skip(toEndOf: name)
            addStylesheet(Array(bytes[start..<index]), Array(start..<index))
        case "script": skipScript()
        case "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript": skip(toEndOf: name)
        case "plaintext": index = bytes.count
        default: break
        }
    }

    /// The next attribute; nil at the end of the tag, which is the next byte.
    private mutating func readAttribute() -> Attribute? {
        while index < bytes.count, bytes[index].isHTMLSpace || bytes[index] == UInt8(ascii: "/") { index += 1 }
        guard index < bytes.count, bytes[index] != UInt8(ascii: ">") else { return nil }
        // An "=" that comes first belongs to the name.
        let isOdd = bytes[index] == UInt8(ascii: "=")
        if isOdd { index += 1 }
        var attribute = Attribute(name: (isOdd ? "=" : "") + readName(until: " \t\n\u{0C}\r/>="))
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { return attribute }
        index += 1
        skipSpace()
        guard index < bytes.count else { return attribute }
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
        decode(index..<end, into: &attribute)
        index = next
        return attribute
    }

    /// Reads a value, with those character references that stand for what addresses and styles hold (HTML §13.5).
    private func decode(_ range: Range<Int>, into attribute: inout Attribute) {
        var index = range.lowerBound
        while index < range.upperBound {
            attribute.offsets.append(index)
            guard bytes[index] == UInt8(ascii: "&"), let (byte, length) = reference(bytes[index..<range.upperBound])
            else {
                attribute.value.append(bytes[index])
                index += 1
                continue
            }
            attribute.value.append(byte)
            index += length
        }
    }

    private func reference(_ text: ArraySlice<UInt8>) -> (byte: UInt8, length: Int)? {
        guard let end = text.prefix(10).firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = String(decoding: text[(text.startIndex + 1)..<end], as: UTF8.self)
        let length = end + 1 - text.startIndex
        if let scalar = Self.named[name] { return (UInt8(ascii: scalar), length) }
        guard name.hasPrefix("#") else { return nil }
        let isHexadecimal = name.dropFirst().first?.lowercased() == "x"
        let value = UInt8(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
        return value.flatMap { $0 < 0x80 ? ($0, length) : nil }
    }

    private static let named: [String: Unicode.Scalar] = [
        "amp": "&", "quot": "\"", "apos": "'", "lt": "<", "gt": ">", "sol": "/", "colon": ":",
    ]

    // MARK: - What names an address

    private mutating func add(_ attributes: [Attribute], of element: String) {
        if element == "meta", let kind = attributes.first(where: { $0.name == "http-equiv" }),
            kind.value.lazy.map(\.asciiLowercased).elementsEqual("content-security-policy".utf8),
            let policy = attributes.first(where: { $0.name == "content" })
        {
            references.policies.append(Policy(bytes: policy.value, offsets: policy.offsets))
        }
        let first = references.addresses.count
        var names: Set<String> = []
        // Of two of the same name the first counts.
        for attribute in attributes where names.insert(attribute.name).inserted {
            switch (element, attribute.name) {
            case ("base", "href"): add(attribute, to: \.bases)
            case (_, "src"), (_, "href"), (_, "xlink:href"), (_, "poster"), (_, "action"), (_, "formaction"),
                (_, "background"), ("object", "data"):
                add(attribute, to: \.addresses)
            case (_, "srcset"), (_, "imagesrcset"): addCandidates(attribute)
            case (_, "style"): addStylesheet(attribute.value, attribute.offsets)
            default: break
            }
        }
        if Self.isLoaded(element, attributes) { references.resources += references.addresses[first...].map(\.text) }
        if attributes.contains(where: { $0.name == "integrity" }) {
            references.promised += references.addresses[first...]
            if element == "link" { references.promisedLinks += references.addresses[first...] }
            references.addresses.removeSubrange(first...)
        }
    }

    /// Whether what an element names is loaded with the page.
    private static func isLoaded(_ element: String, _ attributes: [Attribute]) -> Bool {
        guard element == "link" else {
            return ["script", "img", "source", "video", "audio", "track", "image", "body"].contains(element)
        }
        let relations = attributes.first { $0.name == "rel" }.map { String(decoding: $0.value, as: UTF8.self) } ?? ""
        let loaded: Set<Substring> = [
            "stylesheet", "icon", "apple-touch-icon", "mask-icon", "preload", "modulepreload", "manifest",
        ]
        return !loaded.isDisjoint(with: relations.lowercased().split(whereSeparator: \.isWhitespace))
    }

    private mutating func add(_ attribute: Attribute, to list: WritableKeyPath<References, [Reference]>) {
        guard let start = attribute.value.firstIndex(where: { $0 > 0x20 }) else { return }
        let end = attribute.value.lastIndex { $0 > 0x20 } ?? start
        let text = String(decoding: attribute.value[start...end], as: UTF8.self)
        references[keyPath: list].append(Reference(text: text, offset: attribute.offsets[start]))
    }

    /// The addresses of a list of pictures (HTML §4.8.4.2.2).
    private mutating func addCandidates(_ attribute: Attribute) {
        let value = attribute.value
        var index = 0
        while true {
            while index < value.count, value[index].isHTMLSpace || value[index] == UInt8(ascii: ",") { index += 1 }
            guard index < value.count else { return }
            let start = index
            while index < value.count, !value[index].isHTMLSpace { index += 1 }
            let hasDescriptors = value[index - 1] != UInt8(ascii: ",")
            let address = value[start..<index].reversed().drop { $0 == UInt8(ascii: ",") }
            let text = String(decoding: address.reversed(), as: UTF8.self)
            references.addresses.append(Reference(text: text, offset: attribute.offsets[start]))
            var depth = 0
            while hasDescriptors, index < value.count, depth > 0 || value[index] != UInt8(ascii: ",") {
                if value[index] == UInt8(ascii: "(") { depth += 1 }
                if value[index] == UInt8(ascii: ")") { depth = 0 }
                index += 1
            }
        }
    }

    private mutating func addStylesheet(_ text: [UInt8], _ offsets: [Int]) {
        let found = ReferenceScanner.references(inStylesheet: text).filter { $0.offset < offsets.count }
        references.styles += found.map { Reference(text: $0.text, offset: offsets[$0.offset]) }
        references.resources += found.map(\.text)
    }

    // MARK: - Text

    private mutating func readName(until ends: String) -> String {
        let start = index
        while index < bytes.count, !ends.utf8.contains(bytes[index]) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self).lowercased()
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index].isHTMLSpace { index += 1 }
    }

    private func isNext(_ text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

    /// Past "-->", whose hyphens may be those of the beginning, or "--!>", whose hyphens may not.
    private mutating func skipComment() {
        let start = index + 3
        index += 1
        while index < bytes.count,
            bytes[index] != UInt8(ascii: "-") || !isNext("-->") && (index < start || !isNext("--!>"))
        {
            index += 1
        }
        index = (bytes[index...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.count - 1) + 1
    }

    /// To the "<" of the end tag.
    private mutating func skip(toEndOf element: String) {
        while index < bytes.count, !isTagNext("</" + element) { index += 1 }
    }

    /// To the "<" of the end tag; what is in a comment may have scripts of its own (HTML §13.2.5.20 to §13.2.5.31).
    private mutating func skipScript() {
        var (isComment, isNested) = (false, false)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "<") where isTagNext("</script"):
                if !isNested { return }
                isNested = false
            case UInt8(ascii: "<") where isNext("<!--"): isComment = true
            case UInt8(ascii: "<") where isComment && isTagNext("<script"): isNested = true
            case UInt8(ascii: "-") where isNext("-->"): (isComment, isNested) = (false, false)
            default: break
            }
            index += 1
        }
    }

    /// Whether this tag begins here, in letters of any case, and its name ends there.
    private func isTagNext(_ start: String) -> Bool {
        guard bytes[index] == UInt8(ascii: "<"), index + start.utf8.count < bytes.count,
            zip(bytes[index...], start.utf8).allSatisfy({ $0.asciiLowercased == $1 })
        else { return false }
        return bytes[index + start.utf8.count].isHTMLSpace || "/>".utf8.contains(bytes[index + start.utf8.count])
    }
}

extension UInt8 {
    /// ASCII whitespace (Infra Standard §4.6).
    var isHTMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0C || self == 0x0D }
}
