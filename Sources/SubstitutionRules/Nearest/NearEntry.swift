package import LocalSubstitutionCache

/// An entry whose URL is similar to a URL that no entry matches.
package struct NearEntry: Sendable {
    /// One way in which the URL differs from the URL of the entry.
    package enum Difference: Hashable, Sendable {
        /// One scheme is http, and the other is https.
        case scheme
        /// One host begins with `www.` and the other does not.
        case www
        /// The ports differ.
        case port
        /// The hosts differ in a typo.
        case host
        /// The last path segments differ in a typo.
        case fileName
        /// A character of the path is percent-encoded in one URL and literal in the other.
        case percentEncoding
        /// Letters of the path differ in case.
        case letterCase
        /// One path ends in `/` and the other does not.
        case trailingSlash
        /// The queries differ, but they match if the parameters with these names are ignored; `*` means all.
        ///
        /// The list is empty if a query was forgotten, or its parameters have another order. Ignoring parameters might
        /// then let a wrong file answer.
        case query(ignoring: [String])

        fileprivate var words: String {
            switch self {
            case .scheme: "the scheme"
            case .www: "\"www.\""
            case .port: "the port"
            case .host: "the host"
            case .fileName: "the name of the file"
            case .percentEncoding: "a character that is percent-encoded in one of the two"
            case .letterCase: "upper and lower case of the path"
            case .trailingSlash: "the \"/\" at the end"
            case .query: "the query"
            }
        }
    }

    /// The entry, or one file of a folder entry.
    package let substitution: Substitution
    /// The ways in which the URL differs from the entry's URL.
    package let differences: [Difference]

    /// The differences in words.
    package var words: String { differences.map(\.words).joined(separator: " and in ") }

    /// The change that lets the entry answer the URL, as an order; nil if a wrong file might answer then.
    package var remedy: String? {
        let entry = substitution.entry
        guard differences.count == 1 else { return nil }
        switch differences[0] {
        case .scheme:
            let key = entry.key.value
            return key.firstIndex(of: "/").map { "write its URL as \(quoted(String(key[$0...]), limit: .max))" }
        case .query(ignoring: let names) where !names.isEmpty:
            let list = "[\(names.map { quoted($0) }.joined(separator: ", "))]"
            let rule = "\"ignoreQuery\": \(names == ["*"] ? "true" : list)"
            return entry.isPlain
                ? "write { \"file\": \(quoted(entry.file?.value ?? "", limit: .max)), \(rule) }"
                : "write \(rule) in its entry"
        default: return nil
        }
    }
}
