import Foundation

/// How the query of a request is compared with the query of a manifest's key.
enum QueryRule: Hashable, Sendable {
    /// The queries must be equal.
    case exact
    /// Parameters of these names are left out of both; what remains must be equal.
    case ignoring(ParameterNames)
    /// Any query matches, and so does none.
    case any

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
            let parameters = query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            let remaining = parameters.filter { parameter in
                !names.contains(Substring(parameter.prefix { $0 != UInt8(ascii: "=") }))
            }
            if remaining.count == parameters.count { return query }
            return remaining.isEmpty ? nil : remaining.map { Substring($0) }.joined(separator: "&")
        }
    }

    /// Whether two queries that are the same to `other` are always the same to this.
    func covers(_ other: QueryRule) -> Bool {
        switch (self, other) {
        case (.any, _), (.exact, .exact), (.ignoring, .exact):
            true
        case (.ignoring(let names), .ignoring(let others)):
            names.covers(others)
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
