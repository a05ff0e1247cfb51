import LocalSubstitutionCache

/// The names that designers give to comments, although only `$comment` is the name of a comment in a manifest.
enum CommentName {
    /// Returns a sentence that says how to write the comment; nil if `name` does not look like the name of a comment.
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

    /// Returns a sentence that says how to write the comment that an entry was meant to be.
    ///
    /// Nil if the entry's key does not look like the name of a comment. A key such as `//comment` could be the URL of a
    /// server, too. So this function is only for an entry whose file does not exist.
    static func problem(ofMissing file: Located<String>, of entry: ManifestEntry) -> String? {
        let key = entry.key.value
        guard key.hasPrefix("//"), !key.dropFirst(2).contains(where: { "/.:".contains($0) }) else { return nil }
        return problem(of: key, JSONValue(kind: .string(file.value), offset: file.offset))
    }

    /// Returns the text that a comment's name contains; nil if `name` does not look like the name of a comment.
    ///
    /// The text is empty for a name such as `comment` or `//`.
    private static func comment(in name: String) -> String? {
        let isMarked = ["//", "#", "/*", "--", ";", "_", "$", "@"].contains(where: name.hasPrefix)
        let text = String(name.drop { "/#*-;_$@! ".contains($0) }.reversed().drop { "/*_: ".contains($0) }.reversed())
        let word = String(text.lowercased().reversed().drop { $0.isNumber || "_- ".contains($0) }.reversed())
        if words.contains(word) { return "" }
        if facts.contains(word) { return text }
        // Words with spaces after `//` are a comment, because the name of a server has a dot and no space.
        let isSentence = text.contains(" ") && !text.contains("://") || text.isEmpty || text.allSatisfy(\.isNumber)
        return isMarked && isSentence ? text.allSatisfy(\.isNumber) ? "" : text : nil
    }

    private static let words: Set = [
        "comment", "comments", "note", "notes", "todo", "description", "info", "readme", "kommentar", "notiz",
    ]

    /// The names of metadata that other kinds of files hold.
    private static let facts: Set = ["version", "author", "name", "title", "date", "updated", "license"]
}
