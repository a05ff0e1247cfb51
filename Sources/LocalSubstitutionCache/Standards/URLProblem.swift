import Foundation

/// Why a text is not a URL that can be looked up.
enum URLProblem: Error, Equatable {
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

    /// What is wrong with `url`, as a sentence for the person who wrote it.
    func message(for url: String) -> String {
        let subject = quoted(url)
        return switch self {
        case .notAbsolute:
            "\(subject) is not an absolute URL; write https://host/path, or //host/path for http and https"
        case .scheme(let scheme):
            "\(subject) has the scheme \(quoted(scheme)); only http and https can be substituted"
        case .userInfo:
            "\(subject) holds a user name; remove everything up to the \"@\""
        case .noHost:
            "\(subject) names no host"
        case .host(let host):
            "\(quoted(host)) is not a host name"
        case .nonASCIIHost(let host):
            "the host \(quoted(host)) is not ASCII; write its xn-- form" + Self.suggestedHost(host)
        case .port(let port):
            "\(quoted(port)) is not a port; a port is a number from 0 to 65535"
        case .percent:
            "\(subject) holds a \"%\" that two hexadecimal digits do not follow; a percent sign itself is written %25"
        case .space:
            "\(subject) holds a space; write it as %20"
        case .backslash:
            "\(subject) holds a backslash; a URL has slashes"
        case .control:
            "\(subject) holds a control character"
        case .fragment:
            "\(subject) holds a fragment, which is never sent to a server; remove the \"#\" and what follows"
        }
    }

    private static func suggestedHost(_ host: String) -> String {
        guard let ascii = URL(string: "https://\(host)/")?.host, ascii.isASCII, !ascii.isEmpty else { return "" }
        return ", which is \(quoted(ascii))"
    }
}
