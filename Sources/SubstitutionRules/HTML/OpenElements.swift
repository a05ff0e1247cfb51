/// The stack of open elements and the list of active formatting elements (HTML §13.2.4.2 and §13.2.4.3), without a
/// tree: names are all that a tokenizer's state depends on.
struct OpenElements {
    /// An active formatting element.
    private struct Formatting {
        var id: Int
        let name: String
        /// The same for tags with the same name and attributes, in any order.
        let likeness: Int

        init(id: Int, name: String, likeness: Int) { (self.id, self.name, self.likeness) = (id, name, likeness) }

        init(_ tag: HTMLTag) {
            // Of what pages write, nothing makes two of these equal by intention: they differ in each process.
            let likeness = tag.attributes.reduce(tag.name.hashValue) { sum, attribute in
                var hasher = Hasher()
                hasher.combine(attribute.name)
                hasher.combine(attribute.value.bytes)
                return sum &+ hasher.finalize()
            }
            self.init(id: 0, name: tag.name, likeness: likeness)
        }
    }

    /// The most elements in the stack, and in the list.
    ///
    /// The cost of a tag has this bound. WebKit's trees are no deeper.
    static let deepest = 512
    /// The most steps through stack and list for formatting elements in one page; ordinary pages take few.
    private static let mostSteps = 1_000_000

    private(set) var elements = [Element("html")]
    /// Nil is a marker.
    private var formatting: [Formatting?] = []
    private var lastID = 0
    private var steps = 0

    /// The current node; the root is never removed.
    var current: Element { elements[elements.count - 1] }

    /// True where no more elements are opened: the stack is as deep as it gets, or the page has cost too much.
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

    /// Pops elements up to one of these names, and that, too.
    mutating func pop(through names: String...) { popUntil { names.contains($0.name) && $0.isHTML } }

    mutating func pop(through id: Int) { popUntil { $0.id == id } }

    private mutating func popUntil(_ isLast: (Element) -> Bool) {
        while elements.count > 1 {
            if isLast(elements.removeLast()) { return }
        }
    }

    /// Pops elements until one of these names is the current node, or the root.
    mutating func pop(to names: Set<String>) {
        while elements.count > 1, !(current.isHTML && names.contains(current.name)) { elements.removeLast() }
    }

    mutating func pop(while condition: (Element) -> Bool) {
        while elements.count > 1, condition(current) { elements.removeLast() }
    }

    mutating func popAll() { elements.removeSubrange(1...) }

    mutating func remove(_ id: Int) { elements.removeAll { $0.id == id } }

    func contains(_ name: String) -> Bool {
        let isNamed = Element.named(name)
        return elements.contains { $0.isHTML && isNamed($0) }
    }

    private func index(of id: Int) -> Int? { elements.lastIndex { $0.id == id } }

    // MARK: - Scopes

    /// Returns the name of the innermost of these elements in a scope.
    func inScope(_ names: [String], _ scope: Scope = .normal) -> String? {
        index(in: scope) { $0.isHTML && names.contains($0.name) }.map { elements[$0].name }
    }

    func hasInScope(_ name: String, _ scope: Scope = .normal) -> Bool {
        let isNamed = Element.named(name)
        return index(in: scope) { $0.isHTML && isNamed($0) } != nil
    }

    func hasInScope(_ id: Int) -> Bool { index(in: .normal) { $0.id == id } != nil }

    private func index(in scope: Scope, _ isMeant: (Element) -> Bool) -> Int? {
        elements.lastIndex { isMeant($0) || $0.ends.contains(scope) }.flatMap { isMeant(elements[$0]) ? $0 : nil }
    }

    /// Pops elements whose end tags may be left out (§13.2.6.3).
    mutating func generateImpliedEndTags(except name: String? = nil, thoroughly: Bool = false) {
        pop(while: { element in
            element.isHTML && element.name != name
                && (Self.implied.contains(element.name) || thoroughly && Self.impliedInTemplate.contains(element.name))
        })
    }

    private static let implied: Set = ["dd", "dt", "li", "optgroup", "option", "p", "rb", "rp", "rt", "rtc"]
    private static let impliedInTemplate: Set = ["caption", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"]

    // MARK: - Active formatting elements

    mutating func pushMarker() { push(nil) }

    /// Forgets the elements of the innermost table cell, caption, object or template.
    mutating func clearToMarker() {
        while case .some(.some) = formatting.popLast() {}
    }

    /// Opens a formatting element (§13.2.4.3; of three that are alike the earliest is forgotten).
    mutating func pushFormatting(_ tag: HTMLTag) {
        let start = formatting.lastIndex { $0 == nil }.map { $0 + 1 } ?? 0
        var entry = Formatting(tag)
        let alike = formatting.indices[start...].filter { formatting[$0]?.likeness == entry.likeness }
        if alike.count >= 3 { formatting.remove(at: alike[0]) }
        entry.id = push(tag.name)
        push(entry)
    }

    private mutating func push(_ entry: Formatting?) {
        if formatting.count >= Self.deepest { formatting.removeFirst() }
        formatting.append(entry)
    }

    /// Opens the formatting elements again that another end tag has closed.
    mutating func reconstructFormatting() {
        guard case .some(.some(let last)) = formatting.last, index(of: last.id) == nil, !isFull else { return }
        steps += elements.count + formatting.count
        let open = Set(elements.lazy.map(\.id))
        let start = formatting.lastIndex { $0.map { open.contains($0.id) } ?? true }.map { $0 + 1 } ?? 0
        for index in start..<formatting.count {
            guard let entry = formatting[index], !isFull else { return }
            let id = push(entry.name)
            formatting[index]?.id = id
        }
    }

    /// The index in the list of the last element of this name, after the last marker.
    private func formattingIndex(_ name: String) -> Int? {
        guard let index = formatting.lastIndex(where: { $0.map { $0.name == name } ?? true }) else { return nil }
        return formatting[index] == nil ? nil : index
    }

    /// Closes a link that is open when another begins, wherever it is.
    mutating func closeLink() {
        guard let index = formattingIndex("a"), let id = formatting[index]?.id else { return }
        adopt("a")
        formatting.removeAll { $0?.id == id }
        remove(id)
    }

    /// The adoption agency algorithm (§13.2.6.4.7), for the end tag of a formatting element.
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

    /// One turn of that algorithm: the elements between the two are made anew, and the formatting element below.
    private mutating func reopen(_ element: Formatting, at index: Int, below furthest: Int) {
        let block = elements[furthest].id
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

    /// The end tag of any other element (§13.2.6.4.7).
    mutating func close(_ name: String) {
        let isNamed = Element.named(name)
        let index = elements.lastIndex { $0.isSpecial || $0.isHTML && isNamed($0) } ?? 0
        guard index > 0, elements[index].isHTML, elements[index].name == name else { return }
        let id = elements[index].id
        generateImpliedEndTags(except: name)
        pop(through: id)
    }
}
