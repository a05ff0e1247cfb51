import LocalSubstitutionCache

/// Entries in the formats of other tools, such as `{ "url": …, "file": … }` in a list.
enum ForeignEntry {
    /// Returns the entries that were probably meant by `value`, as text in the format of a manifest.
    ///
    /// Nil if `value` holds no entry.
    static func entries(meantBy value: JSONValue) -> String? {
        switch value.kind {
        case .object(let members):
            return entry(meantBy: members)
        case .array(let elements):
            // The list may be a single entry: `[url, file]`.
            if let pair = entry(meantBy: elements.map { JSONMember(name: "", nameOffset: $0.offset, value: $0) }) {
                return pair
            }
            let entries = elements.prefix(3).compactMap { self.entries(meantBy: $0) }
            guard !entries.isEmpty, entries.count == min(3, elements.count) else { return nil }
            return entries.joined(separator: ", ") + (elements.count > 3 ? ", …" : "")
        default:
            return nil
        }
    }

    /// Returns the text of the entry that was probably meant by `members`; nil if there is none.
    ///
    /// One of the members must hold the URL, and another one the file.
    static func entry(meantBy members: [JSONMember]) -> String? {
        guard members.count <= 16 else { return nil }
        var texts: [(name: String, text: String)] = []
        for case (let name, .string(let text)) in members.map({ ($0.name, $0.value.kind) }) {
            texts.append((name, text))
        }
        guard let url = texts.firstIndex(where: { isURL($0.text) }) else { return nil }
        let others = texts.indices.filter { $0 != url && !kept.contains(texts[$0].name) }
        guard
            let file = others.first(where: { names.contains(texts[$0].name.lowercased()) })
                ?? (others.count == 1 ? others.first : nil)
        else { return nil }
        let more = members.filter { kept.contains($0.name) }.map { "\(quoted($0.name)): \(text(of: $0.value))" }
        let answer = quoted(texts[file].text)
        return "\(quoted(texts[url].text, limit: 1000)): "
            + (more.isEmpty ? answer : "{ \((["\"file\": \(answer)"] + more).joined(separator: ", ")) }")
    }

    /// The fields that an entry may have besides its file; they are kept as they are.
    private static let kept = ["type", "headers", "ignoreQuery", "when", "until", "$comment"]
    /// The names that other tools give to the field with the file, in lower case.
    private static let names: Set = [
        "file", "path", "to", "target", "local", "with", "response", "replacement", "body", "bodyfile", "filename",
        "dest", "asset",
    ]

    private static func isURL(_ text: String) -> Bool {
        ["http://", "https://", "//"].contains(where: text.lowercased().hasPrefix) && (try? URLPattern(text)) != nil
    }

    /// Returns `value` as JSON on one line; long lists are cut.
    private static func text(of value: JSONValue) -> String {
        switch value.kind {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let digits): shortened(digits)
        case .string(let text): quoted(text)
        case .array(let elements): "[" + elements.prefix(20).map { text(of: $0) }.joined(separator: ", ") + "]"
        case .object(let members):
            "{ " + members.prefix(20).map { "\(quoted($0.name)): \(text(of: $0.value))" }.joined(separator: ", ") + " }"
        case .unreadable: "…"
        }
    }
}
