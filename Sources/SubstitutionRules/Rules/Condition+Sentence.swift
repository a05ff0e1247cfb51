package import LocalSubstitutionCache

extension Substitution.Condition {
    /// The condition in words.
    package var sentence: String {
        switch self {
        case .offline: "there is no connection"
        case .status(let status): "the server says \(status)"
        case .clientError: "the server says 400 to 499"
        case .serverError: "the server says 500 to 599"
        case .silence(let seconds): "the network is silent for \(seconds) s"
        }
    }
}
