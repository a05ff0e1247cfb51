import LocalSubstitutionCache

/// The names that designers give to comments; a manifest's comment is called `$comment`.
enum CommentName {
    /// Returns a sentence that says how to write the comment; nil if the name is not a comment's.
    static func problem(of name: String, _ value: JSONValue) -> String? {
        guard let text = comment(in: name) else { return nil }
        let remedy: String
        if case .string(let value) = value.kind {
            let words = [text, value].filter { !$0.isEmpty }.joined(separator: ": ")
            remedy = "write \"$comment\": \(quoted(words, limit: 1000))"
        } else {
            remedy = "call it \"$comment\""
        }
        return "\(quoted(name)) is not the name of a comment; \(remedy)"
    }

    /// Returns such a sentence for a key that could name a server, such as `//comment`, if its file does not exist.
    static func problem(ofMissing file: Located<String>, of entry: ManifestEntry) -> String? {
        let key = entry.key.value
        guard key.hasPrefix("//"), !key.dropFirst(2).contains(where: { "/.:".contains($0) }) else { return nil }
        return problem(of: key, JSONValue(kind: .string(file.value), offset: file.offset))
    }

    /// Returns the text in a comment's name, which may be empty; nil if the name is not a comment's.
    private static func comment(in name: String) -> String? {
        let isMarked = ["//", "#", "/*", "--", ";", "_", "$", "@"].contains(where: name.hasPrefix)
        let text = String(name.drop { "/#*-;_$@! ".contains($0) }.reversed().drop { "/*_: ".contains($0) }.reversed())
        let word = String(text.lowercased().reversed().drop { $0.isNumber || "_- ".contains($0) }.reversed())
        if words.contains(word) { return "" }
        if facts.contains(word) { return text }
        // A sentence after `//` is a comment; a server's name has a dot and no space.
        let isSentence = text.contains(" ") && !text.contains("://") || text.isEmpty || text.allSatisfy(\.isNumber)
        return isMarked && isSentence ? text.allSatisfy(\.isNumber) ? "" : text : nil
    }

    private static let words: Set = [
        "comment", "comments", "note", "notes", "remark", "remarks", "todo", "hint", "description", "info", "readme",
        "doc", "docs", "about", "kommentar", "notiz", "hinweis", "beschreibung", "commentaire", "comentario",
    ]

    /// The names of metadata in other kinds of files.
    private static let facts: Set = [
        "version", "author", "name", "title", "date", "updated", "last updated", "license",
    ]
}
