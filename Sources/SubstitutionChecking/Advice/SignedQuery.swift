import LocalSubstitutionCache
import SubstitutionRules

/// A query that signs its URL until a time, after which the server refuses the URL.
package enum SignedQuery {
    /// Returns the parameters of a query, decoded.
    static func parameters(_ query: some StringProtocol) -> [(name: String, value: String)] {
        query.split { "&;".contains($0) }.map { part in
            let name = part.prefix { $0 != "=" }
            let value = part.dropFirst(name.count + 1)
            return (name.percentDecoded ?? String(name), value.percentDecoded ?? String(value))
        }
    }

    /// Returns the name of the parameter with the time; nil if the query has none.
    package static func expiry(in query: some StringProtocol) -> String? {
        let names = parameters(query).map(\.name)
        let words = Set(names.map { $0.lowercased() })
        return names.first { name in
            let word = name.lowercased()
            guard let proof = proofs[word] else { return word.hasPrefix("x-") && word.hasSuffix("-expires") }
            return proof == word || words.contains(proof)
        }
    }

    /// Returns the beginning that all parameters of a signature have, such as `X-Amz-`; nil if they have none.
    static func prefix(of name: String) -> String? {
        name.lowercased().hasPrefix("x-") ? name.lastIndex(of: "-").map { String(name[...$0]) } : nil
    }

    /// The names of times, each with the parameter that must be beside it, or itself.
    private static let proofs = [
        "expires": "signature", "se": "sig", "q-sign-time": "q-signature", "hdnts": "hdnts", "hdnea": "hdnea",
        "__token__": "__token__",
    ]
}
