/// When the file of an entry answers instead of the network: one word of `when`.
public enum Condition: Hashable, Sendable, CustomStringConvertible {
    /// There is no connection to the server.
    case offline
    /// The server answered with this status, 400 to 599.
    case status(Int)
    /// The server answered with any status from 400 to 499.
    case clientError
    /// The server answered with any status from 500 to 599.
    case serverError

    /// The condition as the manifest writes it, in JSON.
    public var description: String {
        switch self {
        case .offline: "\"offline\""
        case .status(let status): String(status)
        case .clientError: "\"4xx\""
        case .serverError: "\"5xx\""
        }
    }

    static let words: [String: Condition] = ["offline": .offline, "4xx": .clientError, "5xx": .serverError]

    /// Whether the condition holds after what became of the request.
    func holds(after outcome: Outcome) -> Bool {
        switch (self, outcome) {
        case (.offline, .offline): true
        case (.status(let expected), .status(let status)): status == expected
        case (.clientError, .status(let status)): (400..<500).contains(status)
        case (.serverError, .status(let status)): (500..<600).contains(status)
        default: false
        }
    }
}

/// What became of a request on the network, as far as a condition can ask.
enum Outcome: Hashable, Sendable {
    /// There was no connection, or it broke.
    case offline
    /// The server answered with this status.
    case status(Int)
}
