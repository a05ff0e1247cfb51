/// An index for finding the entry whose URL is most similar to a URL that no entry matches.
///
/// Some details of URLs are often confused: scheme, `www.`, port, case, percent-encoding, a trailing slash, and the
/// query. URLs that differ only in these details have the same key, so one lookup finds all of them. If the file name
/// has a typo, the index looks for similar names in the same folder. If the host has a typo, the index looks for
/// similar hosts among the URLs with the same path.
struct NearestIndex: Sendable {
    private let order: MatchOrder
    /// The candidates, keyed by host and path without the details that are often confused (`URLParts.folded`).
    private var candidates: [String: [IndexedCandidate]] = [:]
    /// The candidates, keyed by the host and the path up to its last segment (`URLParts.foldedFolder`).
    private var byFolder: [String: [IndexedCandidate]] = [:]
    /// The candidates, keyed by the path without the host (`URLParts.foldedPath`).
    private var byPath: [String: [IndexedCandidate]] = [:]

    /// The index of the first candidate of each folder entry, keyed by the entry's URL.
    private var folders: [String: Int] = [:]

    private struct IndexedCandidate {
        let index: Int
        let parts: URLParts
    }

    /// The maximum number of candidates for one key, and the maximum for one folder in `byFolder`.
    ///
    /// These candidates are enough for a suggestion, and few enough to compare them without a noticeable delay.
    private static let (limit, folderLimit) = (100, 1000)

    /// Indexes all candidates in one pass.
    init(_ order: MatchOrder, _ substitutions: [Substitution]) {
        self.order = order
        for (index, candidate) in order.candidates.enumerated() {
            if let length = substitutions[candidate.substitution].folderLength {
                let identity = candidate.target.identity
                let end = identity.base.utf8.count - identity.path.utf8.count + length
                let folder = String(decoding: identity.base.utf8.prefix(end), as: UTF8.self)
                if folders[folder] == nil { folders[folder] = index }
            }
            let known = IndexedCandidate(index: index, parts: URLParts(candidate.target.identity))
            Self.appendIfRoom(known, to: &candidates[known.parts.folded, default: []], limit: Self.limit)
            Self.appendIfRoom(known, to: &byFolder[known.parts.foldedFolder, default: []], limit: Self.folderLimit)
            Self.appendIfRoom(known, to: &byPath[known.parts.foldedPath, default: []], limit: Self.limit)
        }
    }

    private static func appendIfRoom(_ known: IndexedCandidate, to list: inout [IndexedCandidate], limit: Int) {
        if list.count < limit { list.append(known) }
    }

    /// Returns the candidate whose URL differs from `identity` in the fewest ways, and the differences.
    ///
    /// A URL that differs only in details that are often confused is preferred. If there is no such URL, a URL with a
    /// similar file name or host is considered. Nil if no URL is similar.
    func nearest(to identity: URLIdentity) -> (candidate: MatchOrder.Candidate, differences: [Explanation.Difference])?
    {
        let parts = URLParts(identity)
        return nearest(to: parts, among: candidates[parts.folded, default: []])
            ?? nearestFile(to: parts).flatMap { nearest(to: parts, among: [$0]) }
            ?? nearestHost(to: parts).flatMap { nearest(to: parts, among: [$0]) }
    }

    /// Returns one candidate of the folder entry whose URL is a prefix of `identity`, and the rest of the path.
    ///
    /// The caller has found no entry for `identity`. So there is usually no file at the rest of the path: if there
    /// were such a file, the folder entry would match `identity`.
    ///
    /// If several folder entries have such a URL, the longest URL counts. Nil if there is no such folder entry.
    func folder(above identity: URLIdentity) -> (candidate: MatchOrder.Candidate, missing: String)? {
        if folders.isEmpty { return nil }
        var folder = Substring(identity.base)
        while let slash = folder.lastIndex(of: "/") {
            if let index = folders[String(folder[...slash])] {
                return (order.candidates[index], String(identity.base[slash...].dropFirst()))
            }
            folder = folder[..<slash]
        }
        return nil
    }

    private func nearest(
        to parts: URLParts,
        among known: [IndexedCandidate]
    ) -> (candidate: MatchOrder.Candidate, differences: [Explanation.Difference])? {
        var best: (known: IndexedCandidate, differences: [Explanation.Difference], matchesQuery: Bool)?
        for known in known {
            var differences = parts.differences(from: known.parts)
            // Below the URL of a folder entry, the request and the candidate's URL may percent-encode different
            // characters. If the entry also matches the path as the request spells it, the percent-encoding is not a
            // difference.
            if differences.contains(.percentEncoding), let spelled = known.parts.identity(withPathOf: parts),
                order.first(matching: spelled) == known.index
            {
                differences.removeAll { $0 == .percentEncoding }
            }
            let matches = order.candidates[known.index].rule.matches(parts.query, key: known.parts.query)
            if let best {
                // Of two candidates with equally many differences, the one whose query differs is nearer.
                let count = differences.count + (matches ? 0 : 1)
                let least = best.differences.count + (best.matchesQuery ? 0 : 1)
                guard (count, differences.count) < (least, best.differences.count) else { continue }
            }
            best = (known, differences, matches)
        }
        guard let (known, differences, matchesQuery) = best else { return nil }
        let candidate = order.candidates[known.index]
        if matchesQuery { return (candidate, differences) }
        let names = URLParts.ignorable(in: parts.query, known.parts.query, candidate.rule)
        return (candidate, differences + [.query(ignoring: names)])
    }

