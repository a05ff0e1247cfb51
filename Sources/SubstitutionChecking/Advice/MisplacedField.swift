import LocalSubstitutionCache

/// A field that entries do not have.
///
/// The designer meant a comment, another entry or another field.
enum MisplacedField {
    /// Returns what was probably meant by `field`; nil if the field resembles nothing.
    static func diagnosis(
        of field: JSONMember,
        among fields: [JSONMember],
        of key: String
    ) -> Diagnosis<MisplacedFieldKind>? {
        let name = quoted(field.name)
        if let problem = CommentName.problem(of: field.name, field.value) { return Diagnosis(.other, problem) }
        if ManifestReader.isKey(field.name) {
            return Diagnosis(
                .nextEntry,
                "the entry before \(name) is not closed; write \"}\" before the comma in front of it"
            )
        }
        if case .string(let url) = field.value.kind, ManifestReader.isKey(url),
            fields.contains(where: { $0.name == "file" })
        {
            let place = url == key ? "" : ", or write \(quoted(url, limit: 1000)) there"
            return Diagnosis(.other, "the URL belongs before the \"{\"; remove \(name)\(place)")
        }
        if field.name.hasPrefix("/") {
            return Diagnosis(
                .file,
                "\(name) is not a field; write each URL in full, in its own entry outside of these { }"
            )
        }
        return FieldName.meant(by: field.name).map { meant in
            Diagnosis(
                meant == "file" ? .file : .other,
                "\(name) is not a field of an entry; did you mean \"\(meant)\"?"
            )
        }
    }
}
