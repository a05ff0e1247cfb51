import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What answers one load instead of the network, which is asked first.
struct Fallback {
    private enum Source {
        /// The file of an entry with conditions.
        case file(SubstitutionTable.Row)
        /// The last good copy; the number is the archive's moment when the load began.
        case copy(OfflineArchive, since: Int)
    }

    private var source: Source
    /// The request that the source is for.
    private var request: URLRequest

    init(_ row: SubstitutionTable.Row, _ request: URLRequest) {
        source = .file(row)
        self.request = request
    }

    init(_ archive: OfflineArchive, _ request: URLRequest) {
        source = .copy(archive, since: archive.begin(request))
        self.request = request
    }

    /// Whether a status can decide, and not only the lack of a connection.
    var dependsOnStatus: Bool {
        guard case .file(let row) = source else { return false }
        return row.substitution.conditions.contains { $0 != .offline }
    }

    /// How many bytes of a body are worth being collected, because a copy of the whole may be kept.
    var collectedLength: Int {
        guard case .copy(let archive, _) = source else { return 0 }
        return archive.capacity
    }

    /// What answers after `outcome`; nil when the network's answer stands.
    func answer(after outcome: Outcome) -> CachedURLResponse? {
        switch source {
        case .file(let row):
            guard row.substitution.conditions.contains(where: { $0.holds(after: outcome) }) else { return nil }
            return row.substitution.fallback(with: row.contents, for: request, after: outcome)
        case .copy(let archive, _):
            guard outcome == .offline, let copy = archive.answer(to: request) else { return nil }
            // Nor over an entry for where it came from.
            let isNamed =
                copy.response.url.map { Installation.current?.cache.match(URLRequest(url: $0)) != nil } ?? false
            return isNamed ? nil : copy
        }
    }

    /// What answers the URL that a redirect leads to; nil when the network is to be asked there too.
    ///
    /// Where an entry with conditions names that URL, it decides from then on.
    mutating func answer(redirectedTo next: URLRequest) -> CachedURLResponse? {
        switch Installation.current?.service(for: next) {
        case .answer(let match): return match.response(to: next)
        case .fallback(let row): self = Fallback(row, next)
        // A copy is one of the whole way.
        case .archive, nil: break
        }
        return nil
    }

    /// Keeps the network's answer, if that is wanted.
    ///
    /// - Parameters:
    ///   - response: The head.
    ///   - body: The whole body.
    ///   - last: What was asked for at the end of all redirects, which may have cookies that the first had not.
    func keep(_ response: URLResponse, _ body: Data, after last: URLRequest?) {
        guard case .copy(let archive, let moment) = source, let last, archive.accepts(last) else { return }
        archive.keep(response, body, for: request, since: moment)
    }
}

extension Outcome {
    /// No connection, if that is what the error means; nil for every other error.
    ///
    /// A load that was cancelled, a certificate that is not trusted and an answer that cannot be read are none: there the
    /// server, or the app, has decided.
    init?(_ error: any Error) {
        guard let error = error as? URLError, Self.offlineCodes.contains(error.code) else { return nil }
        self = .offline
    }

    private static let offlineCodes: Set<URLError.Code> = [
        .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost,
        .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ]
}
