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
        private let substitutions: [Substitution]
        private let index: Int
        let contents: FileContents
        /// What a GET spelled as in the manifest is answered with.
        let prepared: CachedURLResponse
        /// Whether the network is asked first.
        let isConditional: Bool

        /// The row of one of `substitutions`, of which it keeps no copy.
        init(_ substitutions: [Substitution], _ index: Int, _ contents: FileContents, _ prepared: CachedURLResponse) {
            self.substitutions = substitutions
            self.index = index
            self.contents = contents
            self.prepared = prepared
            isConditional = !substitutions[index].conditions.isEmpty
        }

        var substitution: Substitution { substitutions[index] }
    }

    /// A row and how the request picked it.
    struct Match {
        let row: Row
        /// Whether the request is spelled as in the manifest.
        let isExact: Bool
        /// Whether only the head is asked for.
        var isHead = false

        /// The answer to the request that picked the row; `Range` is ignored in a HEAD (RFC 9110 §14.2).
        func response(to request: URLRequest) -> CachedURLResponse? {
            guard let url = request.url else { return nil }
            if isHead { return row.substitution.head(with: row.contents, for: url) }
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
    private let spellings: [String: Row]
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
        let (substitutions, expired, opened) = try manifest.proved(in: folder, on: date)
        (self.substitutions, self.expired) = (substitutions, expired)
        manifestName = manifest.source.name
        let order = MatchOrder(substitutions)
        self.order = order
        var loader = ContentsLoader(in: opened, reading: reading)
        var rows: [Row] = []
        rows.reserveCapacity(order.candidates.count)
        var spellings: [String: Row] = [:]
        spellings.reserveCapacity(order.candidates.count)
        var findings: [Finding] = []
        let contents = order.candidates.map { candidate -> FileContents? in
            let substitution = substitutions[candidate.substitution]
            do throws(FileProblem) {
                return try loader.contents(of: substitution.reference)
            } catch {
                findings.append(substitution.finding(error))
                return nil
            }
        }
        let prepared = Self.prepared(order.candidates, substitutions, contents)
        for (index, candidate) in order.candidates.enumerated() {
            guard let contents = contents[index] else { continue }
            guard let (url, response) = prepared[index] else {
                // Not known to happen: the URL was parsed and the headers were checked before.
                let problem = FileProblem.unreadable("Foundation makes no response of its URL and headers")
                findings.append(substitutions[candidate.substitution].finding(problem))
                continue
            }
            let row = Row(substitutions, candidate.substitution, contents, response)
            rows.append(row)
            let isUnchanged = url == candidate.target.spelling
            let identity = isUnchanged ? candidate.target.identity : try? URLIdentity(url)
            // The text that the candidate has already, not another copy of it.
            let spelling = isUnchanged ? candidate.target.spelling : url
            if let identity, order.first(matching: identity) == index { spellings[spelling] = row }
        }
        guard findings.isEmpty else { throw ManifestError(manifest.source.issues(findings)) }
        self.rows = rows
        self.spellings = spellings
        hosts = HostFilter(order.candidates.map(\.target.identity))
    }

    /// For each candidate its URL as Foundation spells it, and its response; nil where Foundation makes none.
    ///
    /// Most of the time of a load is spent here, inside Foundation, so every processor takes part.
    private static func prepared(
        _ candidates: [MatchOrder.Candidate],
        _ substitutions: [Substitution],
        _ contents: [FileContents?]
    ) -> [(url: String, response: CachedURLResponse)?] {
        let chunk = 64
        return Array(unsafeUninitializedCapacity: candidates.count) { buffer, count in
            buffer.initialize(repeating: nil)
            count = candidates.count
            // Each part of it is touched by one thread.
            nonisolated(unsafe) let buffer = buffer
            DispatchQueue.concurrentPerform(iterations: (candidates.count + chunk - 1) / chunk) { number in
                for index in number * chunk..<min((number + 1) * chunk, candidates.count) {
                    let candidate = candidates[index]
                    guard let contents = contents[index], let url = URL(string: candidate.target.spelling),
                        let response = substitutions[candidate.substitution].response(with: contents, for: url)
                    else { continue }
                    buffer[index] = (url.absoluteString, response)
                }
            }
        }
    }

    /// The row that stands in for the URL of a GET or HEAD, or nil.
    func match(_ request: URLRequest) -> Match? {
        guard let url = request.url, var match = match(url) else { return nil }
        // `httpMethod` is case-sensitive (RFC 9110 §9.1).
        switch request.httpMethod {
        case "GET": return match
        case "HEAD":
            match.isHead = true
            return match
        default: return nil
        }
    }

    /// The row that stands in for `url`, or nil.
    ///
    /// Cost: one look-up for a URL that is spelled as in the manifest. For others a second one in the names of hosts;
    /// and when the manifest names the host, the URL is normalised and looked up once more.
    func match(_ url: URL) -> Match? {
        let spelling = url.absoluteString
        if let row = spellings[spelling] { return Match(row: row, isExact: true) }
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

extension Substitution {
    /// What became wrong with the file.
    fileprivate func finding(_ problem: FileProblem) -> Finding {
        Finding(offset: fileOffset, severity: .error, code: problem.code, message: problem.reason(for: file))
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
        match(request)?.response(to: request)?.response as? HTTPURLResponse
    }
}
