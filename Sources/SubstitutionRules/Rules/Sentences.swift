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

extension [Substitution.Condition] {
    /// The end of a sentence about the time at which a file answers.
    package var sentence: String { map(\.sentence).joined(separator: ", or ") }
}

extension Decision.Reason {
    /// The end of a sentence that begins with "The request is not substituted, because".
    package func clause(_ method: String) -> String {
        switch self {
        case .method: "its method is \(quoted(method)); only GET and HEAD are substituted."
        case .optOut: "the app switched substitution off for this request (reloadIgnoringLocalAndRemoteCacheData)."
        }
    }
}
