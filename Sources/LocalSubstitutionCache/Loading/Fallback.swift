// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// The file or archived copy that may replace the network's response to one load.
///
/// The request is always sent to the network first.
// Responses are immutable, but Foundation on Linux does not declare CachedURLResponse Sendable.
package struct Fallback: @unchecked Sendable {
    /// The file that may answer; nil if the last good copy in an archive may.
    private var match: SubstitutionTable.Match?
    /// The load as an archive sees it; nil if no archive may keep the response.
    private(set) var archived: (any ArchivedLoad)?
    /// The request that the file would answer.
    private var request: URLRequest
    /// The cache in which the target of a redirect is looked up.
    private let cache: SubstitutionCache
    /// The fields that the session adds to its requests; nil if it is not known.
    private let fields: SessionFields?
    /// The number of entries that the load has been redirected to.
    private(set) var redirects = 0

    /// A response, and the substitution whose file it is; nil for an archived copy.
    package typealias Answer = (response: CachedURLResponse, substitution: Substitution?)

    /// Creates the fallback of a load that begins.
    package init(
        for request: URLRequest,
        _ decision: Decision,
        _ cache: SubstitutionCache,
        _ archive: (any ResponseArchive)?,
        _ fields: SessionFields?
    ) {
        (self.request, self.cache, self.fields, match) = (request, cache, fields, decision.networkFirst)
        if let sent = fields?.added(to: request), let archive = archive?.keeping(request, decision),
            archive.accepts(sent)
        {
            archived = archive.begin(sent, version: cache.currentTable.version)
        }
    }

    /// True if neither a file nor an archived copy can answer, unless the load is redirected.
    var isEmpty: Bool { match == nil && archived == nil }

    /// The time after which the file answers if the network has sent no head, in seconds; nil if it never does.
    var patience: Int? { match?.patience }

    /// Returns the file's response or the archived one, which replaces the network's; nil if none does.
    ///
    /// If both could, the newer one does.
    func answer(after outcome: NetworkOutcome) -> Answer? {
        let file = match?.response(to: request, after: outcome).map { ($0, match?.row.substitution) }
        switch outcome {
        case .silence where file == nil, .status: return file
        case .silence, .offline: return copy(after: outcome).map { ($0, nil) } ?? file
        }
    }

    /// Returns the archived copy, unless the manifest has something newer.
    private func copy(after outcome: NetworkOutcome) -> CachedURLResponse? {
        guard let copy = archived?.copy(after: outcome), let url = copy.response.response.url else { return nil }
        // If another entry names the URL from which the copy was loaded, the manifest wins over the archive. A reload
        // during the load makes another row for the same URL.
        switch cache.decision(on: URLRequest(url: url)) {
        case .unnamed: break
        case .networkFirst(let to) where match.map { $0.row.substitution.url == to.row.substitution.url } == true: break
        case .networkFirst, .file, .leftAlone: return nil
        }
        guard let match else { return copy.response }
        let isOfVersion = copy.version >= cache.currentTable.version
        return isOfVersion && copy.date > match.row.contents.identity.date ? copy.response : nil
    }

    /// Returns a file's response to the target of a redirect; nil if the target must be loaded from the network.
    ///
    /// If a network-first entry names the target, that entry's file becomes the fallback. An archived copy replaces the
    /// whole chain of redirects, not a single step.
    mutating func answer(redirectedTo next: URLRequest, by response: HTTPURLResponse?) -> Answer? {
        if let archived { archived.redirect(response, to: fields?.added(to: next) ?? next) }
        let decision = cache.decision(on: next)
        if let match = decision.networkFirst ?? decision.file {
            (self.match, archived, request) = (match, nil, next)
            redirects += 1
        }
        return decision.file?.response(to: next).map { ($0, match?.row.substitution) }
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
        let codes: [URLError.Code] = [
            .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost,
            .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed,
        ]
        // On Linux, an `NSError` does not become a `URLError`.
        let error = self as NSError
        return error.domain == NSURLErrorDomain && codes.contains { $0.rawValue == error.code }
    }
}
