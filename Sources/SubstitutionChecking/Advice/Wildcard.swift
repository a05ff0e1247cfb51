import LocalSubstitutionCache

/// Stars and braces with which a designer meant several URLs or files; a manifest has no wildcards.
enum Wildcard {
    /// Returns a warning about the wildcard in an entry's URL; nil if the URL has no wildcard.
    static func warning(for entry: ManifestEntry) -> String? {
        let key = entry.key.value
        let base = key.prefix { $0 != "?" }
        // What the entry ignores is compared with nothing.
        let compared = base + (entry.query.remainder(of: String(key.dropFirst(base.count + 1))) ?? "")
        guard let wildcard = compared.first(where: { "*{".contains($0) }), let file = entry.file?.value else {
            return nil
        }
        return "\"\(wildcard)\" is not a wildcard here and stands only for itself; \(remedy(key, file))"
    }

    /// Returns the message about a missing file with a wildcard in its name; nil if the name has no wildcard.
    static func problem(with file: String, of entry: ManifestEntry) -> String? {
        file.contains("*") ? "\"*\" is not a wildcard; \(remedy(entry.key.value, file))" : nil
    }

    private static func remedy(_ key: String, _ file: String) -> String {
        if key.prefix(while: { $0 != "*" }).contains("?") { return "write \"ignoreQuery\": true into the entry" }
        guard key.contains("*"), let slash = key.prefix(while: { $0 != "*" }).lastIndex(of: "/"),
            key[..<slash].contains("//")
        else { return "write an entry for each URL" }
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "./"
        return "for all files of a folder write \(quoted(String(key[...slash]))): \(quoted(folder))"
    }
}
