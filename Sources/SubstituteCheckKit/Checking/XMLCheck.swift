import Foundation
import LocalSubstitutionCache

// On Linux, XMLParser is in a separate module.
#if canImport(FoundationXML)
import FoundationXML
#endif

/// Parses a text as XML (XML 1.0 §2.1), without loading anything from outside of it.
final class XMLCheck: NSObject, XMLParserDelegate {
    /// The first mistake.
    private var mistake: String?
    private var openElements = 0
    private var root: (name: String, attributes: [String: String])?

    /// Returns the first mistake, with its position; nil if the text has none, or is not parsed.
    ///
    /// If `isSVG` is true, the first element must be `svg` in SVG's namespace (SVG 2 §5.1.4).
    static func problem(in text: Data, isSVG: Bool) -> String? {
        guard isHarmless(text) else { return nil }
        let check = XMLCheck()
        let parser = XMLParser(data: text)
        parser.delegate = check
        parser.shouldResolveExternalEntities = false
        // On Linux, `parse()` returns true after some errors, and does not report an element that is still open at the
        // end.
        let isRead = parser.parse()
        if check.mistake != nil || check.openElements > 0, let root = check.root?.name,
            text.range(of: Data("</\(root)".utf8)) == nil
        {
            return "it ends before \(quoted("</\(root)>")), so it was cut off; download or export it again"
        }
        if let mistake = check.mistake { return mistake }
        if check.openElements > 0 { return "at its end, an element is not closed" }
        guard isRead || parser.parserError == nil else { return "it cannot be read" }
        return isSVG ? check.problemOfSVG : nil
    }

    private static let namespace = "http://www.w3.org/2000/svg"

    /// The reason why well-formed XML is not SVG; nil if it is SVG.
    private var problemOfSVG: String? {
        guard let (name, attributes) = root else { return nil }
        let parts = name.split(separator: ":", maxSplits: 1)
        let declaration = parts.count == 2 ? "xmlns:\(parts[0])" : "xmlns"
        guard parts.last == "svg" else {
            return "its first element is \(quoted("<\(name)>")), not <svg>; export it as SVG"
        }
        if attributes[declaration] == Self.namespace { return nil }
        let attribute = "\(declaration)=\"\(Self.namespace)\""
        return attributes[declaration].map {
            "\(declaration) is \(quoted($0)), which browsers do not recognise; write \(attribute)"
        }
            ?? "<svg> has no xmlns, so browsers do not show it; write <\(name) \(attribute) …>"
    }

    /// True for a text that Foundation's parser can read safely.
    ///
    /// On Linux (Swift 6.3.1), the parser crashes on many of the declarations that a document type can contain. It also
    /// crashes on names that are not UTF-8, and on a processing instruction without data. Such texts are therefore not
    /// parsed. Texts in an encoding that might hide a declaration, name or instruction of this kind are not parsed
    /// either.
    private static func isHarmless(_ text: Data) -> Bool {
        let declarations = ["<!ATTLIST", "<!ENTITY", "<!NOTATION", "<!ELEMENT"]
        // The parser's time for a tag grows with the square of the number of attributes. So a text that may contain a
        // very long tag is not parsed.
        var tag = 0
        for byte in text {
            tag = byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") ? 0 : tag + 1
            if tag > 500_000 { return false }
        }
        guard !text.contains(0), !hasBareInstruction(text),
            !declarations.contains(where: { text.range(of: Data($0.utf8)) != nil })
        else {
            return false
        }
        let head = String(decoding: text.prefix(200), as: UTF8.self).lowercased()
        guard head.hasPrefix("<?xml"), let encoding = head.firstMatch(of: encodingName)?.1,
            encoding != "utf-8"
        else { return String(data: text, encoding: .utf8) != nil }
        return encoding == "us-ascii" || encoding.hasPrefix("iso-8859-") || encoding.hasPrefix("windows-125")
    }

    nonisolated(unsafe) private static let encodingName = /encoding\s*=\s*["']([^"']*)/

    /// True if the text has a processing instruction without data, `<?name?>`.
    private static func hasBareInstruction(_ text: Data) -> Bool {
        var start = text.startIndex
        while let found = text.range(of: Data("<?".utf8), in: start..<text.endIndex) {
            let end = text[found.upperBound...].first { $0 <= 0x20 || $0 == UInt8(ascii: "?") }
            if end == UInt8(ascii: "?") { return true }
            start = found.upperBound
        }
        return false
    }

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        openElements += 1
        if root == nil { root = (element, attributes) }
    }

    func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
        openElements -= 1
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        let code = (error as NSError).code
        guard mistake == nil, !Self.warnings.contains(code) else { return }
        // After it, the parser's time grows with the square of the number of mistakes in one comment.
        parser.abortParsing()
        mistake = "in line \(parser.lineNumber), column \(parser.columnNumber), \(Self.cause(code))"
    }

    /// The codes of libxml2's warnings; Foundation reports these warnings like errors, and this check ignores them.
    ///
    /// 27 and 201 are about names that an external document type may define. 97 is about a version other than 1.0. 99
    /// and 100 are about a namespace name that is not a complete URI.
    private static let warnings: Set<Int> = [27, 97, 99, 100, 201]

    /// Returns the cause of an error in words; `code` is libxml2's error code, which Foundation passes on.
    private static func cause(_ code: Int) -> String {
        switch code {
        case 76: "an element is closed by another one's tag"
        case 5:
            "something follows the root element, but a file has only one; remove it, or move it to its own file"
        case 9: "there is a character that XML does not allow; remove it"
        case 80: "a comment holds \"--\"; write one hyphen"
        case 77, 85: "an element is not closed"
        case 38, 68: "\"&\" must be written &amp;, and \"<\" &lt;"
        case 26: "an entity is unknown; write the character itself"
        case 39, 40, 41: "an attribute has no value in quotation marks"
        case 42: "an attribute appears twice in one tag"
        case 65, 73: "a tag is not well-formed XML"
        default: "it cannot be read"
        }
    }
}
