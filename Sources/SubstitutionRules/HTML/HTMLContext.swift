/// The part of tree construction (HTML §13.2.6) on which the tokenizer depends.
///
/// In HTML, `title`, `style` and similar elements hold text; in SVG and MathML they hold elements. The context tracks
/// where SVG and MathML begin and end, and templates, but no other element. If a page closes its elements in order,
/// browsers see the same boundaries. If not, browsers may see others. A `noscript` holds text, because scripting counts
/// as enabled, as in a web view.
struct HTMLContext {
    /// The tokenizer's state after a start tag.
    enum Content { case markup, text, plaintext }

    /// The tracked elements; all but `svg`, `math` and `template` are elements of SVG and MathML that hold HTML.
    private enum Element: String {
        case svg, math, template, foreignobject, desc, title, mi, mo, mn, ms, mtext, annotation = "annotation-xml"
    }

    private var open: [Element] = []
    /// The maximum number of elements in `open`, which bounds the cost of a tag; deeper elements are not tracked.
    private static let deepest = 512

    var isInSVG: Bool { open.last == .svg }
    /// True while tags are elements of SVG or MathML.
    var isForeign: Bool { isInSVG || open.last == .math }
    var isInTemplate: Bool { open.contains(.template) }
    /// True if `<![CDATA[` begins a section of text: in SVG and MathML, and in the HTML in them.
    var allowsCharacterData: Bool { open.last.map { $0 != .template } ?? false }

    /// Processes a start tag, and returns the kind of content of its element.
    mutating func start(_ tag: HTMLTag) -> Content {
        closeForeign(at: tag.name)
        let content = isForeign ? .markup : Self.content(of: tag.name)
        if let element = Element(rawValue: tag.name), holdsAnotherLanguage(element, tag), open.count < Self.deepest {
            open.append(element)
        }
        return content
    }

    /// Returns true if the tags inside an element are of another language than the element's siblings.
    private func holdsAnotherLanguage(_ element: Element, _ tag: HTMLTag) -> Bool {
        switch element {
        case .template: !isForeign
        case _ where tag.isSelfClosing: false
        case .svg, .math: true
        case .foreignobject, .desc, .title: isInSVG
        case .mi, .mo, .mn, .ms, .mtext: open.last == .math
        case .annotation:
            open.last == .math && (tag.has("encoding", "text/html") || tag.has("encoding", "application/xhtml+xml"))
        }
    }

    mutating func end(_ name: String) {
        closeForeign(at: name)
        guard let element = Element(rawValue: name),
            let index = open.lastIndex(where: { $0 == element || $0 == .template }), open[index] == element
        else { return }
        open.removeSubrange(index...)
    }

    /// Leaves SVG and MathML at the tag of an HTML element that they cannot contain (§13.2.6.5).
    ///
    /// In the standard, most end tags do so only if their element is open.
    private mutating func closeForeign(at name: String) {
        guard isForeign, Self.breakouts.contains(name) else { return }
        while isForeign { open.removeLast() }
    }

    /// Returns the kind of content of an HTML element.
    private static func content(of name: String) -> Content {
        switch name {
        case "title", "style", "script", "noframes", "textarea", "xmp", "iframe", "noembed", "noscript": .text
        case "plaintext": .plaintext
        default: .markup
        }
    }

    /// HTML elements whose start tag closes the SVG and MathML elements around it.
    private static let breakouts: Set = [
        "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
        "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
        "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var",
    ]
}
