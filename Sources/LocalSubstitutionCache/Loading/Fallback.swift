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
    /// The file that may answer; nil if the last good copy in an archive may.
    private var match: SubstitutionTable.Match?
    /// The substitution of this file.
    var substitution: Substitution? { match?.row.substitution }
    /// The load as an archive sees it; nil if no archive may keep the response.
    private(set) var archived: (any ArchivedLoad)?
    /// The request that the file would answer.
    private var request: URLRequest
    /// The cache in which the target of a redirect is looked up.
    private let cache: LocalSubstitutionCache

    /// Creates the fallback of a load that begins; nil if neither a file nor an archived copy can answer.
    init?(for request: URLRequest, _ decision: Decision, _ installation: Installation) {
        (self.request, cache, match) = (request, installation.cache, decision.networkFirst)
        if case .unnamed = decision { archived = installation.archive(for: request)?.begin(request) }
        if match == nil, archived == nil { return nil }
    }

    /// The time after which the file answers if the network has sent no head, in seconds; nil if it never does.
    var patience: Int? { match?.patience }

    /// Returns the file's response or the archived one, which replaces the network's; nil if none does.
    func answer(after outcome: NetworkOutcome) -> CachedURLResponse? {
        if let match { return match.response(to: request, after: outcome) }
        // If the manifest names the URL from which the copy was loaded, the manifest wins over the archive.
        guard case .offline = outcome, let copy = archived?.copy, let url = copy.response.url,
            case .unnamed = cache.decision(on: URLRequest(url: url))
        else { return nil }
        return copy
    }

    /// Reads the archived copy that may answer after `error`, on a queue of the archive.
    ///
    /// So the thread on which URL loading calls protocols does not wait for the file. On Linux nothing can return to
    /// that thread, so there ``answer(after:)`` reads the copy.
    ///
    /// - Parameters:
    ///   - error: The network's error.
    ///   - body: Called on that queue.
    /// - Returns: False if there is nothing to read; then `body` is not called.
    func readCopy(after error: (any Error)?, then body: @escaping @Sendable () -> Void) -> Bool {
        error?.meansOffline == true && archived?.readCopy(then: body) ?? false
    }

    /// Returns a file's response to the target of a redirect; nil if the target must be loaded from the network.
    ///
    /// If a network-first entry names the target, that entry's file becomes the fallback. An archived copy replaces the
    /// whole chain of redirects, not a single step.
    mutating func answer(redirectedTo next: URLRequest) -> CachedURLResponse? {
        let decision = cache.decision(on: next)
        if let match = decision.networkFirst ?? decision.file { (self.match, archived, request) = (match, nil, next) }
        return decision.file?.response(to: next)
    }
}

extension URLResponse {
    /// The status that the server sent; 0, which fulfils no condition, if this is not an HTTP response.
    var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }
}

extension Error {
    /// True if the error means that there is no connection, or that it broke.
    ///
    /// False after an untrusted certificate or an unreadable response, because the server did answer. Also false after
    /// a cancellation, because the app itself ended the load.
    package var meansOffline: Bool {
        switch (self as? URLError)?.code {
        case .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost,
            .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
            true
        default: false
        }
    }
}
