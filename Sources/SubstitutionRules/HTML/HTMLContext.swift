/// The part of a page's tree construction (HTML §13.2.6) on which the tokenizer depends.
///
/// In HTML, `title`, `style` and similar elements hold text. In SVG and MathML they hold elements. The open elements
/// decide to which of these three languages a tag belongs, and all earlier tags decide which elements are open. No tree
/// is built. A `noscript` holds text, because scripting counts as enabled, as in a web view.
struct HTMLContext {
    /// The tokenizer's state after a start tag.
    enum Content { case markup, text, plaintext }

    /// The insertion mode (§13.2.4.1).
    ///
    /// Modes of the standard that open and close the same elements share a case.
    enum Mode { case head, body, table, caption, columnGroup, tableBody, row, cell, template, frameset }

    /// The kinds of characters in a text.
    struct Characters: OptionSet {
        let rawValue: Int
        static let null = Characters(rawValue: 1)
        static let space = Characters(rawValue: 2)
        static let other = Characters(rawValue: 4)
    }

    var open = OpenElements()
    var mode = Mode.head
    /// The insertion modes of the open templates.
    var templateModes: [Mode] = []
    /// True while a `frameset` would replace the body (the frameset-ok flag).
    var allowsFrameset = true
    /// True in quirks mode, in which a paragraph may hold a table.
    private(set) var isQuirky = true
    private var isInitial = true
    /// The id of the open form; nil if there is none.
    var form: Int?

    /// True while the current node is an element of SVG or MathML.
    var isForeign: Bool { !open.current.isHTML }

    /// The id of the current node, if it is an SVG `style` element.
    var foreignStyle: Int? {
        open.current.namespace == .svg && open.current.name == "style" ? open.current.id : nil
    }

    // MARK: - Tokens

    mutating func doctype(_ words: String) {
        if isInitial { isQuirky = QuirksMode.isSelected(byDoctype: words) }
        isInitial = false
    }

    mutating func text(_ characters: Characters) {
        if characters != .space { isInitial = false }
        guard open.current.continuesHTML else {
            if characters.contains(.other) { allowsFrameset = false }
            return
        }
        switch mode {
        case .head:
            if characters == .space { return }
            enterBody()
            bodyText(characters)
        case .columnGroup:
            guard characters != .space, leaveColumnGroup() else { return }
            text(characters)
        case .table, .tableBody, .row:
            let isInTable = ["table", "tbody", "template", "tfoot", "thead", "tr"].contains(open.current.name)
            if !isInTable || characters.contains(.other) { bodyText(characters) }
        case .frameset: break
        case .body, .caption, .cell, .template: bodyText(characters)
        }
    }

    private mutating func bodyText(_ characters: Characters) {
        if characters != .null { open.reconstructFormatting() }
        if characters.contains(.other) { allowsFrameset = false }
    }

    /// Processes a start tag, and returns the kind of content of its element.
    mutating func start(_ tag: HTMLTag) -> Content {
        isInitial = false
        let node = open.current
        let isInHTML =
            node.isHTML || node.isHTMLIntegrationPoint
            || node.isTextIntegrationPoint && tag.name != "mglyph" && tag.name != "malignmark"
            || node.namespace == .math && node.name == "annotation-xml" && tag.name == "svg"
        guard !open.isFull else { return isInHTML ? Self.content(of: tag.name) : .markup }
        return isInHTML ? startInMode(tag) : startForeign(tag)
    }

    mutating func end(_ tag: HTMLTag) {
        isInitial = false
        if isForeign { endForeign(tag) } else { endInMode(tag) }
    }

    mutating func startInMode(_ tag: HTMLTag) -> Content {
        switch mode {
        case .head: startInHead(tag)
        case .body: startInBody(tag)
        case .table: startInTable(tag)
        case .caption: startInCaption(tag)
        case .columnGroup: startInColumnGroup(tag)
        case .tableBody: startInTableBody(tag)
        case .row: startInRow(tag)
        case .cell: startInCell(tag)
        case .template: startInTemplate(tag)
        case .frameset: tag.name == "noframes" ? .text : .markup
        }
    }

    mutating func endInMode(_ tag: HTMLTag) {
        switch mode {
        case .head:
            if ["body", "html", "br"].contains(tag.name) { enterBody() }
            if tag.name == "br" || tag.name == "template" { endInBody(tag.name) }
        case .body: endInBody(tag.name)
        case .table: endInTable(tag.name)
        case .caption: endInCaption(tag.name)
        case .columnGroup: endInColumnGroup(tag.name)
        case .tableBody: endInTableBody(tag.name)
        case .row: endInRow(tag.name)
        case .cell: endInCell(tag.name)
        case .template:
            if tag.name == "template" { closeTemplate() }
        case .frameset: break
        }
    }

    // MARK: - The head

    mutating func enterBody() {
        open.push("body")
        mode = .body
    }

    private mutating func startInHead(_ tag: HTMLTag) -> Content {
        switch tag.name {
        case "html", "head": return .markup
        case "noscript": return .text
        case "frameset":
            mode = .frameset
            return .markup
        case "body":
            enterBody()
            allowsFrameset = false
            return .markup
        default:
            if let content = startAnywhere(tag) { return content }
            enterBody()
            return startInMode(tag)
        }
    }

    /// Processes a start tag for which most modes use the rules of "in head"; returns nil for any other tag.
    mutating func startAnywhere(_ tag: HTMLTag) -> Content? {
        switch tag.name {
        case "base", "basefont", "bgsound", "link", "meta": return .markup
        case "title", "style", "script", "noframes": return .text
        case "template":
            open.push("template")
            open.pushMarker()
            allowsFrameset = false
            templateModes.append(.template)
            mode = .template
            return .markup
        default: return nil
        }
    }

    /// Returns the kind of content of an HTML element.
    static func content(of name: String) -> Content {
        switch name {
        case "title", "style", "script", "noframes", "textarea", "xmp", "iframe", "noembed", "noscript": .text
        case "plaintext": .plaintext
        default: .markup
        }
    }

    // MARK: - Templates

    private mutating func startInTemplate(_ tag: HTMLTag) -> Content {
        if let content = startAnywhere(tag) { return content }
        switch tag.name {
        case "caption", "colgroup", "tbody", "tfoot", "thead": mode = .table
        case "col": mode = .columnGroup
        case "tr": mode = .tableBody
        case "td", "th": mode = .row
        default: mode = .body
        }
        if !templateModes.isEmpty { templateModes[templateModes.count - 1] = mode }
        return startInMode(tag)
    }

    mutating func closeTemplate() {
        guard open.contains("template") else { return }
        open.generateImpliedEndTags(thoroughly: true)
        open.pop(through: "template")
        open.clearToMarker()
        _ = templateModes.popLast()
        resetMode()
    }

    /// Sets the mode that the open elements imply (§13.2.4.1).
    mutating func resetMode() {
        for element in open.elements.reversed() where element.isHTML {
            switch element.name {
            case "td", "th": mode = .cell
            case "tr": mode = .row
            case "tbody", "thead", "tfoot": mode = .tableBody
            case "caption": mode = .caption
            case "colgroup": mode = .columnGroup
            case "table": mode = .table
            case "template": mode = templateModes.last ?? .template
            case "body": mode = .body
            case "html": mode = .head
            default: continue
            }
            return
        }
    }
}
