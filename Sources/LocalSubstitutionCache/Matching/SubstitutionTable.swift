import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Everything a manifest substitutes, ready to be delivered: URL identity → prepared response. Immutable.
///
/// A request can only pick a row of this table; it never becomes a path.
// CachedURLResponse is immutable, but Foundation on Linux does not declare it Sendable.
package final class SubstitutionTable: @unchecked Sendable {
    /// One URL and what answers it.
    ///
    /// A class, so that a look-up retains one reference and not every string of a substitution.
    final class Row {
        let representation: Representation
        /// The answer to a GET spelled as in the manifest; where the network is asked first, it lacks the field
        /// that tells what the network answered.
        let prepared: CachedURLResponse
        /// The file's path below the manifest's folder.
        let file: String
        /// When the file answers instead of the network; empty when it always does.
        let conditions: [Substitution.Condition]
        /// Whether the network is asked first.
        let isConditional: Bool

        init(_ representation: Representation, _ prepared: CachedURLResponse) {
            self.representation = representation
            self.prepared = prepared
            (file, conditions) = (representation.substitution.file, representation.substitution.conditions)
            isConditional = !conditions.isEmpty
        }

        var substitution: Substitution { representation.substitution }
    }

    /// A row and how the request picked it.
    struct Match {
        let row: Row
        /// Whether the request is spelled as in the manifest.
        let isExact: Bool
        /// Whether only the head is asked for.
        var isHead = false
        /// Whether a part may be asked for.
        var hasRange = false

        /// The answer to the request that picked the row.
        func response(to request: URLRequest) -> CachedURLResponse? {
            if isExact, !isHead, !hasRange { return row.prepared }
            guard let url = request.url else { return nil }
            if isHead { return row.representation.head(for: url) }
            if hasRange, let part = row.representation.part(for: request, url: url) { return part }
            return isExact ? row.prepared : row.representation.whole(for: url)
        }

        /// The answer to the request after the network was asked, which `cacheStatus` tells.
        ///
        /// Always the whole: a range might be joined to what the network sent before.
        func response(to request: URLRequest, cacheStatus: String) -> CachedURLResponse? {
            guard let url = request.url, let head = row.prepared.response as? HTTPURLResponse,
                var fields = head.allHeaderFields as? [String: String]
            else { return nil }
            fields["Cache-Status"] = cacheStatus
            return HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields).map {
                CachedURLResponse(response: $0, data: isHead ? Data() : row.prepared.data)
            }
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

    /// Prepares the response of every substitution.
    ///
    /// - Parameters:
    ///   - manifest: What is substituted.
    ///   - contents: The bytes of each of its substitutions.
    /// - Throws: ``ManifestError`` when Foundation makes no response of a URL and its headers, which is not known to
    ///   happen: both were checked before.
    init(_ manifest: ResolvedManifest, _ contents: [FileContents]) throws(ManifestError) {
        substitutions = manifest.substitutions
        expired = manifest.expired
        manifestName = manifest.source.name
        order = MatchOrder(substitutions)
        let representations = order.candidates.map { [substitutions] candidate in
            Representation(substitutions, candidate.substitution, contents[candidate.substitution])
        }
        let prepared = Self.prepared(order.candidates, representations)
        var rows: [Row] = []
        rows.reserveCapacity(order.candidates.count)
        var spellings: [String: Row] = [:]
        spellings.reserveCapacity(order.candidates.count)
        var findings: [Finding] = []
        for (index, candidate) in order.candidates.enumerated() {
            guard let (url, response) = prepared[index] else {
                let substitution = substitutions[candidate.substitution]
                let problem = FileProblem.unreadable("Foundation makes no response of its URL and headers")
                findings.append(Finding(problem, with: substitution.file, at: substitution.fileOffset))
                continue
            }
            let row = Row(representations[index], response)
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
        _ representations: [Representation]
    ) -> [(url: String, response: CachedURLResponse)?] {
        let chunk = 64
        return Array(unsafeUninitializedCapacity: candidates.count) { buffer, count in
            buffer.initialize(repeating: nil)
            count = candidates.count
            // Each element is touched by one thread only.
            nonisolated(unsafe) let buffer = buffer
            DispatchQueue.concurrentPerform(iterations: (candidates.count + chunk - 1) / chunk) { number in
                for index in number * chunk..<min((number + 1) * chunk, candidates.count) {
                    guard let url = URL(string: candidates[index].target.spelling),
                        let response = representations[index].whole(for: url)
                    else { continue }
                    buffer[index] = (url.absoluteString, response)
                }
            }
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
        nearestEntries().nearest(to: identity).map { candidate, differences in
            Explanation.Neighbour(substitution: substitutions[candidate.substitution], differences: differences)
        }
    }

    /// A file of the mapped folder in which `identity` would lie, and the path that this folder lacks.
    ///
    /// Cost: the first call indexes the table.
    func folder(above identity: URLIdentity) -> (file: Substitution, missing: String)? {
        nearestEntries().folder(above: identity).map { (substitutions[$0.substitution], $1) }
    }

    private func nearestEntries() -> NearestIndex {
        nearestLock.lock()
        defer { nearestLock.unlock() }
        let index = nearestIndex ?? NearestIndex(order, substitutions)
        nearestIndex = index
        return index
    }
}
