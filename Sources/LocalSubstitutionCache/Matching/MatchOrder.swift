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
        /// The index of the substitution in the list.
        package let substitution: Int
        package let target: URLPattern.Target
        package let rule: QueryRule
    }

    /// The candidates, in order of precedence.
    package let candidates: [Candidate]
    /// The index of the first candidate for each URL, among the candidates with an exact query rule.
    private let exact: [URLIdentity: Int]
    /// The index of the first candidate for each combination of URL, query rule and rest of the query.
    ///
    /// The rest is what remains of the query without the ignored parameters. Exact rules are left out.
    private let lenient: [RemainderKey: Int]
    /// The query rules, keyed by the URL with its query removed; exact rules are left out.
    private let rules: [String: [NumberedRule]]

    /// The indices of candidates that a request may also spell with percent-encoding, in order of precedence.
    ///
    /// These candidates are files of folder entries. Below the folder's URL, the file's path holds a character that
    /// pages often percent-encode: `sub-delims` of RFC 3986, ":" or "@". Or it holds a character outside ASCII, which
    /// pages encode in NFC or, if their text comes from a Mac, in NFD. A file has several candidates if the manifest
    /// has several keys for the folder's URL, with and without a scheme.
    private let decoded: [FolderFile: [Int]]
    /// The depths of the folders in `decoded`, deepest first, for each decoded URL of a file.
    ///
    /// The depth of a folder is the number of slashes in its URL. The key is the file's ``URLIdentity/decodedBase``.
    private let folderDepths: [String: [Int]]

    /// The key of a file in a folder entry: the file's URL, and the part of it that is the folder's URL.
    ///
    /// The folder's URL must match as it is spelled. Only the path below the folder is decoded. So one URL in
    /// two nested folders has two keys.
    private struct FolderFile: Hashable {
        /// The folder's URL as it is spelled, followed by the decoded path below the folder.
        private let url: String
        /// The length in bytes of the folder's URL, with which `url` begins.
        private let folder: Int

        init(_ base: String, folder: Int) {
            let end = base.utf8.index(base.utf8.startIndex, offsetBy: folder)
            let rest = String(base[end...])
            let decoded = URLIdentity.decoded(rest)
            url = decoded == rest ? base : base[..<end] + decoded
            self.folder = folder
        }

        /// Creates the key for a request for the URL `base`.
        ///
        /// The folder's URL is the part of `base` up to slash number `depth`. Nil if `base` has fewer slashes.
        init?(_ base: String, depth: Int) {
            let slashes = base.utf8.indices.lazy.filter { base.utf8[$0] == UInt8(ascii: "/") }
            guard let slash = slashes.dropFirst(depth - 1).first else { return nil }
            self.init(base, folder: base.utf8.distance(from: base.utf8.startIndex, to: slash) + 1)
        }
    }

    /// A query rule, and the number that represents it in dictionary keys.
    ///
    /// Each lookup hashes a key. Hashing the number is fast, but hashing a rule with a long list of parameters is slow.
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

    /// Creates a candidate for each URL of each substitution, and sorts all candidates.
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
            // Sort candidates of equal rank by URL, and those of equal URL by the manifest's key in normal form. So the
            // order of the entries in the manifest does not matter.
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
        // Hashing a rule with a long list is slow. All files of a folder entry have the same rule, so compare with the
        // last rule before hashing.
        var last: NumberedRule?
        for (index, candidate) in candidates.enumerated() {
            let identity = candidate.target.identity
            if let length = substitutions[candidate.substitution].folderLength {
                // `length` is the length of the folder's path; add the length of scheme and authority.
                let folder = identity.base.utf8.count - identity.path.utf8.count + length
                if Self.hasOtherSpellings(identity.base.utf8.dropFirst(folder)) {
                    decoded[FolderFile(identity.base, folder: folder), default: []].append(index)
                    let depth = identity.base.utf8.prefix(folder).count { $0 == UInt8(ascii: "/") }
                    let depths = folderDepths[identity.decodedBase, default: []]
                    // This array stays short. The URL begins with the URL of the outermost folder that contains it. The
                    // rest is a path on disk, at most `ManifestFolder.maximumDepth` folders deep. All the other folders
                    // that contain the URL lie on that path.
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
            // A URL has few rules. `ManifestReader` accepts at most 16 different lists of ignored parameters in the
            // keys for one URL. Further rules come only from a key that ignores the whole query, and from folder
            // entries whose URL is a prefix of this URL.
            if rules[identity.base]?.contains(where: { $0.number == rule.number }) != true {
                rules[identity.base, default: []].append(rule)
            }
        }
        (self.exact, self.lenient, self.rules) = (exact, lenient, rules)
        (self.decoded, self.folderDepths) = (decoded, folderDepths)
    }

    /// Returns true if a path holds a character that pages spell in several ways (see `decoded`).
    private static func hasOtherSpellings(_ path: Substring.UTF8View.SubSequence) -> Bool {
        path.contains(where: \.isOftenEncoded)
            || zip(path, path.dropFirst()).contains { byte, next in
                // An escape of a byte outside ASCII.
                byte == UInt8(ascii: "%") && next >= UInt8(ascii: "8")
            }
    }

    /// Returns the index of the candidate that answers a request; nil if none does.
    ///
    /// First, the URL is looked up as it is spelled. If nothing matches and there is a `%` before the query, the files
    /// of folder entries are tried: the path below the folder's URL is decoded, and the deepest folder with a
    /// match wins. Only characters that pages often percent-encode are decoded, and only characters outside ASCII are
    /// composed (see `decoded`).
    ///
    /// Cost: one lookup. If any entry ignores parameters, there is a second lookup, and one more for each rule of the
    /// URL. If the URL is decoded, there is one more lookup, and one for each depth that the folder may have.
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

    /// Returns the index of the first candidate that matches without decoding; nil if none does.
    private func firstSpelled(as identity: URLIdentity) -> Int? {
        let exactly = exact[identity]
        guard !rules.isEmpty, let rules = rules[identity.base] else { return exactly }
        let leniently = rules.compactMap { lenient[RemainderKey(identity, $0)] }
        return (leniently + [exactly].compactMap(\.self)).min()
    }
}
