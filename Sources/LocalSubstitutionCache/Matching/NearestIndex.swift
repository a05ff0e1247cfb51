/// Finds the entry whose URL is nearest to one that no entry answers.
///
/// URLs are brought under one name for all that people mix up (scheme, `www.`, port, case, a slash at the end, query),
/// so one look-up finds every candidate.
struct NearestIndex: Sendable {
    private let order: MatchOrder
    private var candidates: [String: [(index: Int, parts: Parts)]] = [:]

    /// Cost: one pass over all candidates.
    init(_ order: MatchOrder) {
        self.order = order
        for (index, candidate) in order.candidates.enumerated() {
            let parts = Parts(candidate.target.identity)
            // Of the many queries that one URL may have, the first hundred are enough to name one.
            if candidates[parts.folded, default: []].count < 100 {
                candidates[parts.folded, default: []].append((index, parts))
            }
        }
    }

    /// The candidate that differs in the fewest ways, and these.
    func nearest(to identity: URLIdentity) -> (candidate: MatchOrder.Candidate, differences: [URLDifference])? {
        let parts = Parts(identity)
        var best: (candidate: MatchOrder.Candidate, parts: Parts, differences: [URLDifference])?
        for (index, other) in candidates[parts.folded, default: []] {
            let differences = parts.differences(from: other)
            guard differences.count < best?.differences.count ?? .max else { continue }
            best = (order.candidates[index], other, differences)
            if differences.isEmpty { break }
        }
        guard let (candidate, other, differences) = best else { return nil }
        if candidate.rule.matches(parts.query, key: other.query) { return (candidate, differences) }
        let names = Parts.ignorable(in: parts.query, other.query, candidate.rule)
        return (candidate, differences + [.query(ignoring: names)])
    }

    private struct Parts {
        let scheme: Substring
        let host: Substring
        let port: Substring
        let path: Substring
        let query: String?

        init(_ identity: URLIdentity) {
            let base = identity.base
            let schemeEnd = base.firstIndex(of: ":") ?? base.startIndex
            let authorityStart = base.index(schemeEnd, offsetBy: 3, limitedBy: base.endIndex) ?? base.endIndex
            let pathStart = base[authorityStart...].firstIndex(of: "/") ?? base.endIndex
            let authority = base[authorityStart..<pathStart]
            let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
            let hostEnd = authority[bracket...].firstIndex(of: ":") ?? authority.endIndex
            scheme = base[..<schemeEnd]
            host = authority[..<hostEnd]
            port = authority[hostEnd...]
            path = base[pathStart...]
            query = identity.query
        }

        var folded: String { (Self.withoutWWW(host) + Self.withoutSlash(path)).lowercased() }

        /// How the URLs differ, apart from their queries.
        func differences(from other: Parts) -> [URLDifference] {
            var differences: [URLDifference] = []
            if scheme != other.scheme { differences.append(.scheme) }
            if host != other.host { differences.append(.www) }
            // A default port goes with the scheme.
            if port != other.port { differences.append(.port) }
            if Self.withoutSlash(path) != Self.withoutSlash(other.path) { differences.append(.letterCase) }
            if path.hasSuffix("/") != other.path.hasSuffix("/") { differences.append(.trailingSlash) }
            return differences
        }

        private static func withoutWWW(_ host: Substring) -> Substring {
            host.hasPrefix("www.") ? host.dropFirst(4) : host
        }

        private static func withoutSlash(_ path: Substring) -> Substring {
            path.hasSuffix("/") ? path.dropLast() : path
        }

        /// The names of parameters to ignore so that two queries are the same: those that stand in only one of them,
        /// and those that are ignored already.
        ///
        /// Empty when that does not help.
        static func ignorable(in first: String?, _ second: String?, _ rule: QueryRule) -> [String] {
            func parameters(_ query: String?) -> Set<Substring> {
                Set((rule.remainder(of: query) ?? "").split(separator: "&"))
            }
            var names = Set(
                parameters(first).symmetricDifference(parameters(second)).map { parameter in
                    String(parameter.prefix { $0 != "=" })
                }
            )
            if case .ignoring(let known) = rule { names.formUnion(known.sorted.map(\.description)) }
            // Nobody writes a longer list, or reads it.
            guard names.count <= 20, !names.contains("") else { return [] }
            let ignored = ParameterNames(names.compactMap { try? ParameterNames.Name($0) })
            return QueryRule.ignoring(ignored).matches(first, key: second) ? names.sorted() : []
        }
    }
}
