/// All URLs of a list of substitutions, in order of precedence.
///
/// Explicit entries come before folders, longer folder URLs before shorter ones, a named scheme before `//`. An exact
/// query comes before a list of ignored parameters, and such a list comes before a rule for any query. The order in the
/// manifest does not matter.
package struct MatchOrder: Sendable {
    /// One URL of one substitution.
    package struct Candidate: Sendable {
        /// The index of the substitution.
        package let substitution: Int
        package let target: URLPattern.Target
        package let rule: QueryRule
    }

    /// The candidates, in order of precedence.
    package let candidates: [Candidate]
    /// The first candidate with an exact query rule, keyed by identity.
    private let exact: [URLIdentity: Int]
    /// The first candidate of each rule that ignores parameters, keyed by URL, rule and the rest of the query.
    private let lenient: [RemainderKey: Int]
    /// The rules other than an exact query, keyed by the URL without its query.
    private let rules: [String: [NumberedRule]]

    /// The candidates for files whose path below the folder holds characters that pages percent-encode.
    ///
    /// Each file has one candidate for each key with the folder's URL, in order of precedence.
    private let decoded: [FolderFile: [Int]]
    /// The depths of the folders with these files, deepest first, keyed by ``URLIdentity/decodedBase``.
    ///
    /// The depth of a folder is the number of slashes in its URL.
    private let folderDepths: [String: [Int]]

    /// The key of a file in a folder: the folder's URL, which stays exact, and the decoded path below it.
    private struct FolderFile: Hashable {
        private let url: String
        /// The length of the folder's URL in bytes.
        private let folder: Int

        init(_ base: String, folder: Int) {
            let end = base.utf8.index(base.utf8.startIndex, offsetBy: folder)
            let rest = String(base[end...])
            let decoded = URLIdentity.decoded(rest)
            url = decoded == rest ? base : base[..<end] + decoded
            self.folder = folder
        }

        /// Creates the key for a request for `base`, if the folder's URL has `depth` slashes; nil if `base` has fewer.
        init?(_ base: String, depth: Int) {
            let slashes = base.utf8.indices.lazy.filter { base.utf8[$0] == UInt8(ascii: "/") }
            guard let slash = slashes.dropFirst(depth - 1).first else { return nil }
            self.init(base, folder: base.utf8.distance(from: base.utf8.startIndex, to: slash) + 1)
        }
    }

    /// A rule and its number; requests hash the number, because the rule may be a long list.
    private struct NumberedRule {
        let rule: QueryRule
        let number: Int
    }

    private struct RemainderKey: Hashable {
        let base: String
        let rule: Int
        let query: String?

        init(_ identity: URLIdentity, _ rule: NumberedRule) {
            base = identity.base
            self.rule = rule.number
            query = rule.rule.remainder(of: identity.query)
        }
    }

    /// Expands the substitutions to candidates, and sorts these once.
    package init(_ substitutions: [Substitution]) {
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
            // For equal ranks, sort by URL and then by key, so that the order in the file does not matter.
            let urls = (first.candidate.target.identity.description, second.candidate.target.identity.description)
            if urls.0 != urls.1 { return urls.0 < urls.1 }
            let patterns = [first, second].map { substitutions[$0.candidate.substitution].pattern }
            return patterns[0].identityKey < patterns[1].identityKey
        }
        candidates = keyed.map(\.candidate)
        var exact: [URLIdentity: Int] = [:]
        exact.reserveCapacity(candidates.count)
        var lenient: [RemainderKey: Int] = [:]
        var rules: [String: [NumberedRule]] = [:]
        var decoded: [FolderFile: [Int]] = [:]
        var folderDepths: [String: [Int]] = [:]
        var numbers: [QueryRule: Int] = [:]
        // All files of a folder share one rule, and hashing a long list is slow, so remember the last rule.
        var last: NumberedRule?
        for (index, candidate) in candidates.enumerated() {
            let identity = candidate.target.identity
            if let length = substitutions[candidate.substitution].folderLength {
                let folder = identity.base.utf8.count - identity.path.utf8.count + length
                if identity.base.utf8.dropFirst(folder).contains(where: \.isOftenEncoded) {
                    decoded[FolderFile(identity.base, folder: folder), default: []].append(index)
                    let depth = identity.base.utf8.prefix(folder).count { $0 == UInt8(ascii: "/") }
                    let depths = folderDepths[identity.decodedBase, default: []]
                    // There are few depths, because mapped folders nest no deeper than folders on disk.
                    if !depths.contains(depth) {
                        folderDepths[identity.decodedBase] = (depths + [depth]).sorted(by: >)
                    }
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
            let remainder = RemainderKey(identity, rule)
            if lenient[remainder] == nil { lenient[remainder] = index }
            // One URL has few rules: a manifest with more is refused.
            if rules[identity.base]?.contains(where: { $0.number == rule.number }) != true {
                rules[identity.base, default: []].append(rule)
            }
        }
        (self.exact, self.lenient, self.rules) = (exact, lenient, rules)
        (self.decoded, self.folderDepths) = (decoded, folderDepths)
    }

    /// Returns the index of the candidate that answers, or nil.
    ///
    /// Cost: one lookup. If any entry ignores parameters, there is a second lookup, and one more for each distinct rule
    /// of the same URL. If none of these finds a URL that holds a `%`, and if some folders hold names with characters
    /// that pages percent-encode, the URL is decoded and looked up once for each depth of such folders.
    package func first(matching identity: URLIdentity) -> Int? {
        if let index = firstSpelled(as: identity) { return index }
        guard !decoded.isEmpty, identity.base.utf8.contains(UInt8(ascii: "%")) else { return nil }
        for depth in folderDepths[identity.decodedBase, default: []] {
            guard let file = FolderFile(identity.base, depth: depth) else { continue }
            let index = decoded[file, default: []].first { index in
                candidates[index].rule.matches(identity.query, key: candidates[index].target.identity.query)
            }
            if let index { return index }
        }
        return nil
    }

    private func firstSpelled(as identity: URLIdentity) -> Int? {
        let exactly = exact[identity]
        guard !rules.isEmpty, let rules = rules[identity.base] else { return exactly }
        let leniently = rules.compactMap { lenient[RemainderKey(identity, $0)] }
        return (leniently + [exactly].compactMap(\.self)).min()
    }

    /// Returns the substitutions that never answer, each with one that answers before it.
    ///
    /// - Parameter counts: Returns true if the substitution with this index may shadow others.
    /// - Returns: The index of a substitution that answers earlier, keyed by the index of the shadowed substitution.
    package func shadowed(by counts: (Int) -> Bool) -> [Int: Int] {
        var shadowed: [Int: Int] = [:]
        var used: Set<Int> = []
        for (index, candidate) in candidates.enumerated() {
            let identity = candidate.target.identity
            let exactly = candidate.rule == .exact ? exact[identity] : nil
            let leniently = rules[identity.base, default: []].filter { $0.rule.covers(candidate.rule) }
                .compactMap { lenient[RemainderKey(identity, $0)] }
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
