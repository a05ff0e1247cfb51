import LocalSubstitutionCache

/// A member of the manifest whose name is not a URL.
///
/// The designer meant a comment, or wrote an entry in another form.
enum MisplacedMember {
    /// Returns what was probably meant by `member`; nil if only the URL of an entry is wrong.
    static func diagnosis(of member: JSONMember, among members: [JSONMember]) -> Diagnosis<MisplacedMemberKind>? {
        let (name, word) = (quoted(member.name), member.name.lowercased().filter(\.isLetter))
        let text = if case .string(let text) = member.value.kind { text } else { member.value.digits ?? "" }
        if word == "version", let number = Int(text) {
            return Diagnosis(.comment, "\(name) is not the name of the version; write \"$version\": \(number)")
        }
        if let problem = CommentName.problem(of: member.name, member.value) {
            return Diagnosis(.comment, problem)
        }
        if word == "schema", !text.isEmpty {
            return Diagnosis(.comment, "\(name) is not the name of the schema; write \"$schema\": \(quoted(text))")
        }
        let isFewFields = members.count <= 16 && !members.contains { $0.name.contains { "/.".contains($0) } }
        if isFewFields, members.contains(where: { isURL($0.value) }), members.count > 1 {
            return Diagnosis(.fieldOfOnlyEntry, "this is one entry, and its URL comes first; write { \(example) }")
        }
        switch member.value.kind {
        case .string(let value) where isURL(member.value):
            return Diagnosis(.foreignEntry, "the URL comes first, then the file; write \(quoted(value)): \(name)")
        case .object(let fields) where fields.contains { ManifestReader.isKey($0.name) }:
            return Diagnosis(
                .foreignEntry,
                "entries belong directly in the file's outer { }; remove \(name): { and the } that belongs to it"
            )
        case .object(let fields) where fields.contains { isURL($0.value) }:
            return Diagnosis(.foreignEntry, "an entry begins with its URL, not with \(name); write \(example)")
        case .array:
            return Diagnosis(.foreignEntry, "entries are in the file's outer { }, not in a list; write \(example)")
        default:
            return nil
        }
    }

    private static let example = "\"https://example.com/img/logo.png\": \"img/logo.png\""

    private static func isURL(_ value: JSONValue) -> Bool {
        if case .string(let text) = value.kind {
            ManifestReader.isKey(text) && (try? URLPattern(text)) != nil
        } else {
            false
        }
    }
}
