package import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Everything a manifest substitutes, ready to be delivered: URL identity → prepared response. Immutable.
///
/// A request can only pick a row of this table; it never becomes a path.
// CachedURLResponse is immutable and never changes after it was made, which Linux's Foundation does not declare.
package final class SubstitutionTable: @unchecked Sendable {
    /// One URL and what answers it.
    ///
    /// A class, so that a look-up retains one reference and not every string of a substitution.
    final class Row {
        let substitution: Substitution
        let contents: FileContents
        /// What a GET spelled as in the manifest is answered with.
        let prepared: CachedURLResponse
        /// Whether the network is asked first.
        let isConditional: Bool

        init(_ substitution: Substitution, _ contents: FileContents, _ prepared: CachedURLResponse) {
            self.substitution = substitution
            self.contents = contents
            self.prepared = prepared
            isConditional = !substitution.conditions.isEmpty
        }
    }

    /// A row and how the request picked it.
    struct Match {
        let row: Row
        /// Whether the request is spelled as in the manifest.
        let isExact: Bool

        /// The answer to a GET or HEAD whose URL picked the row; `Range` is ignored in a HEAD (RFC 9110 §14.2).
        func response(to request: URLRequest) -> CachedURLResponse? {
            guard let url = request.url else { return nil }
            if request.httpMethod == "HEAD" { return row.substitution.head(with: row.contents, for: url) }
            if let part = row.substitution.part(of: row.contents, for: request, url: url) { return part }
            return isExact ? row.prepared : row.substitution.response(with: row.contents, for: url)
        }
    }

    let substitutions: [Substitution]
    private let expired: [Substitution]
    /// What messages call the manifest.
    let manifestName: String
    private let order: MatchOrder
    /// Parallel to the candidates of `order`.
    private let rows: [Row]
    /// Spelling → row, only where that row answers that spelling.
    private let spellings: [String: Int]
    private let hosts: HostFilter
    private let nearestLock = NSLock()
    /// Made when the first explanation asks for it; an app may never do so.
    private var nearestIndex: NearestIndex?
    private lazy var expiredOrder = MatchOrder(expired)

    /// Reads or maps every file once and prepares every response once.
    ///
    /// - Throws: Whatever became wrong with a file since the substitution was proved.
    init(_ manifest: SubstitutionManifest, folder: URL, reading: ReadingMode, on date: Date = Date())
        throws(ManifestError)
    {
        (substitutions, expired) = try manifest.proved(in: folder, on: date)
        manifestName = manifest.source.name
        order = MatchOrder(substitutions)
        var loader = ContentsLoader(reading: reading)
        var rows: [Row] = []
        rows.reserveCapacity(order.candidates.count)
        var spellings: [String: Int] = [:]
        spellings.reserveCapacity(order.candidates.count)
        var findings: [Finding] = []
        for (index, candidate) in order.candidates.enumerated() {
            let substitution = substitutions[candidate.substitution]
            do {
                let contents = try loader.contents(of: substitution.reference)
                guard let url = URL(string: candidate.target.spelling),
                    let prepared = substitution.response(with: contents, for: url)
                else {
                    // Neither is known to happen: the URL was parsed and the headers were checked before.
                    throw FileProblem.unreadable("Foundation makes no response of its URL and headers")
                }
                rows.append(Row(substitution, contents, prepared))
                let spelling = url.absoluteString
                let isUnchanged = spelling == candidate.target.spelling
                let identity = isUnchanged ? candidate.target.identity : try? URLIdentity(spelling)
                if let identity, order.first(matching: identity) == index { spellings[spelling] = index }
            } catch {
                let problem = error as? FileProblem ?? .unreadable("\(error)")
                findings.append(
                    Finding(
                        offset: substitution.fileOffset,
                        severity: .error,
                        code: problem.code,
                        message: problem.reason(for: substitution.file)
                    )
                )
            }
        }
        guard findings.isEmpty else { throw ManifestError(manifest.source.issues(findings)) }
        self.rows = rows
        self.spellings = spellings
        hosts = HostFilter(order.candidates.map(\.target.identity))
    }

    /// The row that stands in for `url`, or nil.
    ///
    /// Cost: one look-up for a URL that is spelled as in the manifest. For others a second one in the names of hosts;
    /// and when the manifest names the host, the URL is normalised and looked up once more.
    func match(_ url: URL) -> Match? {
        let spelling = url.absoluteString
        if let index = spellings[spelling] { return Match(row: rows[index], isExact: true) }
        guard hosts.mayContain(hostOf: spelling), let identity = try? URLIdentity(spelling),
            let index = order.first(matching: identity)
        else { return nil }
        return Match(row: rows[index], isExact: false)
    }

    /// What would answer `identity` if its day had not passed.
    func expiredSubstitution(for identity: URLIdentity) -> Substitution? {
        nearestLock.lock()
        defer { nearestLock.unlock() }
        let order = expiredOrder
        return order.first(matching: identity).map { expired[order.candidates[$0].substitution] }
    }

    /// The entry that almost names `identity`.
    ///
    /// Cost: the first call indexes the table.
    func nearest(to identity: URLIdentity) -> Explanation.Neighbour? {
        nearestLock.lock()
        defer { nearestLock.unlock() }
        let index = nearestIndex ?? NearestIndex(order)
        nearestIndex = index
        return index.nearest(to: identity).map { candidate, differences in
            Explanation.Neighbour(substitution: substitutions[candidate.substitution], differences: differences)
        }
    }
}

/// What the designers' tool asks, without a cache.
extension SubstitutionTable {
    /// Reads a manifest file, which the messages call `name`.
    package convenience init(manifest url: URL, name: String) throws(ManifestError) {
        let text = try SubstitutionManifest.text(of: url, name: name)
        let manifest = try SubstitutionManifest(text, name: name, url: url)
        try self.init(manifest, folder: url.deletingLastPathComponent(), reading: .mapped)
    }

    /// See ``LocalSubstitutionCache/explain(_:)``.
    package func explain(_ request: URLRequest) -> Explanation {
        Explanation(request, self)
    }

    /// What a client gets that is answered with a file, from the cache or from the protocol.
    package func response(to request: URLRequest) -> HTTPURLResponse? {
        request.url.flatMap(match)?.response(to: request)?.response as? HTTPURLResponse
    }
}
