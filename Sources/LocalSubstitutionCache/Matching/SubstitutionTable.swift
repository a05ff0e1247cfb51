import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Everything a manifest substitutes, ready to be delivered: URL identity → response. Immutable, but for the moment at
/// which each response is built.
///
/// A request can only pick a row of this table; it never becomes a path.
// CachedURLResponse is immutable, but Foundation on Linux does not declare it Sendable.
package final class SubstitutionTable: @unchecked Sendable {
    /// One URL and what answers it.
    ///
    /// A class, so that a look-up retains one reference and not every string of a substitution.
    final class Row {
        let representation: Representation
        /// The URL as Foundation spells it.
        private let spelling: String
        /// The answer to a GET spelled as in the manifest, once it is built; where the network is asked first, it lacks
        /// the field that tells what the network answered.
        ///
        /// Written inside ``building``, and read outside it only when all responses of the table are built.
        fileprivate private(set) var response: CachedURLResponse?
        /// Held for a look at one reference, or its change.
        private static let building = NSLock()
        /// The file's path below the manifest's folder.
        let file: String
        /// When the file answers instead of the network; empty when it always does.
        let conditions: [Substitution.Condition]
        /// Whether the network is asked first.
        let isConditional: Bool

        init(_ representation: Representation, _ spelling: String) {
            self.representation = representation
            self.spelling = spelling
            (file, conditions) = (representation.substitution.file, representation.substitution.conditions)
            isConditional = !conditions.isEmpty
        }

        var substitution: Substitution { representation.substitution }

        /// Builds the response unless it is there.
        ///
        /// - Returns: The same instance each time, from whichever thread; nil when Foundation builds none, which is not
        ///   known to happen: URL and headers were checked before.
        func prepare() -> CachedURLResponse? {
            if let response = Self.building.withLock({ response }) { return response }
            let built = URL(string: spelling).flatMap(representation.whole)
            return Self.building.withLock {
                response = response ?? built
                return response
            }
        }
    }

    /// A row and how the request picked it.
    struct Match {
        let row: Row
        /// Whether the request is spelled as in the manifest.
        let isExact: Bool
        /// True when every response of the table is built, so that none is written any more.
        let isPrepared: Bool
        /// Whether only the head is asked for.
        var isHead = false
        /// Whether a part may be asked for.
        var hasRange = false

        private var prepared: CachedURLResponse? { isPrepared ? row.response : row.prepare() }

        /// The answer to the request that picked the row.
        func response(to request: URLRequest) -> CachedURLResponse? {
            if isExact, !isHead, !hasRange { return prepared }
            guard let url = request.url else { return nil }
            if isHead { return row.representation.head(for: url) }
            if hasRange, let part = row.representation.part(for: request, url: url) { return part }
            return isExact ? prepared : row.representation.whole(for: url)
        }

        /// The answer to the request after the network was asked; nil when no condition holds.
        ///
        /// Always the whole: a range might be joined to what the network sent before.
        func response(to request: URLRequest, after outcome: Outcome) -> CachedURLResponse? {
            guard row.conditions.contains(where: outcome.fulfils), let url = request.url, let prepared,
                let head = prepared.response as? HTTPURLResponse, var fields = head.allHeaderFields as? [String: String]
            else { return nil }
            fields["Cache-Status"] = CacheStatus.forwarded(status: outcome.status, detail: row.file)
            return HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields).map {
                CachedURLResponse(response: $0, data: isHead ? Data() : prepared.data)
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

    /// Makes a row of every substitution, whose response is built later.
    ///
    /// - Parameters:
    ///   - manifest: What is substituted.
    ///   - contents: The bytes of each of its substitutions.
    /// - Throws: ``ManifestError`` when Foundation makes no URL of a key, which is not known to happen: it was checked
    ///   before.
    init(_ manifest: ResolvedManifest, _ contents: [FileContents]) throws(ManifestError) {
        substitutions = manifest.substitutions
        expired = manifest.expired
        manifestName = manifest.source.name
        order = MatchOrder(substitutions)
        var rows: [Row] = []
        rows.reserveCapacity(order.candidates.count)
        var spellings: [String: Row] = [:]
        spellings.reserveCapacity(order.candidates.count)
        var findings: [Finding] = []
        for (index, candidate) in order.candidates.enumerated() {
            let target = candidate.target
            let substitution = substitutions[candidate.substitution]
            guard let spelling = Self.spelling(of: target) else {
                let problem = FileProblem.unreadable("Foundation makes no URL of its key")
                findings.append(Finding(problem, with: substitution.file, at: substitution.fileOffset))
                continue
            }
            let representation = Representation(substitutions, candidate.substitution, contents[candidate.substitution])
            let row = Row(representation, spelling)
            rows.append(row)
            let identity = spelling == target.spelling ? target.identity : try? URLIdentity(spelling)
            if let identity, order.first(matching: identity) == index { spellings[spelling] = row }
        }
        guard findings.isEmpty else { throw ManifestError(manifest.source.issues(findings)) }
        self.rows = rows
        self.spellings = spellings
        hosts = HostFilter(order.candidates.map(\.target.identity))
    }

    /// The URL as Foundation spells it: the text that the target has already, where these are the same.
    private static func spelling(of target: URLPattern.Target) -> String? {
        let identity = target.identity
        // Foundation leaves a URL as it is that is in normal form.
        if identity.query == nil, identity.base == target.spelling { return target.spelling }
        guard let spelling = URL(string: target.spelling)?.absoluteString else { return nil }
        return spelling == target.spelling ? target.spelling : spelling
    }

    /// The number of rows.
    var count: Int { rows.count }

    /// Builds the responses of some rows.
    func prepare(_ range: Range<Int>) {
        for row in rows[range] { _ = row.prepare() }
    }

    /// The row that stands in for `url`, or nil.
    ///
    /// Cost: one look-up for a URL that is spelled as in the manifest. For others a second one in the names of hosts;
    /// and when the manifest names the host, the URL is normalised and looked up once more.
    func match(_ url: URL, isPrepared: Bool = false) -> Match? {
        let spelling = url.absoluteString
        if let row = spellings[spelling] { return Match(row: row, isExact: true, isPrepared: isPrepared) }
        guard hosts.mayContain(hostOf: spelling), let identity = try? URLIdentity(spelling),
            let index = order.first(matching: identity)
        else { return nil }
        return Match(row: rows[index], isExact: false, isPrepared: isPrepared)
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
