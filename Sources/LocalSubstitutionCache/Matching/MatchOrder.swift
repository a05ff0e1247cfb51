/// All URLs of a list of substitutions, in order of precedence.
///
/// Two URLs are compared by these criteria, in this order:
/// - Explicit entries come before folder entries, and folders with a longer path before folders with a shorter one.
/// - Entries that name the scheme come before entries that leave it open with `//`.
/// - An exact query comes before a list of ignored parameters, and such a list before a rule for any query.
///
/// The order in the manifest does not matter.
///
/// All URLs that match a request without decoding come before URLs that match only after decoding (see
/// ``first(matching:)``).
package struct MatchOrder: Sendable {
    /// One URL of one substitution.
    package struct Candidate: Sendable {
        /// The whole list, because that avoids a copy of the substitution.
        private let substitutions: [Substitution]
        /// The index of the substitution in the list.
        package let substitution: Int
        private let number: Int

        fileprivate init(_ substitutions: [Substitution], _ substitution: Int, target number: Int) {
            (self.substitutions, self.substitution, self.number) = (substitutions, substitution, number)
        }

        package var target: URLPattern.Target { substitutions[substitution].pattern.targets[number] }
        package var rule: QueryRule { substitutions[substitution].entry.query }

        /// The URL of a folder entry's file with the path below the folder decoded; nil for every other URL.
        ///
        /// Also nil for a path that pages spell in one way only. Pages often percent-encode `sub-delims` of RFC 3986,
        /// ":" and "@". They encode characters outside ASCII in NFC or, if their text comes from a Mac, in NFD.
        fileprivate var decoded: (base: String, depth: Int)? {
            guard let length = substitutions[substitution].folderLength else { return nil }
            let identity = target.identity
            // `length` is the length of the folder's path; add the length of scheme and authority.
            let folder = identity.base.utf8.count - identity.path.utf8.count + length
            let path = identity.base.utf8.dropFirst(folder)
            let isEncodedByte = zip(path, path.dropFirst()).contains {
                $0 == UInt8(ascii: "%") && $1 >= UInt8(ascii: "8")
            }
            guard isEncodedByte || path.contains(where: \.isOftenEncoded) else { return nil }
            let depth = identity.base.utf8.prefix(folder).count { $0 == UInt8(ascii: "/") }
            return MatchOrder.decodedBase(identity.base, below: depth).map { ($0, depth) }
        }
    }

    /// The candidates, in order of precedence.
    package let candidates: [Candidate]
    /// The indices of candidates, or complements of indices: then Foundation spells the candidate's URL like the key.
    ///
    /// A key is the normal form of a URL. For the URL of a candidate, the value is the candidate that answers it. There
    /// are more keys, which no URL equals: those of ``key(_:_:_:)`` for each rule, and those of files whose path is
    /// decoded (``decodedBase(_:below:)``). The value is then the first candidate with this key.
    private var first: [String: Int] = [:]
    /// The query rules, keyed by the URL without its query; exact rules are left out.
    private var rules: [String: [QueryRule]] = [:]
    /// The numbers of slashes in the URLs of folders whose files have decoded URLs, the deepest folder first.
    private var depths: [Int] = []

    /// Creates a candidate for each URL of each substitution, and sorts all candidates.
    package init(_ substitutions: [Substitution]) {
        var keyed: [(rank: Int, url: String, candidate: Candidate)] = []
        keyed.reserveCapacity(substitutions.count)
        for (index, substitution) in substitutions.enumerated() {
            for (number, target) in substitution.pattern.targets.enumerated() {
                // An explicit entry comes before every folder. The folder weighs more than the scheme, and the scheme
                // more than the rule.
                let folder = substitution.folderLength ?? 1 << 40
                let rank = -8 * folder + (target.namesScheme ? 0 : 4) + substitution.entry.query.rank
                let candidate = Candidate(substitutions, index, target: number)
                keyed.append((rank, target.identity.description, candidate))
            }
        }
        keyed.sort { first, second in
            if first.rank != second.rank { return first.rank < second.rank }
            // Sort candidates of equal rank by URL, and those of equal URL by the manifest's key in normal form. So the
            // order of the entries in the manifest does not matter.
            if first.url != second.url { return first.url < second.url }
            let patterns = [first, second].map { substitutions[$0.candidate.substitution].pattern }
            return patterns[0].identityKey < patterns[1].identityKey
        }
        candidates = keyed.map(\.candidate)
        first.reserveCapacity(candidates.count)
        var depths: Set<Int> = []
        for (index, candidate) in candidates.enumerated() {
            add(index, candidate, at: candidate.target.identity.base)
            if let (base, depth) = candidate.decoded {
                add(index, candidate, at: base)
                depths.insert(depth)
            }
        }
        self.depths = depths.sorted(by: >)
        for candidate in candidates where !rules.isEmpty {
            let identity = candidate.target.identity
            first[identity.description] = find(identity.base, identity.query)
        }
    }

    /// Adds Foundation's spelling of a candidate's URL, unless another candidate answers this URL.
    mutating func add(spelling: String, of index: Int) {
        let known = first[spelling] ?? (try? URLIdentity(spelling)).flatMap(first(matching:))
        if known == index { first[spelling] = ~index }
    }

    private mutating func add(_ index: Int, _ candidate: Candidate, at base: String) {
        var number = 0
        if candidate.rule != .exact {
            // A URL has few rules. `ManifestReader` accepts at most 16 different lists of ignored parameters in the
            // keys for one URL. Further rules come only from a key that ignores the whole query, and from folder
            // entries whose URL is a prefix of this URL.
            let known = rules[base, default: []]
            number = 1 + (known.firstIndex(of: candidate.rule) ?? known.count)
            if number > known.count { rules[base] = known + [candidate.rule] }
        }
        let key = Self.key(base, candidate.rule.remainder(of: candidate.target.identity.query), number)
        if first[key] == nil { first[key] = index }
    }

    /// Returns the key for a URL and the rest of its query, without what the rule with this number ignores.
    ///
    /// The number of the exact rule is 0, and its keys are the URLs themselves.
    private static func key(_ base: String, _ rest: String?, _ number: Int) -> String {
        let url = rest.map { "\(base)?\($0)" } ?? base
        return number == 0 ? url : "\(number)\n\(url)"
    }

    /// Returns a file's URL with the path below the folder decoded, after a line feed, which no URL holds.
    ///
    /// The folder's URL, up to slash number `depth`, stays as it is spelled. Nil if there are fewer slashes.
    private static func decodedBase(_ base: String, below depth: Int) -> String? {
        let slashes = base.utf8.indices.lazy.filter { base.utf8[$0] == UInt8(ascii: "/") }
        guard let slash = slashes.dropFirst(depth - 1).first else { return nil }
        return "\(base[...slash])\n\(URLIdentity.decoded(String(base[base.index(after: slash)...])))"
    }

    /// Returns the candidate that answers a request for `url`, and whether this is its spelling; nil if none does.
    ///
    /// Cost: one lookup for the normal form of a candidate's URL, and for spellings that were added. Any other URL is
    /// normalised, and then costs as much as an identity.
    func first(matching url: String) -> (index: Int, isSpelling: Bool)? {
        if let index = first[url] { return index < 0 ? (~index, true) : (index, false) }
        guard let identity = try? URLIdentity(url) else { return nil }
        // If the URL is in normal form, it was looked up already.
        if rules.isEmpty, depths.isEmpty, identity.base == url { return nil }
        return first(matching: identity).map { ($0, false) }
    }

    /// Returns the index of the candidate that answers a request; nil if none does.
    ///
    /// First, the URL is looked up as it is spelled. If nothing matches and there is a `%` before the query, the files
    /// of folder entries are tried: the path below the folder's URL is decoded, and the deepest folder with a
    /// match wins. Only characters that pages often percent-encode are decoded, and only characters outside ASCII are
    /// composed (see `Candidate.decoded`).
    ///
    /// Cost: one lookup. If any entry ignores parameters, there is a second lookup, and one more for each rule of the
    /// URL. If the URL is decoded, all this is repeated for each number of slashes that folders' URLs have.
    package func first(matching identity: URLIdentity) -> Int? {
        if let index = find(identity.base, identity.query) { return index }
        guard identity.base.utf8.contains(UInt8(ascii: "%")) else { return nil }
        for depth in depths {
            if let base = Self.decodedBase(identity.base, below: depth),
                let index = find(base, identity.query)
            {
                return index
            }
        }
        return nil
    }

    /// Returns the index of the first candidate with a URL or decoded URL; nil if there is none.
    private func find(_ base: String, _ query: String?) -> Int? {
        let exactly = first[Self.key(base, query, 0)].map { $0 < 0 ? ~$0 : $0 }
        guard !rules.isEmpty, let rules = rules[base] else { return exactly }
        let leniently = rules.enumerated().compactMap {
            first[Self.key(base, $1.remainder(of: query), $0 + 1)]
        }
        return (leniently + [exactly].compactMap(\.self)).min()
    }
}
