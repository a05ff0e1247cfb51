/// The stack of open elements and the list of active formatting elements (HTML §13.2.4.2 and §13.2.4.3).
///
/// The names of the open elements decide how the tokenizer reads on: a `title` holds text in HTML, but elements in SVG.
/// Nothing else depends on the elements, so there is no tree. An element in the stack and its entry in the list have
/// the same id.
struct OpenElements {
    /// An active formatting element.
    private struct Formatting {
        /// The id of the element in the stack; 0 before the element is opened.
        var id: Int
        let name: String
        /// A hash that is equal for tags with the same name and the same attributes, in any order.
        let likeness: Int

        init(id: Int, name: String, likeness: Int) { (self.id, self.name, self.likeness) = (id, name, likeness) }

        init(_ tag: HTMLTag) {
            // Each process seeds its hashes differently, so a page cannot produce a collision on purpose.
            let likeness = tag.attributes.reduce(tag.name.hashValue) { sum, attribute in
                var hasher = Hasher()
                hasher.combine(attribute.name)
                hasher.combine(attribute.value.bytes)
                return sum &+ hasher.finalize()
            }
            self.init(id: 0, name: tag.name, likeness: likeness)
        }
    }

    /// The maximum number of elements in the stack, and of entries in the list.
    ///
    /// This limit bounds the cost of each tag, and WebKit limits the depth of its trees, too. `push` does not check the
    /// limit of the stack; `HTMLContext` checks `isFull` at each start tag.
    static let deepest = 512
    /// The budget for the formatting elements of one page: the number of elements and entries that may be looked at.
    ///
    /// Most pages use only a small part of this budget.
    private static let mostSteps = 1_000_000

    private(set) var elements = [Element("html")]
    /// The active formatting elements; nil is a marker.
    private var formatting: [Formatting?] = []
    private var lastID = 0
    private var steps = 0

    /// The current node; the root is never removed.
    var current: Element { elements[elements.count - 1] }

    /// True if no more elements may be opened: the stack is full, or the page has used up its budget of steps.
    ///
    /// Start tags then open nothing, and end tags no longer close or reopen formatting elements in the list.
    var isFull: Bool { elements.count >= Self.deepest || steps > Self.mostSteps }

    // MARK: - The stack

    @discardableResult
    mutating func push(_ name: String) -> Int { push(Element(name)) }

    @discardableResult
    mutating func push(_ element: Element) -> Int {
        lastID += 1
        elements.append(element)
        elements[elements.count - 1].id = lastID
        return lastID
    }

    mutating func pop() {
        if elements.count > 1 { elements.removeLast() }
    }

    /// Pops elements up to and including the first with one of these names.
    mutating func pop(through names: String...) { popUntil { names.contains($0.name) && $0.isHTML } }

    /// Pops elements up to and including the one with this id.
    mutating func pop(through id: Int) { popUntil { $0.id == id } }

    private mutating func popUntil(_ isLast: (Element) -> Bool) {
        while elements.count > 1 {
            if isLast(elements.removeLast()) { return }
        }
    }

    /// Pops elements until the current node has one of these names, or is the root.
    mutating func pop(to names: Set<String>) {
        while elements.count > 1, !(current.isHTML && names.contains(current.name)) { elements.removeLast() }
    }

    mutating func pop(while condition: (Element) -> Bool) {
        while elements.count > 1, condition(current) { elements.removeLast() }
    }

    mutating func popAll() { elements.removeSubrange(1...) }

    mutating func remove(_ id: Int) { elements.removeAll { $0.id == id } }

    func contains(_ name: String) -> Bool {
        // This is faster than a comparison of whole names.
        let isNamed = Element.named(name)
        return elements.contains { $0.isHTML && isNamed($0) }
    }

    private func index(of id: Int) -> Int? { elements.lastIndex { $0.id == id } }

    // MARK: - Scopes

    /// Returns the name of the innermost element that is in a scope and has one of these names.
    func inScope(_ names: [String], _ scope: Scope = .normal) -> String? {
        index(in: scope) { $0.isHTML && names.contains($0.name) }.map { elements[$0].name }
    }

    func hasInScope(_ name: String, _ scope: Scope = .normal) -> Bool {
        let isNamed = Element.named(name)
        return index(in: scope) { $0.isHTML && isNamed($0) } != nil
    }

    func hasInScope(_ id: Int) -> Bool { index(in: .normal) { $0.id == id } != nil }

    /// Returns the index of the innermost element for which `isMeant` is true; nil if the scope ends before it.
    private func index(in scope: Scope, _ isMeant: (Element) -> Bool) -> Int? {
        elements.lastIndex { isMeant($0) || $0.ends.contains(scope) }.flatMap { isMeant(elements[$0]) ? $0 : nil }
    }

    /// Pops the innermost elements while their end tags may be omitted (§13.2.6.3).
    mutating func generateImpliedEndTags(except name: String? = nil, thoroughly: Bool = false) {
        pop(while: { element in
            element.isHTML && element.name != name
                && (Self.implied.contains(element.name) || thoroughly && Self.impliedInTemplate.contains(element.name))
        })
    }

