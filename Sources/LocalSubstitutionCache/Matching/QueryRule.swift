import Foundation

/// How the query of a request is compared with the query of a manifest's key.
enum QueryRule: Hashable, Sendable {
    /// The queries must be equal.
    case exact
    /// Parameters of these names are left out of both; what remains must be equal.
    case ignoring([ParameterName])
    /// Any query matches, and so does none.
    case any

    /// The name of a query parameter, or the beginning of one.
    struct ParameterName: Hashable, Sendable, CustomStringConvertible {
        /// Normalised as it would be inside a URL.
        let text: String
        /// Whether the manifest wrote a `*` after it.
        let isPrefix: Bool

        /// Reads a name as the manifest writes it: spelled as in a URL, with an optional `*` at its end.
        init(_ written: String) throws(URLProblem) {
            isPrefix = written.hasSuffix("*")
            let name = isPrefix ? String(written.dropLast()) : written
            text = try URLIdentity.normalised(name.composed.utf8)
        }

        /// The name as a manifest writes it.
        var description: String { text + (isPrefix ? "*" : "") }

        func matches(_ name: Substring) -> Bool {
            isPrefix ? name.hasPrefix(text) : name == text
        }
    }

    /// Whether a request with the query `query` is answered by a key with the query `key`.
    func matches(_ query: String?, key: String?) -> Bool {
        remainder(of: query) == remainder(of: key)
    }

    /// What is left of a query to compare; nil when there was none, or no parameter is left.
    func remainder(of query: String?) -> String? {
        switch self {
        case .exact:
            return query
        case .any:
            return nil
        case .ignoring(let names):
            guard let query else { return nil }
            let parameters = query.split(separator: "&", omittingEmptySubsequences: false)
            let remaining = parameters.filter { parameter in
                let name = parameter.prefix { $0 != "=" }
                return !names.contains { $0.matches(name) }
            }
            return remaining.isEmpty ? nil : remaining.joined(separator: "&")
        }
    }

    /// Whether two queries that are the same to `other` are always the same to this.
    func covers(_ other: QueryRule) -> Bool {
        switch (self, other) {
        case (.any, _), (.exact, .exact), (.ignoring, .exact):
            true
        case (.ignoring(let names), .ignoring(let others)):
            others.allSatisfy { other in
                names.contains { $0 == other || $0.isPrefix && other.text.hasPrefix($0.text) }
            }
        default:
            false
        }
    }

    /// Which of two rules answers first: 0 exact, 1 a list, 2 any.
    var rank: Int {
        switch self {
        case .exact: 0
        case .ignoring: 1
        case .any: 2
        }
    }
}
