import LocalSubstitutionCache

/// A member of the manifest whose name is not a URL.
///
/// The designer meant a comment, or wrote an entry in another form.
enum MisplacedMember {
    /// Returns what was probably meant by `member`; nil if only the URL of an entry is wrong.
    static func diagnosis(of member: JSONMember, among members: [JSONMember]) -> Diagnosis<MisplacedMemberKind>? {
        let text = if case .string(let text) = member.value.kind { text } else { member.value.digits ?? "" }
        if member.name.lowercased().filter(\.isLetter) == "version", let number = Int(text) {
            let cause = "is not the name of the version"
            return Diagnosis(.comment, "\(quoted(member.name)) \(cause); write \"$version\": \(number)")
        }
        if let problem = CommentName.problem(of: member.name, member.value) {
            return Diagnosis(.comment, problem)
        }
        if member.name.lowercased().filter(\.isLetter) == "schema", case .string(let place) = member.value.kind {
            return Diagnosis(
                .comment,
                "\(quoted(member.name)) is not the name of the schema; write \"$schema\": \(quoted(place))"
            )
        }
        let isFewFields = members.count <= 16 && !members.contains { $0.name.contains { "/.".contains($0) } }
        if isFewFields, let entry = ForeignEntry.entry(meantBy: members) {
            return Diagnosis(
                .fieldOfOnlyEntry,
                "the URL comes first, then the file; write { \(entry) }"
            )
        }
        let name = quoted(member.name)
        switch member.value.kind {
        case .string(let value) where (try? URLPattern(value)) != nil:
            return Diagnosis(.foreignEntry, "the URL comes first, then the file; write \(quoted(value)): \(name)")
        case .object(let fields) where fields.first.map({ ManifestReader.isKey($0.name) }) == true:
            return Diagnosis(
                .foreignEntry,
                "entries belong directly in the file's outer { }; remove \(name): { and the } that belongs to it"
            )
        case .object, .array:
            guard let entries = ForeignEntry.entries(meantBy: member.value) else { return nil }
            return Diagnosis(
                .foreignEntry,
                "entries belong directly in the file's outer { }; instead of \(name) write \(entries)"
            )
        default:
            return nil
        }
    }
}
