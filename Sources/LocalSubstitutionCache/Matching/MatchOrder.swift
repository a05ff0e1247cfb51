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
    /// The first candidate of each rule that ignores parameters, by what the rule leaves of its query.
    private let lenient: [Remainder: Int]
    /// URL without query → the rules that entries for it have, other than an exact query.
    private let rules: [String: [NumberedRule]]

    /// ``URLIdentity/decodedBase`` → files of folders whose names hold what pages percent-encode, in the order in which
    /// they answer.
    private let decoded: [String: [DecodedFile]]

    /// A candidate for a file of a folder, and the length of its folder's URL in bytes.
    private struct DecodedFile {
        let index: Int
        let folder: Int
    }

    /// A rule and its number; each request hashes the number instead of what may be a long list.
    private struct NumberedRule {
        let rule: QueryRule
        let number: Int
    }

    private struct Remainder: Hashable {
        let base: String
        let rule: Int
        let query: String?

        init(_ identity: URLIdentity, _ rule: NumberedRule) {
            base = identity.base
            self.rule = rule.number
            query = rule.rule.remainder(of: identity.query)
        }
    }

    /// Cost: sorts the candidates once.
    init(_ substitutions: [Substitution]) {
        var keyed: [(rank: (Int, Int, Int), candidate: Candidate)] = []
        keyed.reserveCapacity(substitutions.count)
        for (index, substitution) in substitutions.enumerated() {
            for target in substitution.pattern.targets {
                let rank = (
                    -(substitution.folderLength ?? .max), target.namesScheme ? 0 : 1, substitution.entry.query.rank
                )
                keyed.append((rank, Candidate(substitution: index, target: target, rule: substitution.entry.query)))
            }
        }
        keyed.sort { first, second in
            if first.rank != second.rank { return first.rank < second.rank }
            // Two that differ in nothing else: by URL and then by key, so that the order in the file does not matter.
            let urls = (first.candidate.target.identity.description, second.candidate.target.identity.description)
            if urls.0 != urls.1 { return urls.0 < urls.1 }
            let patterns = [first, second].map { substitutions[$0.candidate.substitution].pattern }
            return patterns[0].identityKey < patterns[1].identityKey
        }
        candidates = keyed.map(\.candidate)
        var exact: [URLIdentity: Int] = [:]
        exact.reserveCapacity(candidates.count)
        var lenient: [Remainder: Int] = [:]
        var rules: [String: [NumberedRule]] = [:]
        var decoded: [String: [DecodedFile]] = [:]
        var numbers: [QueryRule: Int] = [:]
        // All files of a folder have the same rule, and a long list takes long to hash.
        var last: NumberedRule?
        for (index, candidate) in candidates.enumerated() {
            let identity = candidate.target.identity
            if let length = substitutions[candidate.substitution].folderLength {
                let folder = identity.base.utf8.count - identity.path.utf8.count + length
                if identity.base.utf8.dropFirst(folder).contains(where: \.isOftenEncoded) {
                    decoded[identity.decodedBase, default: []].append(DecodedFile(index: index, folder: folder))
                }
            }
            if candidate.rule == .exact {
                if exact[identity] == nil { exact[identity] = index }
                continue
            }
            let rule: NumberedRule
            if let last, last.rule == candidate.rule {
                rule = last
            } else {
                rule = NumberedRule(rule: candidate.rule, number: numbers[candidate.rule] ?? numbers.count)
                numbers[candidate.rule] = rule.number
            }
            last = rule
            let remainder = Remainder(identity, rule)
            if lenient[remainder] == nil { lenient[remainder] = index }
            // There are few for one URL: a manifest with more is refused.
            if rules[identity.base]?.contains(where: { $0.number == rule.number }) != true {
                rules[identity.base, default: []].append(rule)
            }
        }
        (self.exact, self.lenient, self.rules, self.decoded) = (exact, lenient, rules, decoded)
    }

    /// The index of the candidate that answers, or nil.
    ///
    /// Cost: one look-up, and where entries ignore parameters another and one for each different rule of the same URL.
    /// A URL that none of them finds, and that holds a `%`, is decoded and looked up once more where folders hold names
    /// with characters that pages percent-encode.
    func first(matching identity: URLIdentity) -> Int? {
        if let index = firstSpelled(as: identity) { return index }
        guard !decoded.isEmpty, identity.base.utf8.contains(UInt8(ascii: "%")) else { return nil }
        return decoded[identity.decodedBase, default: []].first { file in
            let candidate = candidates[file.index]
            // The folder's own URL stays exact.
            return identity.base.utf8.prefix(file.folder).elementsEqual(
                candidate.target.identity.base.utf8.prefix(file.folder)
            )
                && candidate.rule.matches(identity.query, key: candidate.target.identity.query)
        }?.index
    }

    private func firstSpelled(as identity: URLIdentity) -> Int? {
        let exactly = exact[identity]
        guard !rules.isEmpty, let rules = rules[identity.base] else { return exactly }
        let leniently = rules.compactMap { lenient[Remainder(identity, $0)] }
        return (leniently + [exactly].compactMap(\.self)).min()
    }

    /// The substitutions that never answer, each with one that answers before it.
    ///
    /// - Parameter counts: Whether a substitution, by its index, may take the place of others.
    /// - Returns: Index → index.
    func shadowed(by counts: (Int) -> Bool) -> [Int: Int] {
        var shadowed: [Int: Int] = [:]
        var used: Set<Int> = []
        for (index, candidate) in candidates.enumerated() {
            let identity = candidate.target.identity
            let exactly = candidate.rule == .exact ? exact[identity] : nil
            let leniently = rules[identity.base, default: []].filter { $0.rule.covers(candidate.rule) }
                .compactMap { lenient[Remainder(identity, $0)] }
            let earlier = (leniently + [exactly].compactMap(\.self)).first {
                $0 < index && counts(candidates[$0].substitution)
            }
            if let earlier {
                shadowed[candidate.substitution] = candidates[earlier].substitution
            } else {
                used.insert(candidate.substitution)
            }
        }
        return shadowed.filter { !used.contains($0.key) }
    }
}
