/// The reason why a text is not a URL that can be looked up.
package enum URLProblem: Error, Equatable {
    case notAbsolute
    case scheme(String)
    case userInfo
    case noHost
    case host(String)
    case nonASCIIHost(String)
    case port(String)
    case percent
    case space
    case backslash
    case control
    case fragment
    /// The key begins or ends with spaces; the associated value is the key without these spaces.
    case spaceAround(String)
    case invisible(Unicode.Scalar)

    /// Returns the clause that says what is wrong with `url`, without the user name and password in it.
    package func cause(in url: String) -> String {
        let subject = quoted(url)
        return switch self {
        case .notAbsolute: "\(subject) is not a whole URL"
        case .scheme(let scheme): "\(subject) begins with \(quoted(scheme + ":")), not with https: or http:"
        case .userInfo: "\(subject) holds a user name"
        case .noHost: "\(subject) names no server"
        case .host, .nonASCIIHost: "\(subject) has a server's name that a URL cannot have"
        case .port: "\(subject) has a port that is not a number up to 65535"
        case .percent: "\(subject) has a \"%\" without two hexadecimal digits after it"
        case .space: "\(subject) has a space"
        case .backslash: "\(subject) has a backslash"
        case .control: "\(subject) has a control character"
        case .fragment: "\(subject) has a \"#\", and what follows it is never sent to a server"
        case .spaceAround: "\(subject) has a space at its beginning or end"
        case .invisible(let scalar):
            "\(subject) has an invisible character (\(scalar.properties.name?.lowercased() ?? "no name"))"
        }
    }
}
