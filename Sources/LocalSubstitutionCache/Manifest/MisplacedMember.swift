/// A member of the manifest that has no URL for its name, because a comment or another form of entries was meant.
struct MisplacedMember {
    enum Kind {
        case comment
        case entry
        /// The manifest is one entry, whose URL and file are fields.
        case fieldOfOnlyEntry
    }

    let kind: Kind
    /// The sentence that tells how to write it.
    let message: String

    private init(_ kind: Kind, _ message: String) {
        (self.kind, self.message) = (kind, message)
    }

    /// Nil for a member of which only the URL is wrong.
    init?(_ member: JSONMember, among members: [JSONMember]) {
        if let problem = CommentName.problem(of: member.name, member.value) {
            self.init(.comment, problem)
            return
        }
        if member.name.lowercased().filter(\.isLetter) == "schema", case .string(let place) = member.value.kind {
            self.init(
                .comment,
                "\(quoted(member.name)) is not how a schema is named; write \"$schema\": \(quoted(place))"
            )
            return
        }
        let isFewFields = members.count <= 16 && !members.contains { $0.name.contains { "/.".contains($0) } }
        if isFewFields, let entry = ForeignEntry.entry(meantBy: members) {
            self.init(.fieldOfOnlyEntry, "the URL comes first, then what answers it; write { \(entry) }")
            return
        }
        let name = quoted(member.name)
        switch member.value.kind {
        case .string(let value) where (try? URLPattern(value)) != nil:
            self.init(.entry, "the URL comes first, then the file; write \(quoted(value)): \(name)")
        case .object(let fields) where fields.first.map({ ManifestReader.isKey($0.name) }) == true:
            self.init(
                .entry,
                "entries stand directly in the file's { }; remove \(name): { and the } that belongs to it"
            )
        case .object, .array:
            guard let entries = ForeignEntry.entries(meantBy: member.value) else { return nil }
            self.init(.entry, "entries stand directly in the file's { }; instead of \(name) write \(entries)")
        default:
            return nil
        }
    }
}
