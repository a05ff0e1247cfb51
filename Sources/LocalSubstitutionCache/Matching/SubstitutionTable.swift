package import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// All substitutions of a manifest, ready to be delivered: a map from URL identities to responses.
///
/// The table does not change after its creation, with one exception: some parts, such as the responses, are added
/// later. Once added, a part does not change.
///
/// A request can only select a row of this table. The request's URL never becomes a file path.
package final class SubstitutionTable: Sendable {
    /// A row, and the way in which a request matches it.
    package struct Match {
        package let row: Row
        /// True if the request's URL is spelled as in the manifest.
        let isExact: Bool
        /// True for a HEAD request.
        var isHead = false
        /// True if the request has a `Range` field.
        var hasRange = false

        /// Returns the response to a request that matches the row.
        package func response(to request: URLRequest) -> CachedURLResponse? {
            if isExact, !isHead, !hasRange { return row.prepare() }
            guard let url = request.url else { return nil }
            // A HEAD ignores `Range` (RFC 9110 §14.2). For a range that cannot be satisfied, the whole file is sent,
            // which RFC 9110 §14.2 always allows.
            if hasRange, !isHead, case .part(let range) = row.range(of: request) {
                return row.part(range).response(for: url)
            }
            return isExact && !isHead ? row.prepare() : row.whole(isHead: isHead).response(for: url)
        }

        /// The shortest time within which the network must send a head, in seconds; nil if the entry names none.
        package var patience: Int? {
            row.substitution.conditions.compactMap { if case .silence(let seconds) = $0 { seconds } else { nil } }.min()
        }

        /// Returns the response to the request after the network was queried; nil if no condition holds.
        ///
        /// `Range` is ignored, because the client might append a byte range to bytes from the network.
        package func response(to request: URLRequest, after outcome: NetworkOutcome) -> CachedURLResponse? {
            guard row.substitution.conditions.contains(where: { $0.holds(after: outcome) }), let url = request.url
            else { return nil }
            var answer = row.whole(isHead: isHead)
            answer.fields["Cache-Status"] = CacheStatus.forwarded(outcome, detail: row.substitution.path)
            return answer.response(for: url)
        }
    }

    package let substitutions: [Substitution]
    package let expired: [Substitution]
    /// The name of the manifest in messages.
    package let manifestName: String
    /// The `$version` of the manifest; 0 if it has none.
    let version: Int64
    /// The reason why this table was chosen in place of the newer folder's; nil if there is none.
    let newerFolderError: ManifestError?
    package let order: MatchOrder
    /// The rows; each has the same index as its candidate in `order`.
    let rows: [Row]
    /// An object that an extension of the library keeps with the table, such as an index.
    private let companion = Locked<(any AnyObject & Sendable)?>(nil)

    /// Creates a row for every URL of the substitutions; the row's response is built later.
    ///
    /// - Parameters:
    ///   - manifest: The substitutions.
    ///   - contents: The bytes of each substitution, in the same order.
    ///   - newerFolderError: The error of a newer folder in whose place the manifest was chosen.
    init(_ manifest: ResolvedManifest, _ contents: [FileContents], newerFolderError: ManifestError? = nil) {
        substitutions = manifest.substitutions
        expired = manifest.expired
        (manifestName, version, self.newerFolderError) = (manifest.source.name, manifest.version, newerFolderError)
        var order = MatchOrder(substitutions)
        var rows: [Row] = []
        rows.reserveCapacity(order.candidates.count)
        for (index, candidate) in order.candidates.enumerated() {
            let spelling = Self.spelling(of: candidate.target)
            rows.append(Row(substitutions, candidate.substitution, contents[candidate.substitution], spelling))
            order.add(spelling: spelling, of: index)
        }
        (self.order, self.rows) = (order, rows)
    }

    /// Resolves a manifest, reads its files, and creates the table; the responses are built later.
    ///
    /// - Parameters:
    ///   - manifest: The manifest.
    ///   - folder: The folder to which the paths in the manifest are relative.
    ///   - reading: The way to bring the files into memory.
    ///   - date: The date to compare `until` with.
    /// - Throws: ``ManifestError`` with every error of the manifest and its files.
    package convenience init(
        _ manifest: SubstitutionManifest,
        folder: URL,
        reading: ReadingMode = .mapped,
        on date: Date = Date()
    ) throws(ManifestError) {
        let resolved = try manifest.resolved(in: folder, on: date)
        self.init(resolved, try resolved.contents(reading))
    }

    /// Returns the target's URL as Foundation spells it.
    ///
    /// If Foundation's spelling equals the target's, the target's own string is returned, so that no copy takes memory.
    /// So it is if Foundation cannot create the URL; then no request spells the URL in this way.
    private static func spelling(of target: URLPattern.Target) -> String {
        // Foundation does not change a URL in normal form.
        let isNormal = target.identity.query == nil && target.identity.base == target.spelling
        guard !isNormal, let spelling = URL(string: target.spelling)?.absoluteString, spelling != target.spelling else {
            return target.spelling
        }
        return spelling
    }

    /// Returns the row that answers for `url`; nil if there is none.
    ///
    /// Cost: one lookup for a URL that is spelled as in the manifest. Any other URL is normalised, and then looked up
    /// in ``MatchOrder``.
    func match(_ url: URL) -> Match? {
        guard let (index, isSpelling) = order.first(matching: url.absoluteString) else { return nil }
        return Match(row: rows[index], isExact: isSpelling)
    }

    /// Returns the object of a type that is kept with the table, and creates it at the first call.
    ///
    /// Two threads may both create one; both then get the same.
    package func companion<Object: AnyObject & Sendable>(_ create: () -> Object) -> Object {
        if let known = companion.value as? Object { return known }
        let object = create()
        return companion.withLock { companion in
            if let known = companion as? Object { return known }
            companion = object
            return object
        }
    }
}

extension ManifestSource {
    /// Reads the manifest and its files in their current state, or those of the newer folder.
    func load() throws(ManifestError) -> SubstitutionTable {
        let own = try manifest().resolved(in: folder)
        var problem: ManifestError?
        if let newer, !newer.folder.isFileURL || access(newer.folder.path, F_OK) == 0 || errno != ENOENT {
            do throws(ManifestError) {
                let candidate = ManifestSource(candidate: newer.folder, reading: newer.reading)
                if let table = try candidate.table(above: own.version) { return table }
            } catch {
                problem = error
            }
        }
        return SubstitutionTable(own, try own.contents(reading), newerFolderError: problem)
    }

    /// Reads a folder that did not come with the app; nil if its `$version` is not higher than `version`.
    ///
    /// Such a folder must not take the memory that a launch needs, so its manifest and all copies have a maximum size.
    ///
    /// - Throws: ``ManifestError`` also for what ``ResolvedManifest/check(_:)`` finds.
    func table(above version: Int64) throws(ManifestError) -> SubstitutionTable? {
        let manifest = try manifest(maximumSize: 16_000_000)
        guard manifest.version > version || !manifest.findings.isEmpty else { return nil }
        let resolved = try manifest.resolved(in: folder)
        let contents = try resolved.contents(reading, LoadBudget())
        try resolved.check(contents)
        return SubstitutionTable(resolved, contents)
    }
}
