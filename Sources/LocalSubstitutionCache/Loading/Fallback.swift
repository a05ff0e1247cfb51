import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The file or archived copy that may replace the network's response to one load.
///
/// The request is always sent to the network first.
// Responses are immutable, but Foundation on Linux does not declare CachedURLResponse Sendable.
struct Fallback: @unchecked Sendable {
    enum Source {
        /// The file of a network-first entry.
        case file(SubstitutionTable.Match)
        /// The last good copy in an archive, which is not read yet.
        case copy(OfflineArchive)
        /// The last good copy, unless it was removed since a moment; nil if there is none.
        case readCopy(CachedURLResponse?, of: OfflineArchive, since: Int)

        /// True if the network's response matters: the source may replace or keep that response.
        ///
        /// False if the source only answers without a connection.
        var dependsOnResponse: Bool {
            switch self {
            case .file(let match): match.row.conditions.contains { $0 != .offline }
            case .copy, .readCopy: true
            }
        }
    }

    private var source: Source
    /// The request that the source would answer.
    private var request: URLRequest
    /// The moment at which the load counts as begun, as a count of removals: see ``RemovalLog``.
    private let moment: Int
    /// The cache and archive in which the target of a redirect is looked up.
    private let installation: Installation

    init(_ source: Source, for request: URLRequest, since moment: Int, _ installation: Installation) {
        (self.source, self.request, self.moment, self.installation) = (source, request, moment, installation)
    }

    /// Returns the response that replaces `outcome`, the network's status or error; nil if none does.
    func answer(after outcome: Outcome) -> CachedURLResponse? {
        switch source {
        case .file(let match): return match.response(to: request, after: outcome)
        case .copy(let archive):
            return outcome == .offline ? copy(in: archive) : nil
        case .readCopy(let copy, let archive, let moment):
            return outcome == .offline && archive.allowsCopies(since: moment) ? copy : nil
        }
    }

    private func copy(in archive: OfflineArchive) -> CachedURLResponse? {
        // If the manifest names the URL from which the copy was loaded, the manifest wins over the archive.
        guard let copy = archive.answer(to: request), let url = copy.response.url,
            case .unnamed = installation.cache.verdict(on: URLRequest(url: url))
        else { return nil }
        return copy
    }

    /// Reads the archived copy that may answer after `error`, on a queue of the archive.
    ///
    /// URL loading must not wait for a large file: on Linux, all loads of the process would wait.
    ///
    /// - Parameters:
    ///   - error: The network's error.
    ///   - body: Called on that queue with the fallback that has read its copy.
    /// - Returns: False if there is nothing to read; then `body` is not called.
    func readCopy(after error: (any Error)?, then body: @escaping @Sendable (Fallback) -> Void) -> Bool {
        guard case .copy(let archive) = source, error.flatMap({ Outcome($0) }) == .offline else { return false }
        archive.readingQueue.async {
            var read = self
            let moment = archive.lastRemoval
            read.source = .readCopy(read.copy(in: archive), of: archive, since: moment)
            body(read)
        }
        return true
    }

    /// Returns a file's response to the target of a redirect; nil if the target must be loaded from the network.
    ///
    /// If a network-first entry names the target, that entry's file becomes the fallback.
    mutating func answer(redirectedTo next: URLRequest) -> CachedURLResponse? {
        switch installation.handling(for: next) {
        case .file(let match): return match.response(to: next)
        case .networkFirst(.file(let match)): (source, request) = (.file(match), next)
        // An archived copy replaces the whole chain of redirects, not a single step.
        case .networkFirst(.copy), .networkFirst(.readCopy), nil: break
        }
        return nil
    }

    /// Returns an object that collects the response for the archive; nil without an archive or an HTTP response.
    func incoming(_ response: URLResponse?) -> IncomingCopy? {
        guard case .copy(let archive) = source, let response = response as? HTTPURLResponse else { return nil }
        return IncomingCopy(response, to: request, since: moment, for: archive)
    }

    /// Counts a response that the archive cannot keep, because this library will not see it.
    func countUnseenResponse() {
        if case .copy(let archive) = source { archive.recordRefusal(.unseen) }
    }
}
