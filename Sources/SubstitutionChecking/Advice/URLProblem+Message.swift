package import LocalSubstitutionCache

extension URLProblem {
    /// Returns a sentence that explains the problem to the designer who wrote `url`.
    ///
    /// - Parameters:
    ///   - url: The text that is not a URL.
    ///   - meant: The whole URL, with every mistake in it fixed; nil if unknown.
    /// - Returns: The sentence, which usually proposes `meant` if it is known.
    package func message(for url: String, meant: String? = nil) -> String {
        // The user information must be removed first.
        if self != .userInfo, hasUserInformation(url.prefix { $0 != "?" }) {
            return Self.userInfo.message(for: url, meant: meant)
        }
        // Without its user information, `meant` would be useless as text to copy.
        let meant = meant.flatMap { hasUserInformation($0) ? nil : quoted($0, limit: 1000) }
        let write = "write \(meant ?? "the URL that the app loads")"
        /// Returns a question that suggests `meant`, or `otherwise` if `meant` is unknown.
        ///
        /// This function is for problems in which `meant` may be wrong.
        func guess(_ otherwise: String) -> String { meant.map { "did you mean \($0)?" } ?? otherwise }
        let remedy: String
        switch self {
        case .notAbsolute: remedy = guess("begin it with the server, such as \"https://example.com/img/logo.png\"")
        case .scheme(let scheme):
            return "\(quoted(url)) begins with \(quoted(scheme + ":")); "
                + guess("write the https or http URL that the app loads")
        case .noHost: remedy = guess("write https://example.com/…")
        case .host(let host) where host.utf8.contains(UInt8(ascii: "*")):
            return "\(quoted(host)) has a wildcard, but manifests have none; write an entry for each server"
        case .host(let host) where host.first.map { "<{$".contains($0) } == true && meant == nil:
            return "\(quoted(host)) is a placeholder; write the server's name in its place"
        case .host(let host):
            return "\(quoted(host)) is not the name of a server" + (meant.map { "; did you mean \($0)?" } ?? "")
        case .nonASCIIHost(let host):
            return
                "the server's name \(quoted(host)) has letters that a URL cannot have; write \(meant ?? "its xn-- form")"
        case .port(let port):
            return "\(quoted(port)) is not a port, which is a number up to 65535; \(write)"
        case .percent: remedy = "a percent sign itself is written %25: \(write)"
        case .userInfo, .space, .backslash, .fragment: remedy = write
        case .control, .spaceAround, .invisible: remedy = meant.map { "write \($0)" } ?? "remove it"
        }
        return "\(cause(in: url)); \(remedy)"
    }
}
