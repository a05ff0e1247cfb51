/// Elements and their categories (HTML §13.2.4.2 and §13.2.6).
extension OpenElements {
    /// A part of the stack that is searched for an element.
    struct Scope: OptionSet {
        let rawValue: UInt8
        static let normal = Scope(rawValue: 1)
        static let button = Scope(rawValue: 2)
        static let list = Scope(rawValue: 4)
        static let table = Scope(rawValue: 8)
    }

    struct Element {
        enum Namespace { case html, svg, math }

        let name: String
        /// The first eight bytes of the name: most names differ in them, and one integer is fast to compare.
        private let start: UInt64
        let namespace: Namespace
        /// A number that distinguishes elements with the same name.
        var id: Int
        /// True for "special" elements; the search for the element that an end tag closes stops at them.
        let isSpecial: Bool
        /// True for SVG and MathML elements that hold HTML.
        let isHTMLIntegrationPoint: Bool
        /// The scopes that end at this element.
        let ends: Scope

        /// Creates an element; `holdsHTML` is true for an `annotation-xml` whose `encoding` names HTML.
        init(_ name: String, _ namespace: Namespace = .html, holdsHTML: Bool = false, id: Int = 0) {
            (self.name, self.namespace, self.id) = (name, namespace, id)
            start = Self.start(of: name)
            isHTMLIntegrationPoint = holdsHTML || namespace == .svg && Self.pointsOfSVG.contains(name)
            switch namespace {
            case .html:
                isSpecial = Self.special.contains(name)
                ends = Self.scopesEnded(by: name)
            case .svg:
                isSpecial = isHTMLIntegrationPoint
                ends = isSpecial ? [.normal, .button, .list] : []
            case .math:
                isSpecial = Self.textOfMath.contains(name) || name == "annotation-xml"
                ends = isSpecial ? [.normal, .button, .list] : []
            }
        }

        private static func start(of name: String) -> UInt64 { name.utf8.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

        /// Returns a predicate that is true for elements with this name.
        static func named(_ name: String) -> (Element) -> Bool {
            let start = start(of: name)
            return { $0.start == start && $0.name == name }
        }

        var isHTML: Bool { namespace == .html }

        var isTextIntegrationPoint: Bool { namespace == .math && Self.textOfMath.contains(name) }

        /// True if HTML tags inside this element create HTML elements, not SVG or MathML ones.
        var continuesHTML: Bool { isHTML || isTextIntegrationPoint || isHTMLIntegrationPoint }
    }
}

extension OpenElements.Element {
    private static func scopesEnded(by name: String) -> OpenElements.Scope {
        switch name {
        case "html", "table", "template": [.normal, .button, .list, .table]
        case "applet", "caption", "td", "th", "marquee", "object", "select": [.normal, .button, .list]
        case "button": .button
        case "ol", "ul": .list
        default: []
        }
    }

    private static let pointsOfSVG: Set = ["foreignobject", "desc", "title"]
    private static let textOfMath: Set = ["mi", "mo", "mn", "ms", "mtext"]
    private static let special: Set = [
        "address", "applet", "area", "article", "aside", "base", "basefont", "bgsound", "blockquote", "body", "br",
        "button", "caption", "center", "col", "colgroup", "dd", "details", "dir", "div", "dl", "dt", "embed",
        "fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6",
        "head", "header", "hgroup", "hr", "html", "iframe", "img", "input", "keygen", "li", "link", "listing", "main",
        "marquee", "menu", "meta", "nav", "noembed", "noframes", "noscript", "object", "ol", "p", "param", "plaintext",
        "pre", "script", "search", "section", "select", "source", "style", "summary", "table", "tbody", "td",
        "template", "textarea", "tfoot", "th", "thead", "title", "tr", "track", "ul", "wbr", "xmp",
    ]
}
