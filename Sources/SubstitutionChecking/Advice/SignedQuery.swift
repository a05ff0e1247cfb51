import LocalSubstitutionCache
import SubstitutionRules

/// A query that signs its URL until a time, after which the server refuses the URL.
package enum SignedQuery {
    /// Returns the name of the parameter with the time; nil if the query has none.
    package static func expiry(in query: some StringProtocol) -> String? {
        let names = query.split { "&;".contains($0) }.map { part in
            let name = part.prefix { $0 != "=" }
            return name.percentDecoded ?? String(name)
        }
        let words = Set(names.map { $0.lowercased() })
        return names.first { name in
            let word = name.lowercased()
            let proof = AdviceTable.current.signatures[word]
            return proof.map(words.contains) ?? (word.hasPrefix("x-") && word.hasSuffix("-expires"))
        }
    }

    /// Returns a warning about an entry whose URL is signed; nil for any other entry.
    static func warning(for entry: ManifestEntry) -> String? {
        let key = entry.key.value
        guard !hasUserInformation(key), let mark = key.firstIndex(of: "?"),
            let compared = entry.query.remainder(of: String(key[key.index(after: mark)...])),
            let expiry = expiry(in: compared)
        else { return nil }
        return "\(quoted(key)) is signed, and its signature expires (\(visible(expiry))), so the app asks with another "
            + "one; remove the parameters of the signature, and list their names in \"ignoreQuery\""
    }
}
