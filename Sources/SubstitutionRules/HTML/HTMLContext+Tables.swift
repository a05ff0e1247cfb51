/// The insertion modes in tables (HTML §13.2.6.4.9 to §13.2.6.4.15).
///
/// The standard moves misplaced elements in front of the table in the tree. The stack of open elements does not depend
/// on this move.
extension HTMLContext {
    private static let groups = ["tbody", "tfoot", "thead"]
    private static let cells = ["td", "th"]
    private static let parts: Set = [
        "caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr",
    ]

    // MARK: - The table

    mutating func startInTable(_ tag: HTMLTag) -> Content {
        switch tag.name {
        case "caption":
            open.pop(to: ["table", "template"])
            open.pushMarker()
            open.push(tag.name)
            mode = .caption
        case "colgroup", "col":
            open.pop(to: ["table", "template"])
            open.push("colgroup")
            mode = .columnGroup
        case "tbody", "tfoot", "thead":
            open.pop(to: ["table", "template"])
            open.push(tag.name)
            mode = .tableBody
        case "td", "th", "tr":
            open.pop(to: ["table", "template"])
            open.push("tbody")
            mode = .tableBody
            return startInMode(tag)
        case "table":
            guard open.hasInScope("table", .table) else { return .markup }
            open.pop(through: "table")
            resetMode()
            return startInMode(tag)
        case "style", "script", "template": return startAnywhere(tag) ?? .markup
        case "input" where tag.has("type", "hidden"): break
        case "form":
            guard form == nil, !open.contains("template") else { break }
            form = open.push("form")
            open.pop()
        default: return startInBody(tag)
        }
        return .markup
    }

    mutating func endInTable(_ name: String) {
        switch name {
        case "table":
            guard open.hasInScope("table", .table) else { return }
            open.pop(through: "table")
            resetMode()
        case "body", "html": break
        case _ where Self.parts.contains(name): break
        default: endInBody(name)
        }
    }

    // MARK: - Captions and columns

    mutating func startInCaption(_ tag: HTMLTag) -> Content {
        guard Self.parts.contains(tag.name) else { return startInBody(tag) }
        return leaveCaption() ? startInMode(tag) : .markup
    }

    mutating func endInCaption(_ name: String) {
        switch name {
        case "caption": leaveCaption()
        case "table": if leaveCaption() { endInTable(name) }
        case "body", "html": break
        case _ where Self.parts.contains(name): break
        default: endInBody(name)
        }
    }

    @discardableResult
    private mutating func leaveCaption() -> Bool {
        guard open.hasInScope("caption", .table) else { return false }
        open.generateImpliedEndTags()
        open.pop(through: "caption")
        open.clearToMarker()
        mode = .table
        return true
    }

    mutating func startInColumnGroup(_ tag: HTMLTag) -> Content {
        switch tag.name {
        case "html", "col": return .markup
        case "template": return startAnywhere(tag) ?? .markup
        default: return leaveColumnGroup() ? startInMode(tag) : .markup
        }
    }

    mutating func endInColumnGroup(_ name: String) {
        switch name {
        case "col": break
        case "template": closeTemplate()
        case "colgroup": leaveColumnGroup()
        default: if leaveColumnGroup() { endInTable(name) }
        }
    }

    @discardableResult
    mutating func leaveColumnGroup() -> Bool {
        guard open.current.name == "colgroup" else { return false }
        open.pop()
        mode = .table
        return true
    }

    // MARK: - Groups of rows

    mutating func startInTableBody(_ tag: HTMLTag) -> Content {
        switch tag.name {
        case "tr", "td", "th":
            open.pop(to: ["tbody", "tfoot", "thead", "template"])
            open.push("tr")
            mode = .row
            return tag.name == "tr" ? .markup : startInMode(tag)
        case "caption", "col", "colgroup", "tbody", "tfoot", "thead":
            return leaveTableBody() ? startInMode(tag) : .markup
        default: return startInTable(tag)
        }
    }

    mutating func endInTableBody(_ name: String) {
        switch name {
        case "tbody", "tfoot", "thead": if open.hasInScope(name, .table) { leaveTableBody() }
        case "table": if leaveTableBody() { endInTable(name) }
        case "td", "th", "tr": break
        default: endInTable(name)
        }
    }

    @discardableResult
    private mutating func leaveTableBody() -> Bool {
        guard open.inScope(Self.groups, .table) != nil else { return false }
        open.pop(to: ["tbody", "tfoot", "thead", "template"])
        open.pop()
        mode = .table
        return true
    }

    // MARK: - Rows and cells

    mutating func startInRow(_ tag: HTMLTag) -> Content {
        switch tag.name {
        case "td", "th":
            open.pop(to: ["tr", "template"])
            open.push(tag.name)
            open.pushMarker()
            mode = .cell
            return .markup
        case "caption", "col", "colgroup", "tbody", "tfoot", "thead", "tr":
            return leaveRow() ? startInMode(tag) : .markup
        default: return startInTable(tag)
        }
    }

    mutating func endInRow(_ name: String) {
        switch name {
        case "tr": leaveRow()
        case "table": if leaveRow() { endInTableBody(name) }
        case "tbody", "tfoot", "thead": if open.hasInScope(name, .table), leaveRow() { endInTableBody(name) }
        case "td", "th": break
        default: endInTable(name)
        }
    }

    @discardableResult
    private mutating func leaveRow() -> Bool {
        guard open.hasInScope("tr", .table) else { return false }
        open.pop(to: ["tr", "template"])
        open.pop()
        mode = .tableBody
        return true
    }

    mutating func startInCell(_ tag: HTMLTag) -> Content {
        guard Self.parts.contains(tag.name) else { return startInBody(tag) }
        return leaveCell() ? startInMode(tag) : .markup
    }

    mutating func endInCell(_ name: String) {
        switch name {
        case "td", "th": if open.hasInScope(name, .table) { leaveCell(name) }
        case "table", "tbody", "tfoot", "thead", "tr":
            if open.hasInScope(name, .table), leaveCell() { endInRow(name) }
        case "body", "html", "caption", "col", "colgroup": break
        default: endInBody(name)
        }
    }

    @discardableResult
    private mutating func leaveCell(_ name: String? = nil) -> Bool {
        guard let name = name ?? open.inScope(Self.cells, .table) else { return false }
        open.generateImpliedEndTags()
        open.pop(through: name)
        open.clearToMarker()
        mode = .row
        return true
    }
}
