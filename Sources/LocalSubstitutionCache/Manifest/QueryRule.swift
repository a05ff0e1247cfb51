import Foundation

/// The rule for comparing the query of a request with the query of a manifest's key.
package enum QueryRule: Hashable, Sendable {
    /// The queries must be equal.
    case exact
    /// Parameters with these names are left out of both queries; the remaining parameters must be equal.
    case ignoring(ParameterNames)
    /// Any query matches, and so does a URL without a query.
    case any

    /// Returns whether a key with the query `key` answers a request with the query `query`.
    package func matches(_ query: String?, key: String?) -> Bool {
        remainder(of: query) == remainder(of: key)
    }

    /// Returns the part of a query that is compared; nil if there is no query, or if no parameter is left.
    package func remainder(of query: String?) -> String? {
        switch self {
        case .exact:
            return query
        case .any:
            return nil
        case .ignoring(let names):
            guard let query else { return nil }
            return Self.remainder(of: query, without: names)
        }
    }

    /// Returns the parameters of `query` whose names are not ignored; nil if none is left.
    ///
    /// Cost: one pass over the bytes, and a search for each parameter.
    private static func remainder(of query: String, without names: ParameterNames) -> String? {
        var query = query
        let remaining: [UInt8]? = query.withUTF8 { bytes in
            var remaining: [UInt8] = []
            var isFirst = true
            var start = 0
            while start <= bytes.count {
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
                let nameEnd = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) ?? end
                if !names.contains(UnsafeBufferPointer(rebasing: bytes[start..<nameEnd])) {
                    if !isFirst { remaining.append(UInt8(ascii: "&")) }
                    remaining.append(contentsOf: bytes[start..<end])
                    isFirst = false
                }
                start = end + 1
            }
            return isFirst ? nil : remaining
        }
        return remaining.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns whether all queries that are equal under `other` are also equal under this rule.
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

    /// The rank of the rule in the match order, lowest first: 0 exact, 1 a list, 2 any.
    var rank: Int {
        switch self {
        case .exact: 0
        case .ignoring: 1
        case .any: 2
        }
    }
}
