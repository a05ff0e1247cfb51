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

    /// Returns a sentence that explains the problem to the designer who wrote `url`.
    ///
    /// - Parameters:
    ///   - url: The text that is not a URL.
    ///   - meant: The whole URL, with every mistake in it fixed; nil if unknown.
    /// - Returns: The sentence, which usually proposes `meant` if it is known.
    package func message(for url: String, meant: String? = nil) -> String {
        let (subject, meant) = (quoted(url), meant.map { quoted($0, limit: 1000) })
        /// Returns the advice to write `meant`, or `otherwise` if `meant` is unknown.
        func write(_ otherwise: String = "write the URL that the app loads") -> String {
            meant.map { "write \($0)" } ?? otherwise
        }
        /// Returns a question that suggests `meant`, or `otherwise` if `meant` is unknown.
        ///
        /// This function is for problems in which `meant` may be wrong.
        func guess(_ otherwise: String) -> String { meant.map { "did you mean \($0)?" } ?? otherwise }
        return switch self {
        case .notAbsolute:
            "\(subject) is not a whole URL; "
                + guess("begin it with the server, such as \"https://example.com/img/logo.png\"")
        case .scheme(let scheme):
            "\(subject) begins with \(quoted(scheme + ":")); " + guess("write the https or http URL that the app loads")
        case .userInfo:
            "\(subject) holds a user name; " + write()
        case .noHost:
            "\(subject) names no server; " + guess("write https://example.com/…")
        case .host(let host) where host.utf8.contains(UInt8(ascii: "*")):
            "\(quoted(host)) has a wildcard, but manifests have none; write an entry for each server"
        case .host(let host) where host.first.map { "<{$".contains($0) } == true && meant == nil:
            "\(quoted(host)) is a placeholder; write the server's name in its place"
        case .host(let host):
            "\(quoted(host)) is not the name of a server" + (meant.map { "; did you mean \($0)?" } ?? "")
        case .nonASCIIHost(let host):
            "the server's name \(quoted(host)) has letters that a URL cannot have; " + write("write its xn-- form")
        case .port(let port):
            "\(quoted(port)) is not a port, which is a number up to 65535; " + write()
        case .percent:
            "\(subject) has a \"%\" without two hexadecimal digits after it; a percent sign itself is written %25: "
                + write()
        case .space:
            "\(subject) has a space; " + write()
        case .backslash:
            "\(subject) has a backslash; " + write()
        case .control:
            "\(subject) has a control character; " + write("remove it")
        case .fragment:
            "\(subject) has a \"#\", and what follows it is never sent to a server; " + write()
        case .spaceAround:
            "\(subject) has a space at its beginning or end; " + write("remove it")
        case .invisible(let scalar):
            "\(subject) has an invisible character (\(scalar.properties.name?.lowercased() ?? "no name")); "
                + write("remove it")
        }
    }
}
