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
        /// The last good copy in an archive.
        case copy(any ArchivedLoad)
    }

    private var source: Source
    /// The request that the source would answer.
    private var request: URLRequest
    /// The cache and archive in which the target of a redirect is looked up.
    private let installation: Installation

    init(_ source: Source, for request: URLRequest, _ installation: Installation) {
        (self.source, self.request, self.installation) = (source, request, installation)
    }

    /// The load as an archive sees it; nil if no archive may keep the response.
    var archived: (any ArchivedLoad)? { if case .copy(let load) = source { load } else { nil } }

    /// Returns the response that replaces `outcome`, the network's status or error; nil if none does.
    func answer(after outcome: Outcome) -> CachedURLResponse? {
        switch source {
        case .file(let match): return match.response(to: request, after: outcome)
        case .copy(let load):
            // If the manifest names the URL from which the copy was loaded, the manifest wins over the archive.
            guard outcome == .offline, let copy = load.copy, let url = copy.response.url,
                case .unnamed = installation.cache.verdict(on: URLRequest(url: url))
            else { return nil }
            return copy
        }
    }

    /// Reads the archived copy that may answer after `error`, on a queue of the archive.
    ///
    /// URL loading must not wait for a large file: on Linux, all loads of the process would wait.
    ///
    /// - Parameters:
    ///   - error: The network's error.
    ///   - body: Called on that queue.
    /// - Returns: False if there is nothing to read; then `body` is not called.
    func readCopy(after error: (any Error)?, then body: @escaping @Sendable () -> Void) -> Bool {
        error.flatMap { Outcome($0) } == .offline && archived?.readCopy(then: body) ?? false
    }

    /// Returns a file's response to the target of a redirect; nil if the target must be loaded from the network.
    ///
    /// If a network-first entry names the target, that entry's file becomes the fallback.
    mutating func answer(redirectedTo next: URLRequest) -> CachedURLResponse? {
        switch installation.handling(for: next) {
        case .file(let match): return match.response(to: next)
        case .networkFirst(let match): (source, request) = (.file(match), next)
        // An archived copy replaces the whole chain of redirects, not a single step.
        case .archived, nil: break
        }
        return nil
    }
}