    /// Returns the candidate in the folder of `parts` that has the most similar file name.
    ///
    /// Nil if no file name is similar.
    private func nearestFile(to parts: URLParts) -> IndexedCandidate? {
        let known = byFolder[parts.foldedFolder, default: []]
        let plain = Self.withoutResolution(parts.foldedName)
        if let match = known.first(where: { Self.withoutResolution($0.parts.foldedName) == plain }) { return match }
        guard let name = suggestion(for: parts.foldedName, among: known.map(\.parts.foldedName)) else { return nil }
        return known.first { $0.parts.foldedName == name }
    }

    private func nearestHost(to parts: URLParts) -> IndexedCandidate? {
        let known = byPath[parts.foldedPath, default: []]
        guard let host = suggestion(for: String(parts.host), among: known.map { String($0.parts.host) }) else {
            return nil
        }
        return known.first { $0.parts.host == host }
    }

    /// Returns `name` without the marker of an image's resolution: `logo.png` for `logo@2x.png`.
    private static func withoutResolution(_ name: String) -> String {
        guard let at = name.lastIndex(of: "@"), name[at...].dropFirst().first?.isNumber == true,
            let end = name[at...].firstIndex(of: "x")
        else { return name }
        return String(name[..<at] + name[name.index(after: end)...])
    }

    private struct URLParts {
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

        /// The host without `www.`, followed by ``foldedPath``.
        var folded: String { Self.withoutWWW(host).lowercased() + foldedPath }

        /// The path without details that are often confused: decoded, in lower case and without a trailing slash.
        var foldedPath: String { Self.withoutSlash(Substring(Self.decoded(path))).lowercased() }

        /// The host without `www.`, followed by ``foldedPath`` up to its last segment.
        var foldedFolder: String { String(folded.dropLast(foldedName.count)) }

        /// The last segment of ``foldedPath``.
        var foldedName: String { foldedPath.split(separator: "/").last.map(String.init) ?? "" }

        /// Returns the identity of this URL with the path of `other`; nil if the combined URL is invalid.
        func identity(withPathOf other: URLParts) -> URLIdentity? {
            try? URLIdentity("\(scheme)://\(host)\(port)\(other.path)" + (query.map { "?\($0)" } ?? ""))
        }

        /// Returns the differences between two URLs, apart from differences in their queries.
        func differences(from other: URLParts) -> [Explanation.Difference] {
            var differences: [Explanation.Difference] = []
            if scheme != other.scheme { differences.append(.scheme) }
            if host != other.host {
                differences.append(Self.withoutWWW(host) == Self.withoutWWW(other.host) ? .www : .host)
            }
            // `URLIdentity` drops default ports. So an http and an https URL, each with its default port, do not differ
            // in the port.
            if port != other.port { differences.append(.port) }
            let paths = [Self.withoutSlash(path), Self.withoutSlash(other.path)]
            let decoded = paths.map(Self.decoded)
            if decoded[0].lowercased() != decoded[1].lowercased() {
                differences.append(.fileName)
            } else if decoded[0] != decoded[1] {
                differences.append(.letterCase)
            } else if paths[0] != paths[1] {
                differences.append(.percentEncoding)
            }
            if path.hasSuffix("/") != other.path.hasSuffix("/") { differences.append(.trailingSlash) }
            return differences
        }

        /// Decodes the characters of `path` that need no percent-encoding but are often encoded in web pages.
        private static func decoded(_ path: Substring) -> String { URLIdentity.decoded(String(path)) }

        private static func withoutWWW(_ host: Substring) -> Substring {
            host.hasPrefix("www.") ? host.dropFirst(4) : host
        }

        private static func withoutSlash(_ path: Substring) -> Substring {
            path.hasSuffix("/") ? path.dropLast() : path
        }

        /// Returns the names of the parameters to ignore so that two queries match.
        ///
        /// These are the parameters in which the queries differ, and the parameters that the rule ignores already.
        /// Empty if the queries would not match even then.
        static func ignorable(in first: String?, _ second: String?, _ rule: QueryRule) -> [String] {
            func parameters(_ query: String?) -> Set<Substring> {
                Set((rule.remainder(of: query) ?? "").split(separator: "&"))
            }
            let differing = parameters(first).symmetricDifference(parameters(second))
            // A parameter that holds a digit and no "=" is probably a version. The next version will be a parameter
            // with another name, so ignoring this name would not help for long.
            guard differing.allSatisfy({ $0.contains("=") || !$0.contains(where: \.isNumber) }) else { return [] }
            var names = Set(differing.map { parameter in String(parameter.prefix { $0 != "=" }) })
            if case .ignoring(let known) = rule { names.formUnion(known.sorted.map(\.description)) }
            // A list of more than 20 names is not useful advice.
            guard names.count <= 20, !names.contains("") else { return [] }
            let ignored = ParameterNames(names.compactMap { try? ParameterNames.Name($0) })
            return QueryRule.ignoring(ignored).matches(first, key: second) ? names.sorted() : []
        }
    }
}
