import LocalSubstitutionCache

/// Stars and braces with which a designer meant several URLs or files; a manifest has no wildcards.
enum Wildcard {
    /// Returns a warning about the wildcard in an entry's URL; nil if the URL has no wildcard.
    ///
    /// The warning says what was probably meant.
    static func warning(for entry: ManifestEntry) -> String? {
        let key = entry.key.value
        guard let wildcard = key.first(where: { "*{".contains($0) }), let file = entry.file?.value else { return nil }
        let remedy: String
        if wildcard == "{" {
            remedy = "write an entry for each URL"
        } else if let query = key.firstIndex(of: "?"), key[query...].contains(wildcard) {
            remedy = "write \(quoted(String(key[..<query]))): { \"file\": \(quoted(file)), \"ignoreQuery\": true }"
        } else {
            remedy = folderAdvice(key: key, file: file) ?? "write an entry for each URL"
        }
        return "\"\(wildcard)\" is not a wildcard here and stands only for itself; \(remedy)"
    }

    /// Returns the message about a missing file with a wildcard in its name; nil if the name has no wildcard.
    static func problem(with file: String, of entry: ManifestEntry) -> String? {
        guard file.contains("*") else { return nil }
        let key = entry.key.value
        let advice = key.contains("*") ? folderAdvice(key: key, file: file) : nil
        return "\"*\" is not a wildcard; \(advice ?? "name one file, such as \"img/logo.png\"")"
    }

    /// Returns the message about a key that is a regular expression, with the remedy; nil for any other key.
    static func problem(ofPattern pattern: String, _ value: JSONValue) -> String? {
        guard pattern.hasPrefix("^") else { return nil }
        let key = pattern.filter { $0 != "^" && $0 != "\\" }
        var advice: String?
        if case .string(let file) = value.kind { advice = folderAdvice(key: key, file: file) }
        return "\(quoted(pattern)) is a regular expression, and a key is one URL; "
            + (advice ?? "write an entry for each URL")
    }

    /// Returns the advice to map the URL's folder to the file's folder.
    ///
    /// Nil if the URL has no folder before the wildcard.
    private static func folderAdvice(key: String, file: String) -> String? {
        guard let slash = key.prefix(while: { $0 != "*" }).lastIndex(of: "/"), key[..<slash].contains("//") else {
            return nil
        }
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "./"
        return "for all files of a folder write \(quoted(String(key[...slash]))): \(quoted(folder))"
    }
}