    private static let implied: Set = ["dd", "dt", "li", "optgroup", "option", "p", "rb", "rp", "rt", "rtc"]
    private static let impliedInTemplate: Set = ["caption", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"]

    // MARK: - Active formatting elements

    /// Adds a marker to the list; searches by name stop at the last marker.
    mutating func pushMarker() { push(nil) }

    /// Removes the last marker and everything after it from the list; without a marker, removes everything.
    ///
    /// These entries belong to the innermost table cell, caption, object or template.
    mutating func clearToMarker() {
        while case .some(.some) = formatting.popLast() {}
    }

    /// Opens a formatting element (§13.2.4.3).
    ///
    /// If the list has three equal elements after the last marker, the first of the three is removed from the list.
    mutating func pushFormatting(_ tag: HTMLTag) {
        let start = formatting.lastIndex { $0 == nil }.map { $0 + 1 } ?? 0
        var entry = Formatting(tag)
        let alike = formatting.indices[start...].filter { formatting[$0]?.likeness == entry.likeness }
        if alike.count >= 3 { formatting.remove(at: alike[0]) }
        entry.id = push(tag.name)
        push(entry)
    }

    /// Adds an entry or a marker to the list; the first entry of a full list is dropped.
    private mutating func push(_ entry: Formatting?) {
        if formatting.count >= Self.deepest { formatting.removeFirst() }
        formatting.append(entry)
    }

    /// Reopens the formatting elements that were closed, but not by an end tag of their own (§13.2.4.3).
    mutating func reconstructFormatting() {
        guard case .some(.some(let last)) = formatting.last, index(of: last.id) == nil, !isFull else { return }
        steps += elements.count + formatting.count
        let open = Set(elements.lazy.map(\.id))
        // Begin after the last entry that is a marker or still open; without such an entry, begin with the first.
        let start = formatting.lastIndex { $0.map { open.contains($0.id) } ?? true }.map { $0 + 1 } ?? 0
        for index in start..<formatting.count {
            guard let entry = formatting[index], !isFull else { return }
            let id = push(entry.name)
            formatting[index]?.id = id
        }
    }

    /// Returns the list index of the last element with this name after the last marker; nil if there is none.
    private func formattingIndex(_ name: String) -> Int? {
        guard let index = formatting.lastIndex(where: { $0.map { $0.name == name } ?? true }) else { return nil }
        return formatting[index] == nil ? nil : index
    }

    /// Closes an open link, at any depth, before another link begins.
    ///
    /// `adopt` may return without closing the link, so the link is then removed from the stack and the list.
    mutating func closeLink() {
        guard let index = formattingIndex("a"), let id = formatting[index]?.id else { return }
        adopt("a")
        formatting.removeAll { $0?.id == id }
        remove(id)
    }

    /// Runs the adoption agency algorithm (§13.2.6.4.7) for the end tag of a formatting element.
    mutating func adopt(_ name: String) {
        if current.isHTML, current.name == name, !formatting.contains(where: { $0?.id == current.id }) { return pop() }
        for _ in 0..<8 {
            guard let entry = formattingIndex(name), let element = formatting[entry] else { return close(name) }
            steps += elements.count + formatting.count
            guard let index = index(of: element.id) else {
                formatting.remove(at: entry)
                return
            }
            guard !isFull, hasInScope(element.id) else { return }
            guard let furthest = elements[index...].firstIndex(where: \.isSpecial) else {
                elements.removeSubrange(index...)
                formatting.remove(at: entry)
                return
            }
            reopen(element, at: index, below: furthest)
        }
    }

    /// Runs the rest of one iteration in `adopt`, after the furthest block has been found.
    ///
    /// Of the elements between `index` and `furthest`, the last three stay open if they are in the list; all others are
    /// closed. Then `element` is reopened below `furthest`. Where the standard creates a clone, the element gets a new
    /// id: a clone has the same name, and there is no tree in which to replace the original.
    private mutating func reopen(_ element: Formatting, at index: Int, below furthest: Int) {
        let block = elements[furthest].id
        // The id of the list entry after which `element` is inserted again; nil if `element` keeps its index.
        var bookmark: Int?
        var count = 0
        for node in (index + 1..<furthest).reversed() {
            count += 1
            let id = elements[node].id
            let entry = formatting.lastIndex { $0?.id == id }
            if count > 3, let entry { formatting.remove(at: entry) }
            guard count <= 3, let entry else {
                elements.remove(at: node)
                continue
            }
            lastID += 1
            elements[node].id = lastID
            formatting[entry]?.id = lastID
            if bookmark == nil { bookmark = lastID }
        }
        guard let entry = formatting.lastIndex(where: { $0?.id == element.id }) else { return }
        lastID += 1
        let renewed = Formatting(id: lastID, name: element.name, likeness: element.likeness)
        if let bookmark, let place = formatting.lastIndex(where: { $0?.id == bookmark }) {
            formatting.insert(renewed, at: place + 1)
            formatting.removeAll { $0?.id == element.id }
        } else {
            formatting[entry] = renewed
        }
        remove(element.id)
        guard let place = self.index(of: block) else { return }
        elements.insert(Element(element.name, id: lastID), at: place + 1)
    }

    /// Processes an end tag that has no rule of its own, "any other end tag" in §13.2.6.4.7.
    mutating func close(_ name: String) {
        let isNamed = Element.named(name)
        let index = elements.lastIndex { $0.isSpecial || $0.isHTML && isNamed($0) } ?? 0
        guard index > 0, elements[index].isHTML, elements[index].name == name else { return }
        let id = elements[index].id
        generateImpliedEndTags(except: name)
        pop(through: id)
    }
}
