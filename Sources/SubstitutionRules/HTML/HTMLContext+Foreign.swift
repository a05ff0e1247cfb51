/// Elements of SVG and MathML (HTML §13.2.6.5).
extension HTMLContext {
    mutating func startForeign(_ tag: HTMLTag) -> Content {
        let isFont = tag.name == "font" && ["color", "face", "size"].contains { tag[$0] != nil }
        guard !isFont, !Self.breakouts.contains(tag.name) else {
            open.pop(while: { !$0.continuesHTML })
            return startInMode(tag)
        }
        push(tag, open.current.namespace)
        return .markup
    }

    mutating func push(_ tag: HTMLTag, _ namespace: OpenElements.Element.Namespace) {
        guard !tag.isSelfClosing else { return }
        let holdsHTML =
            namespace == .math && tag.name == "annotation-xml"
            && (tag.has("encoding", "text/html") || tag.has("encoding", "application/xhtml+xml"))
        open.push(OpenElements.Element(tag.name, namespace, holdsHTML: holdsHTML))
    }

    mutating func endForeign(_ tag: HTMLTag) {
        if tag.name == "br" || tag.name == "p" {
            open.pop(while: { !$0.continuesHTML })
            return endInMode(tag)
        }
        let isNamed = OpenElements.Element.named(tag.name)
        let index = open.elements.lastIndex { $0.isHTML || isNamed($0) } ?? 0
        if open.elements[index].isHTML { endInMode(tag) } else { open.pop(through: open.elements[index].id) }
    }

    /// HTML elements whose start tag closes the SVG and MathML elements around it.
    private static let breakouts: Set = [
        "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
        "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
        "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var",
    ]
}
