import LocalSubstitutionCache

/// The names under which people write the fields of an entry.
enum FieldName {
    /// The field that was meant; nil when none is near enough.
    static func meant(by name: String) -> String? {
        synonyms[name.lowercased()] ?? suggestion(for: name, among: ManifestReader.fieldNames)
    }

    /// What they are called elsewhere.
    private static let synonyms = [
        "path": "file", "src": "file", "source": "file", "url": "file", "href": "file", "name": "file",
        "filename": "file", "mime": "type", "mimetype": "type", "contenttype": "type", "content-type": "type",
        "mediatype": "type", "query": "ignoreQuery", "ignoreparameters": "ignoreQuery", "expires": "until",
        "end": "until", "date": "until", "if": "when", "condition": "when", "status": "when",
    ]
}
