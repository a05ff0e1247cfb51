import Foundation

// On Linux XMLParser is a module of its own.
#if canImport(FoundationXML)
import FoundationXML
#endif

/// Whether a text is well-formed XML (XML 1.0 §2.1), read without anything from outside it.
final class XMLCheck: NSObject, XMLParserDelegate {
    /// What is wrong first, with its place.
    private var problem: String?
    private var openElements = 0

    /// What is wrong first, with its place; nil when nothing is, and for texts that are not looked into.
    static func problem(in text: Data) -> String? {
        guard isHarmless(text) else { return nil }
        let check = XMLCheck()
        let parser = XMLParser(data: text)
        parser.delegate = check
        parser.shouldResolveExternalEntities = false
        // On Linux the result is true also after some errors, and an element that the text ends in is none.
        let isRead = parser.parse()
        if let problem = check.problem { return problem }
        if check.openElements > 0 { return "at its end, an element is not closed" }
        return isRead || parser.parserError == nil ? nil : "it cannot be read"
    }

    /// Whether Foundation's parser can be trusted with a text.
    ///
    /// On Linux it ends the process at many declarations of a document type, and at names that are not UTF-8 (6.3.1).
    /// So texts with declarations are not read, and neither are those whose encoding might hide them.
    private static func isHarmless(_ text: Data) -> Bool {
        let declarations = ["<!ATTLIST", "<!ENTITY", "<!NOTATION", "<!ELEMENT"]
        // A tag with very many attributes takes time that grows with their square.
        var tag = 0
        for byte in text {
            tag = byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") ? 0 : tag + 1
            if tag > 500_000 { return false }
        }
        guard !text.contains(0), !declarations.contains(where: { text.range(of: Data($0.utf8)) != nil }) else {
            return false
        }
        let head = String(decoding: text.prefix(200), as: UTF8.self).lowercased()
        guard head.hasPrefix("<?xml"), let encoding = head.firstMatch(of: /encoding\s*=\s*["']([^"']*)/)?.1,
            encoding != "utf-8"
        else { return String(data: text, encoding: .utf8) != nil }
        return encoding == "us-ascii" || encoding.hasPrefix("iso-8859-") || encoding.hasPrefix("windows-125")
    }

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        openElements += 1
    }

    func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
        openElements -= 1
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        let code = (error as NSError).code
        guard problem == nil, !Self.warnings.contains(code) else { return }
        problem = "in line \(parser.lineNumber), column \(parser.columnNumber), \(Self.cause(code))"
    }

    /// What libxml2 passes on though it is no error: names that a document type outside the text may define (27, 201),
    /// a version other than 1.0 (97), and the name of a namespace that is no whole URI (99, 100).
    private static let warnings: Set<Int> = [27, 97, 99, 100, 201]

    /// What an error of libxml2 means, by the codes that Foundation passes on.
    private static func cause(_ code: Int) -> String {
        switch code {
        case 76: "an element is closed by another one's tag"
        case 5: "something follows the end"
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
