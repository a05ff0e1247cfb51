import Foundation
import LocalSubstitutionCache

// On Linux XMLParser is a module of its own.
#if canImport(FoundationXML)
import FoundationXML
#endif

/// Reads a text as XML (XML 1.0 §2.1), with nothing from outside it.
final class XMLCheck: NSObject, XMLParserDelegate {
    /// The first mistake.
    private var mistake: String?
    private var openElements = 0
    private var root: (name: String, attributes: [String: String])?

    /// The first mistake, with its place; nil for a text without, and for one that is not looked into.
    ///
    /// A picture is no SVG when its first element is not `svg` of SVG's namespace (SVG 2 §5.1.4).
    static func problem(in text: Data, isSVG: Bool) -> String? {
        guard isHarmless(text) else { return nil }
        let check = XMLCheck()
        let parser = XMLParser(data: text)
        parser.delegate = check
        parser.shouldResolveExternalEntities = false
        // On Linux the result is true also after some errors, and an element that the text ends in is none.
        let isRead = parser.parse()
        if check.mistake != nil || check.openElements > 0, let root = check.root?.name,
            text.range(of: Data("</\(root)".utf8)) == nil
        {
            return "it ends before \(quoted("</\(root)>")), so it was cut off; export it again, or load it again"
        }
        if let mistake = check.mistake { return mistake }
        if check.openElements > 0 { return "at its end, an element is not closed" }
        guard isRead || parser.parserError == nil else { return "it cannot be read" }
        return isSVG ? check.problemOfSVG : nil
    }

    private static let namespace = "http://www.w3.org/2000/svg"

    /// The reason for which well-formed XML is no SVG.
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
            "\(declaration) is \(quoted($0)), by which browsers do not know it; write \(attribute)"
        }
            ?? "browsers show no picture whose <svg> has no xmlns; write <\(name) \(attribute) …>"
    }

    /// True for a text with which Foundation's parser can be trusted.
    ///
    /// On Linux it crashes at many declarations of a document type, at names that are not UTF-8, and at a processing
    /// instruction without data (6.3.1). So texts with these are not read, and neither are those whose encoding might
    /// hide them.
    private static func isHarmless(_ text: Data) -> Bool {
        let declarations = ["<!ATTLIST", "<!ENTITY", "<!NOTATION", "<!ELEMENT"]
        // A tag with very many attributes takes time that grows with their square.
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

    /// True for a text with `<?name?>`.
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
        mistake = "in line \(parser.lineNumber), column \(parser.columnNumber), \(Self.cause(code))"
    }

    /// Codes that libxml2 passes on though they are no errors: names that a document type outside the text may define
    /// (27, 201), a version other than 1.0 (97), and the name of a namespace that is no whole URI (99, 100).
    private static let warnings: Set<Int> = [27, 97, 99, 100, 201]

    /// The cause of an error of libxml2, by the code that Foundation passes on.
    private static func cause(_ code: Int) -> String {
        switch code {
        case 76: "an element is closed by another one's tag"
        case 5:
            "something follows the end of the first element, and a file has one; remove it, or give it a file of its own"
        case 9: "a character is here that XML does not know; remove it"
        case 80: "a comment holds \"--\"; write one hyphen"
        case 77, 85: "an element is not closed"
        case 38, 68: "\"&\" must be written &amp;, and \"<\" &lt;"
        case 26: "an entity is not known; write the character itself"
        case 39, 40, 41: "an attribute has no value in quotation marks"
        case 42: "an attribute stands twice in one tag"
        case 65, 73: "a tag is not written as XML has it"
        default: "it cannot be read"
        }
    }
}
