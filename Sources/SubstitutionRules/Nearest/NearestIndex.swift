package import LocalSubstitutionCache

/// An index for finding the entry whose URL is most similar to a URL that no entry matches.
///
/// Some details of URLs are often confused: scheme, `www.`, port, case, percent-encoding, a trailing slash, and the
/// query. URLs that differ only in these details have the same key, so one lookup finds all of them. If the file name
/// has a typo, the index looks for such names in the same folder. If the host has a typo, the index looks for such
/// hosts among the URLs with the same path.
///
/// A difference that is no mistake makes two URLs distinct: another number in a name, another short word, or a
/// parameter that may select another content.
package final class NearestIndex: Sendable {
    private let order: MatchOrder
    private let substitutions: [Substitution]
    /// The candidates, keyed by host and path without the details that are often confused (`URLParts.folded`).
    private let candidates: [String: [IndexedCandidate]]
    /// The candidates, keyed by the host and the path up to its last segment (`URLParts.foldedFolder`).
    private let byFolder: [String: [IndexedCandidate]]
    /// The candidates, keyed by the path without the host (`URLParts.foldedPath`).
    private let byPath: [String: [IndexedCandidate]]
    /// The index of the first candidate of each folder entry, keyed by the entry's URL.
    private let folders: [String: Int]
    /// The lengths of the keys of `folders` in bytes, the longest first.
    private let folderLengths: [Int]

    private struct IndexedCandidate: Sendable {
        let index: Int
        let parts: URLParts
        let name: Typo.Name
    }

    /// The maximum number of candidates for one key, and the maximum for one folder in `byFolder`.
    ///
    /// These candidates are enough for a suggestion, and few enough to compare them without a noticeable delay.
    private static let (limit, folderLimit) = (100, 1000)

    /// Indexes all candidates in one pass.
    package init(_ order: MatchOrder, _ substitutions: [Substitution]) {
        (self.order, self.substitutions) = (order, substitutions)
        var candidates: [String: [IndexedCandidate]] = [:]
        var byFolder: [String: [IndexedCandidate]] = [:]
        var byPath: [String: [IndexedCandidate]] = [:]
        var folders: [String: Int] = [:]
        for (index, candidate) in order.candidates.enumerated() {
            if let length = substitutions[candidate.substitution].folderLength {
                let identity = candidate.target.identity
                let end = identity.base.utf8.count - identity.path.utf8.count + length
                let folder = String(decoding: identity.base.utf8.prefix(end), as: UTF8.self)
                if folders[folder] == nil { folders[folder] = index }
            }
            let parts = URLParts(candidate.target.identity)
            let known = IndexedCandidate(index: index, parts: parts, name: Typo.Name(parts.foldedName))
            Self.appendIfRoom(known, to: &candidates[known.parts.folded, default: []], limit: Self.limit)
            Self.appendIfRoom(known, to: &byFolder[known.parts.foldedFolder, default: []], limit: Self.folderLimit)
            Self.appendIfRoom(known, to: &byPath[known.parts.foldedPath, default: []], limit: Self.limit)
        }
        (self.candidates, self.byFolder, self.byPath, self.folders) = (candidates, byFolder, byPath, folders)
        folderLengths = Set(folders.keys.map(\.utf8.count)).sorted(by: >)
    }

    private static func appendIfRoom(_ known: IndexedCandidate, to list: inout [IndexedCandidate], limit: Int) {
        if list.count < limit { list.append(known) }
    }

    /// Returns the entry whose URL differs from `identity` in the fewest ways, and the differences.
    ///
    /// A URL that differs only in details that are often confused is preferred. If there is no such URL, a URL with a
    /// typo in its file name or host is considered. Nil if there is no such URL.
    package func nearest(to identity: URLIdentity) -> NearEntry? {
        let parts = URLParts(identity)
        return nearest(to: parts, among: candidates[parts.folded, default: []])
            ?? nearestFile(to: parts).flatMap { nearest(to: parts, among: [$0]) }
            ?? nearestHost(to: parts).flatMap { nearest(to: parts, among: [$0]) }
    }

    /// Returns one file of the folder entry whose URL is a prefix of `identity`, and the rest of the path.
    ///
    /// The caller has found no entry for `identity`. So there is usually no file at the rest of the path: if there
    /// were such a file, the folder entry would match `identity`.
    ///
    /// If several folder entries have such a URL, the longest URL counts. Nil if there is no such folder entry.
    package func folder(above identity: URLIdentity) -> (file: Substitution, missing: String)? {
        let base = identity.base.utf8
        for length in folderLengths where length <= base.count {
            if let index = folders[String(decoding: base.prefix(length), as: UTF8.self)] {
                let missing = String(decoding: base.dropFirst(length), as: UTF8.self)
                return (substitutions[order.candidates[index].substitution], missing)
            }
        }
        return nil
    }

    private func nearest(to parts: URLParts, among known: [IndexedCandidate]) -> NearEntry? {
        var best: (known: IndexedCandidate, differences: [NearEntry.Difference], query: NearEntry.Difference?)?
        for candidate in known {
            var differences = parts.differences(from: candidate.parts)
            // Below the URL of a folder entry, the request and the candidate's URL may percent-encode different
            // characters. If the entry also matches the path as the request spells it, the percent-encoding is not a
            // difference.
            if differences.contains(.percentEncoding), let spelled = candidate.parts.identity(withPathOf: parts),
                order.first(matching: spelled) == candidate.index
            {
                differences.removeAll { $0 == .percentEncoding }
            }
            let rule = order.candidates[candidate.index].rule
            let matches = rule.matches(parts.query, key: candidate.parts.query)
            let query = matches ? nil : queryDifference(parts.query, candidate, among: known)
            if !matches, query == nil { continue }
            if let best {
                // Of two candidates with equally many differences, the one whose query differs is nearer.
                let count = differences.count + (matches ? 0 : 1)
                let least = best.differences.count + (best.query == nil ? 0 : 1)
                guard (count, differences.count) < (least, best.differences.count) else { continue }
            }
            best = (candidate, differences, query)
        }
        return best.map { best in
            NearEntry(
                substitution: substitution(of: best.known),
                differences: best.differences + [best.query].compactMap(\.self)
            )
        }
    }

    /// Returns the difference between a query and that of a candidate; nil if it may select another content.
    ///
    /// - Parameters:
    ///   - query: The query of the request, which the candidate's rule does not match.
    ///   - known: The candidate.
    ///   - others: The candidates with nearly the same URL. If one of them has another query and another file, the
    ///     query selects the file.
    /// - Returns: The difference, with the names of the parameters that a rule can safely ignore.
    private func queryDifference(
        _ query: String?,
        _ known: IndexedCandidate,
        among others: [IndexedCandidate]
    ) -> NearEntry.Difference? {
        let rule = order.candidates[known.index].rule
        let substitution = substitution(of: known)
        let queries = [query, known.parts.query].map { query in
            Set((rule.remainder(of: query) ?? "").split(separator: "&"))
        }
        let differing = queries[0].symmetricDifference(queries[1])
        let type = substitution.type
        let isNamed = MediaType(fileName: known.parts.foldedName)?.isSame(as: type) == true
        if !differing.isEmpty, let names = CacheBuster.names(of: differing, in: isNamed ? type : nil) {
            let selects = others.contains { other in
                other.parts.path == known.parts.path && other.parts.query != known.parts.query
                    && self.substitution(of: other).path != substitution.path
            }
            if selects { return nil }
            var known: Set<String> = []
            if case .ignoring(let names) = rule { known.formUnion(names.map(\.description)) }
            return .query(ignoring: names == ["*"] ? names : known.union(names).sorted())
        }
        // If only one of the two has a query, it may have been forgotten. But if the path does not name the type of a
        // picture, script or stylesheet, the query selects it, and a "?" at its start lists several files.
        let isForgotten = queries.contains([]) && !differing.contains { $0.hasPrefix("?") }
        return differing.isEmpty || isForgotten && (isNamed || type.isPageOrData) ? .query(ignoring: []) : nil
    }

    private func substitution(of known: IndexedCandidate) -> Substitution {
        substitutions[order.candidates[known.index].substitution]
    }

    /// Returns the first candidate in the folder of `parts` whose file name differs in a typo; nil if there is none.
    private func nearestFile(to parts: URLParts) -> IndexedCandidate? {
        let name = Typo.Name(parts.foldedName)
        return byFolder[parts.foldedFolder, default: []].first { Typo.separates(name, $0.name) }
    }

    /// Returns the first candidate with the path of `parts` whose host differs in a typo; nil if there is none.
    private func nearestHost(to parts: URLParts) -> IndexedCandidate? {
        let host = Typo.Name(String(parts.host), isFile: false)
        return byPath[parts.foldedPath, default: []].first {
            Typo.separates(host, Typo.Name(String($0.parts.host), isFile: false))
        }
    }

    private struct URLParts {
        let scheme: String
        let host: Substring
        let port: Substring
        let path: Substring
        let query: String?

        init(_ identity: URLIdentity) {
            let authority = identity.authority
            let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
            let hostEnd = authority[bracket...].firstIndex(of: ":") ?? authority.endIndex
            (scheme, host, port) = (identity.scheme, authority[..<hostEnd], authority[hostEnd...])
            (path, query) = (identity.path, identity.query)
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
        func differences(from other: URLParts) -> [NearEntry.Difference] {
            var differences: [NearEntry.Difference] = []
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
    }
}

extension MediaType {
    /// True for pages and data, whose URLs often have no extension.
    fileprivate var isPageOrData: Bool {
        let essence = canonical.essence
        return ["text/html", "text/plain"].contains(essence) || essence.hasSuffix("json") || essence.hasSuffix("xml")
    }
}
