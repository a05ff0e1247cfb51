import LocalSubstitutionCache

/// The names that designers write for the fields of an entry.
enum FieldName {
    /// Returns the field that was meant; nil if none is close enough.
    static func meant(by name: String) -> String? {
        synonyms[name.lowercased()] ?? suggestion(for: name, among: ManifestReader.fieldNames)
    }

    /// The names of the fields in other tools, in lower case, with the field that each means.
    private static let synonyms = [
        "path": "file", "src": "file", "source": "file", "url": "file", "href": "file", "name": "file",
        "filename": "file", "mime": "type", "mimetype": "type", "contenttype": "type", "content-type": "type",
        "mediatype": "type", "query": "ignoreQuery", "ignoreparameters": "ignoreQuery", "expires": "until",
        "end": "until", "date": "until", "if": "when", "condition": "when", "status": "when",
    ]
}
