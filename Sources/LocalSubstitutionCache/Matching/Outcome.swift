import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The part of a network request's outcome on which the conditions in a manifest depend.
enum Outcome: Hashable, Sendable {
    /// There was no connection, or it broke.
    case offline
    /// The server answered with this status.
    case status(Int)

    /// Creates the outcome `offline` if the error means that there is no connection; nil for every other error.
    ///
    /// Nil after an untrusted certificate or an unreadable response, because the server did answer. Also nil after a
    /// cancellation, because the app itself ended the load.
    init?(_ error: any Error) {
        guard let error = error as? URLError, Self.offlineCodes.contains(error.code) else { return nil }
        self = .offline
    }

    private static let offlineCodes: Set<URLError.Code> = [
        .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost,
        .timedOut, .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ]

    /// Creates the outcome for the status of a response; nil if it is not an HTTP response.
    init?(_ response: URLResponse?) {
        guard let response = response as? HTTPURLResponse else { return nil }
        self = .status(response.statusCode)
    }

    /// The status that the server sent; nil if there was no connection.
    var status: Int? {
        if case .status(let status) = self { status } else { nil }
    }

    /// Returns whether a condition holds after this outcome.
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
