extension Substitution {
    /// A condition under which the file of an entry answers instead of the network: one value of `when`.
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

        /// The condition in words.
        package var sentence: String {
            switch self {
            case .offline: "there is no connection"
            case .status(let status): "the server says \(status)"
            case .clientError: "the server says 400 to 499"
            case .serverError: "the server says 500 to 599"
            }
        }

        package static let words: [String: Condition] = ["offline": .offline, "4xx": .clientError, "5xx": .serverError]
    }
}
