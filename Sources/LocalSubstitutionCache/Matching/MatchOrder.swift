/// Every URL that a list of substitutions stands for, in the order in which they answer.
///
/// Explicit entries before folders, longer folder URLs first, a named scheme before `//`, an exact query before a list
/// before any. The order in the manifest does not matter.
struct MatchOrder: Sendable {
    /// One URL of one substitution.
    struct Candidate: Sendable {
        /// Index of the substitution.
        let substitution: Int
        let target: URLPattern.Target
        let rule: QueryRule
    }

    /// In the order in which they answer.
    let candidates: [Candidate]
    /// Identity → the first candidate whose query must be exactly that.
    private let exact: [URLIdentity: Int]
    /// URL without query → the candidates that ignore parameters.
    private let lenient: [String: [Int]]

    /// Cost: sorts the candidates once.
    init(_ substitutions: [Substitution]) {
        var keyed: [(rank: [Int], candidate: Candidate)] = []
        keyed.reserveCapacity(substitutions.count)
        for (index, substitution) in substitutions.enumerated() {
            for target in substitution.pattern.targets {
                let rank = [
                    -(substitution.folderLength ?? .max), target.namesScheme ? 0 : 1, substitution.query.rank,
                ]
                keyed.append((rank, Candidate(substitution: index, target: target, rule: substitution.query)))
            }
        }
        keyed.sort { first, second in
            if first.rank != second.rank { return first.rank.lexicographicallyPrecedes(second.rank) }
            // Two that differ in nothing else: by URL, so that the order in the file does not matter.
            return first.candidate.target.identity.description < second.candidate.target.identity.description
        }
        candidates = keyed.map(\.candidate)
        var exact: [URLIdentity: Int] = [:]
        exact.reserveCapacity(candidates.count)
        var lenient: [String: [Int]] = [:]
        for (index, candidate) in candidates.enumerated() {
            let identity = candidate.target.identity
            if candidate.rule == .exact {
                if exact[identity] == nil { exact[identity] = index }
            } else {
                lenient[identity.base, default: []].append(index)
            }
        }
        (self.exact, self.lenient) = (exact, lenient)
    }

    /// The index of the candidate that answers, or nil.
    ///
    /// Cost: two look-ups, and one comparison for each entry that ignores parameters of the same URL.
    func first(matching identity: URLIdentity) -> Int? {
        let exactly = exact[identity]
        if lenient.isEmpty { return exactly }
        let leniently = lenient[identity.base]?.first { index in
            index < exactly ?? .max
                && candidates[index].rule.matches(identity.query, key: candidates[index].target.identity.query)
        }
        return leniently ?? exactly
    }

    /// For each substitution that never answers, one that always answers before it.
    func shadowed() -> [Int: Int] {
        var shadowed: [Int: Int] = [:]
        var answering: Set<Int> = []
        for (index, candidate) in candidates.enumerated() {
            let identity = candidate.target.identity
            let exactly = candidate.rule == .exact ? exact[identity] : nil
            let earlier =
                exactly.flatMap { $0 < index ? $0 : nil }
                ?? lenient[identity.base]?.first { $0 < index && covers(candidates[$0], candidate) }
            if let earlier {
                shadowed[candidate.substitution] = candidates[earlier].substitution
            } else {
                answering.insert(candidate.substitution)
            }
        }
        return shadowed.filter { !answering.contains($0.key) }
    }

    /// Whether everything that `second` matches is matched by `first`, which has the same URL but for the query.
    private func covers(_ first: Candidate, _ second: Candidate) -> Bool {
        let (firstQuery, secondQuery) = (first.target.identity.query, second.target.identity.query)
        switch (first.rule, second.rule) {
        case (.any, _): return true
        case (.ignoring, .exact): return first.rule.matches(secondQuery, key: firstQuery)
        case (.ignoring(let names), .ignoring(let others)):
            return first.rule.matches(secondQuery, key: firstQuery)
                && others.allSatisfy { other in
                    names.contains { $0 == other || $0.isPrefix && other.text.hasPrefix($0.text) }
                }
        default: return false
        }
    }
}
