import LocalSubstitutionCache

/// The names that designers may write instead of the names of an entry's fields.
enum FieldName {
    /// Returns the name of the field that was meant by `name`; nil if none is similar.
    static func meant(by name: String) -> String? {
        synonyms[name.lowercased()] ?? suggestion(for: name, among: ManifestReader.fieldNames)
    }

    /// The names of similar fields in other tools, in lower case, each with the matching field of an entry.
    private static let synonyms = [
        "path": "file", "src": "file", "source": "file", "url": "file", "href": "file", "name": "file",
        "filename": "file", "mime": "type", "mimetype": "type", "contenttype": "type", "content-type": "type",
        "mediatype": "type", "query": "ignoreQuery", "ignoreparameters": "ignoreQuery", "expires": "until",
        "end": "until", "date": "until", "if": "when", "condition": "when", "status": "when",
    ]
}

extension ManifestReader {
    /// True for a name that can only be the URL of an entry.
    static func isKey(_ name: String) -> Bool {
        ["http://", "https://", "//"].contains { name.lowercased().hasPrefix($0) }
    }
}
