import LocalSubstitutionCache

extension MatchOrder {
    /// Returns the substitutions that never answer a request, each with a substitution that answers before it.
    ///
    /// Matches that need decoding are left out. If a request spells a candidate's URL in the same way as the manifest,
    /// this candidate or an earlier one is found before anything is decoded.
    ///
    /// - Parameter counts: A function that takes the index of a substitution, and returns true if the substitution may
    ///   shadow others.
    /// - Returns: A dictionary from the index of each substitution that never answers to the index of one that answers
    ///   before it.
    func shadowed(by counts: (Int) -> Bool) -> [Int: Int] {
        var shadowed: [Int: Int] = [:]
        var used: Set<Int> = []
        var seen: [String: SeenRules] = [:]
        for candidate in candidates {
            let identity = candidate.target.identity
            if let earlier = seen[identity.base, default: SeenRules()].add(
                candidate,
                identity.query,
                counts
            ) {
                shadowed[candidate.substitution] = earlier
            } else {
                used.insert(candidate.substitution)
            }
        }
        return shadowed.filter { !used.contains($0.key) }
    }
}

/// The query rules of the candidates with one URL, without its query.
private struct SeenRules {
    /// The rules that ignore parameters, in the order of the candidates, and the exact rule at the end.
    private var rules: [(rule: QueryRule, substitutions: [String?: Int])] = [(.exact, [:])]

    /// Adds a candidate; returns the substitution that always answers before it, or nil if there is none.
    mutating func add(_ candidate: MatchOrder.Candidate, _ query: String?, _ counts: (Int) -> Bool)
        -> Int?
    {
        let earlier = rules.lazy.filter { $0.rule.covers(candidate.rule) }
            .compactMap { $0.substitutions[$0.rule.remainder(of: query)] }.first(where: counts)
        let place = rules.firstIndex { $0.rule == candidate.rule } ?? rules.count - 1
        if rules[place].rule != candidate.rule { rules.insert((candidate.rule, [:]), at: place) }
        let rest = candidate.rule.remainder(of: query)
        if rules[place].substitutions[rest] == nil {
            rules[place].substitutions[rest] = candidate.substitution
        }
        return earlier
    }
}

extension QueryRule {
    /// Returns whether all queries that are equal under `other` are also equal under this rule.
    fileprivate func covers(_ other: QueryRule) -> Bool {
        switch (self, other) {
        case (.any, _), (.exact, .exact), (.ignoring, .exact):
            true
        case (.ignoring(let names), .ignoring(let others)):
            others.allSatisfy { other in names.contains { $0.covers(other) } }
        default:
            false
        }
    }
}
