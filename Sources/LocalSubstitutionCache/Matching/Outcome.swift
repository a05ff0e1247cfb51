import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What became of a request on the network, as far as a condition can ask.
enum Outcome: Hashable, Sendable {
    /// There was no connection, or it broke.
    case offline
    /// The server answered with this status.
    case status(Int)

    /// No connection, if that is what the error means; nil for every other error.
    ///
    /// A cancelled load, an untrusted certificate and an unreadable answer do not mean that there is no connection:
    /// in these cases the server, or the app, has decided.
    init?(_ error: any Error) {
        guard let error = error as? URLError, Self.offlineCodes.contains(error.code) else { return nil }
        self = .offline
    }

    private static let offlineCodes: Set<URLError.Code> = [
        .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost,
        .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ]

    /// The status of an answer; nil for one without.
    init?(_ response: URLResponse?) {
        guard let response = response as? HTTPURLResponse else { return nil }
        self = .status(response.statusCode)
    }

    /// What the server answered; nil when there was no connection.
    var status: Int? {
        if case .status(let status) = self { status } else { nil }
    }

    /// Whether a condition holds after this.
    func fulfils(_ condition: Substitution.Condition) -> Bool {
        switch (condition, self) {
        case (.offline, .offline): true
        case (.status(let expected), .status(let status)): status == expected
        case (.clientError, .status(let status)): (400..<500).contains(status)
        case (.serverError, .status(let status)): (500..<600).contains(status)
        default: false
        }
    }
}
