/// The insertion mode "in body" (HTML §13.2.6.4.7).
extension HTMLContext {
    mutating func startInBody(_ tag: HTMLTag) -> Content {
        let name = tag.name
        switch name {
        case "html", "head", "frame", "caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr": break
        case "body": if !open.contains("template") { allowsFrameset = false }
        case "frameset":
            guard allowsFrameset, open.elements.count > 1, open.elements[1].name == "body" else { break }
            open.popAll()
            mode = .frameset
        case "h1", "h2", "h3", "h4", "h5", "h6":
            closeParagraph()
            if open.current.isHTML, Self.headings.contains(open.current.name) { open.pop() }
            open.push(name)
        case "pre", "listing", "plaintext":
            closeParagraph()
            open.push(name)
            if name != "plaintext" { allowsFrameset = false }
        case "form":
            guard form == nil || open.contains("template") else { break }
            closeParagraph()
            let id = open.push(name)
            if !open.contains("template") { form = id }
        case "li": startItem(name, ["li"])
        case "dd", "dt": startItem(name, ["dd", "dt"])
        case "button":
            if open.hasInScope("button") {
                open.generateImpliedEndTags()
                open.pop(through: "button")
            }
            open.reconstructFormatting()
            open.push(name)
            allowsFrameset = false
        case "a":
            open.closeLink()
            open.reconstructFormatting()
            open.pushFormatting(tag)
        case "b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u":
            open.reconstructFormatting()
            open.pushFormatting(tag)
        case "nobr":
            open.reconstructFormatting()
            if open.hasInScope("nobr") {
                open.adopt("nobr")
                open.reconstructFormatting()
            }
            open.pushFormatting(tag)
        case "applet", "marquee", "object":
            open.reconstructFormatting()
            open.push(name)
            open.pushMarker()
            allowsFrameset = false
        case "table":
            if !isQuirky { closeParagraph() }
            open.push(name)
            allowsFrameset = false
            mode = .table
        case "area", "br", "embed", "img", "image", "keygen", "wbr":
            open.reconstructFormatting()
            allowsFrameset = false
        case "input":
            if open.hasInScope("select") { open.pop(through: "select") }
            open.reconstructFormatting()
            if !tag.has("type", "hidden") { allowsFrameset = false }
        case "param", "source", "track": break
        case "hr":
            closeParagraph()
            if open.hasInScope("select") { open.generateImpliedEndTags() }
            allowsFrameset = false
        case "textarea", "iframe": allowsFrameset = false
        case "xmp":
            closeParagraph()
            open.reconstructFormatting()
            allowsFrameset = false
        case "noembed", "noscript": break
        case "select":
            if open.hasInScope("select") {
                open.pop(through: "select")
                break
            }
            open.reconstructFormatting()
            open.push(name)
            allowsFrameset = false
        case "option", "optgroup":
            if open.hasInScope("select") {
                open.generateImpliedEndTags(except: name == "option" ? "optgroup" : nil)
            } else if open.current.isHTML, open.current.name == "option" {
                open.pop()
            }
            open.reconstructFormatting()
            open.push(name)
        case "rb", "rtc", "rp", "rt":
            let holdsText = name == "rb" || name == "rtc"
            if open.hasInScope("ruby") { open.generateImpliedEndTags(except: holdsText ? nil : "rtc") }
            open.push(name)
        case "math", "svg":
            open.reconstructFormatting()
            push(tag, name == "svg" ? .svg : .math)
        case _ where Self.blocks.contains(name):
            closeParagraph()
            open.push(name)
        default:
            if let content = startAnywhere(tag) { return content }
            open.reconstructFormatting()
            open.push(name)
        }
        return Self.content(of: name)
    }

    mutating func endInBody(_ name: String) {
        switch name {
        case "template": closeTemplate()
        case "body", "html": break
        case "form": endForm()
        case "p": closeParagraph()
        case "li": if open.hasInScope("li", .list) { close(name) }
        case "dd", "dt": if open.hasInScope(name) { close(name) }
        case "h1", "h2", "h3", "h4", "h5", "h6":
            guard open.inScope(Self.headings) != nil else { return }
            open.generateImpliedEndTags()
            open.pop(through: "h1", "h2", "h3", "h4", "h5", "h6")
        case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
            open.adopt(name)
        case "applet", "marquee", "object":
            guard open.hasInScope(name) else { return }
            open.generateImpliedEndTags()
            open.pop(through: name)
            open.clearToMarker()
        case "br":
            open.reconstructFormatting()
            allowsFrameset = false
        case _ where Self.blocks.contains(name) || ["button", "select", "pre", "listing"].contains(name):
            guard open.hasInScope(name) else { return }
            open.generateImpliedEndTags()
            open.pop(through: name)
        default: open.close(name)
        }
    }

    /// Closes the paragraph that is open in button scope, if there is one.
    private mutating func closeParagraph() {
        if open.hasInScope("p", .button) { close("p") }
    }

    private mutating func close(_ name: String) {
        open.generateImpliedEndTags(except: name)
        open.pop(through: name)
    }

    private mutating func startItem(_ name: String, _ names: [String]) {
        allowsFrameset = false
        let index = open.elements.lastIndex { element in
            element.isSpecial
                && (names.contains(element.name) || !element.isHTML || !["address", "div", "p"].contains(element.name))
        }
        if let index, open.elements[index].isHTML, names.contains(open.elements[index].name) {
            close(open.elements[index].name)
        }
        closeParagraph()
        open.push(name)
    }

    private mutating func endForm() {
        if open.contains("template") {
            guard open.hasInScope("form") else { return }
            open.generateImpliedEndTags()
            return open.pop(through: "form")
        }
        guard let id = form else { return }
        form = nil
        guard open.hasInScope(id) else { return }
        open.generateImpliedEndTags()
        open.remove(id)
    }

    private static let headings = ["h1", "h2", "h3", "h4", "h5", "h6"]
    /// Elements whose start tags close an open paragraph, and whose end tags share one rule.
    private static let blocks: Set = [
        "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset",
        "figcaption", "figure", "footer", "header", "hgroup", "main", "menu", "nav", "ol", "p", "search", "section",
        "summary", "ul",
    ]
}
