import LocalSubstitutionCache

/// The names under which people write comments, which a manifest calls `$comment`.
enum CommentName {
    /// The sentence that tells how to write the comment; nil for a name of something else.
    static func problem(of name: String, _ value: JSONValue) -> String? {
        guard let text = comment(in: name) else { return nil }
        let told: String
        if case .string(let value) = value.kind {
            let words = [text, value].filter { !$0.isEmpty }.joined(separator: ": ")
            told = "write \"$comment\": \(quoted(words, limit: 1000))"
        } else {
            told = "call it \"$comment\""
        }
        return "\(quoted(name)) is not how a comment is called; \(told)"
    }

    /// The same of an entry that could be for a server, such as `//comment`, but whose file does not exist.
    static func problem(ofMissing file: Located<String>, of entry: ManifestEntry) -> String? {
        let key = entry.key.value
        guard key.hasPrefix("//"), !key.dropFirst(2).contains(where: { "/.:".contains($0) }) else { return nil }
        return problem(of: key, JSONValue(kind: .string(file.value), offset: file.offset))
    }

    /// The text of a comment that its own name holds, empty when it holds none; nil for a name of something else.
    private static func comment(in name: String) -> String? {
        let isMarked = ["//", "#", "/*", "--", ";", "_", "$", "@"].contains(where: name.hasPrefix)
        let text = String(name.drop { "/#*-;_$@! ".contains($0) }.reversed().drop { "/*_: ".contains($0) }.reversed())
        let word = String(text.lowercased().reversed().drop { $0.isNumber || "_- ".contains($0) }.reversed())
        if words.contains(word) { return "" }
        if facts.contains(word) { return text }
        // `//` and a sentence; a server's name has a dot and no space.
        let isSentence = text.contains(" ") && !text.contains("://") || text.isEmpty || text.allSatisfy(\.isNumber)
        return isMarked && isSentence ? text.allSatisfy(\.isNumber) ? "" : text : nil
    }

    private static let words: Set = [
        "comment", "comments", "note", "notes", "remark", "remarks", "todo", "hint", "description", "info", "readme",
        "doc", "docs", "about", "kommentar", "notiz", "hinweis", "beschreibung", "commentaire", "comentario",
    ]

    /// Names under which other kinds of files describe themselves.
    private static let facts: Set = [
        "version", "author", "name", "title", "date", "updated", "last updated", "license",
    ]
}
