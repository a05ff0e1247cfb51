import Foundation

/// The rule for comparing the query of a request with the query of a manifest's key.
package enum QueryRule: Hashable, Sendable {
    /// The queries must be equal.
    case exact
    /// Parameters with these names are left out of both queries; the remaining parameters must be equal.
    ///
    /// ``ignoring(anyOf:)`` makes the list.
    case ignoring([ParameterName])
    /// Any query matches, and so does a URL without a query.
    case any

    /// The maximum number of names in a list; each parameter of a request's query is compared with each name.
    package static let maximumNames = 100

    /// Returns the rule for a list of names in any order.
    ///
    /// The rules for two lists that mean the same are equal: a name that another name's `*` covers is left out.
    static func ignoring(anyOf names: [ParameterName]) -> QueryRule {
        let names = Set(names)
        return .ignoring(
            names.filter { name in !names.contains { $0 != name && $0.covers(name) } }.sorted { $0.text < $1.text }
        )
    }

    /// Returns whether a key with the query `key` answers a request with the query `query`.
    package func matches(_ query: String?, key: String?) -> Bool {
        remainder(of: query) == remainder(of: key)
    }

    /// Returns the part of a query that is compared; nil if there is no query, or if no parameter is left.
    ///
    /// Cost: linear in the length of the query. For a list, each parameter is compared with each name.
    package func remainder(of query: String?) -> String? {
        switch self {
        case .exact:
            return query
        case .any:
            return nil
        case .ignoring(let names):
            // Empty parameters, as in `?a=1&`, do not count (URL Standard §5.1).
            let remaining = (query?.utf8.split(separator: UInt8(ascii: "&")) ?? []).filter { parameter in
                let name = parameter.prefix { $0 != UInt8(ascii: "=") }
                return !names.contains { $0.covers(name) }
            }
            return remaining.isEmpty ? nil : remaining.map { Substring($0) }.joined(separator: "&")
        }
    }

    /// The rank of the rule in the match order, lowest first: 0 exact, 1 a list, 2 any.
    var rank: Int {
        switch self {
        case .exact: 0
        case .ignoring: 1
        case .any: 2
        }
    }
}

/// The name of a query parameter, or a prefix of such names.
package struct ParameterName: Hashable, Sendable, CustomStringConvertible {
    /// The name as a normalised URL spells it, in ASCII only.
    package let text: String
    /// True if the manifest wrote a `*` after the name.
    package let isPrefix: Bool

    /// Reads a name as the manifest writes it: spelled as in a URL, with an optional `*` at its end.
    init(_ written: String) throws(URLProblem) {
        isPrefix = written.hasSuffix("*")
        let name = isPrefix ? String(written.dropLast()) : written
        text = try URLIdentity.normalised(name.composed.utf8)
    }

    /// The name as a manifest writes it.
    package var description: String { text + (isPrefix ? "*" : "") }

    /// Returns whether parameters of this name are ignored.
    func covers(_ name: Substring.UTF8View) -> Bool {
        isPrefix ? name.starts(with: text.utf8) : name.elementsEqual(text.utf8)
    }

    /// Returns whether every parameter that the other name covers is covered by this name.
    package func covers(_ other: ParameterName) -> Bool {
        isPrefix ? other.text.utf8.starts(with: text.utf8) : self == other
    }
}
