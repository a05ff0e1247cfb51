import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What answers one load in the place of the network, which is asked first.
struct Fallback {
    private var row: SubstitutionTable.Row
    /// The request that picked the row.
    private var request: URLRequest

    init(_ row: SubstitutionTable.Row, _ request: URLRequest) {
        self.row = row
        self.request = request
    }

    /// Whether a status can decide, and not only the lack of a connection.
    var dependsOnStatus: Bool { row.substitution.conditions.contains { $0 != .offline } }

    /// What answers after `outcome`; nil when the network's answer stands.
    func answer(after outcome: Outcome) -> CachedURLResponse? {
        guard row.substitution.conditions.contains(where: { $0.holds(after: outcome) }) else { return nil }
        return row.substitution.fallback(with: row.contents, for: request, after: outcome)
    }

    /// What answers the URL that a redirect leads to; nil when the network is to be asked there too.
    ///
    /// Where an entry with conditions names that URL, it decides from then on.
    mutating func answer(redirectedTo next: URLRequest) -> CachedURLResponse? {
        switch LocalSubstitutionCache.current?.service(for: next) {
        case .answer(let match): return match.response(to: next)
        case .fallback(let other): self = other
        case nil: break
        }
        return nil
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
