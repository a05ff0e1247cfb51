import Foundation

/// A key of the manifest: one URL, or `//host/path` for the same URL in http and https.
struct URLPattern: Sendable {
    /// One URL that the key stands for.
    struct Target: Sendable {
        /// The URL as the manifest spells it, with what cannot stand in a URL percent-encoded.
        let spelling: String
        let identity: URLIdentity
        /// Whether the manifest names the scheme, or leaves it open with `//`.
        let namesScheme: Bool
    }

    /// The key as written, with what cannot stand in a URL percent-encoded.
    let spelling: String
    /// One or two.
    let targets: [Target]

    init(_ key: String) throws(URLProblem) {
        if key.utf8.contains(UInt8(ascii: "#")) { throw .fragment }
        let path = key.utf8.dropFirst(8).firstIndex { "/?".utf8.contains($0) } ?? key.endIndex
        spelling = key[..<path] + Self.encoded(String(key[path...]), keeping: Self.urlCharacters)
        let namesScheme = !key.utf8.starts(with: "//".utf8)
        var targets: [Target] = []
        for prefix in namesScheme ? [""] : ["https:", "http:"] {
            let spelling = namesScheme ? spelling : prefix + spelling
            let identity = try URLIdentity(prefix + key)
            targets.append(Target(spelling: spelling, identity: identity, namesScheme: namesScheme))
        }
        self.targets = targets
    }

    private init(spelling: String, targets: [Target]) {
        self.spelling = spelling
        self.targets = targets
    }

    var query: String? { targets.first?.identity.query }

    /// Whether the path ends in "/".
    var isFolder: Bool { targets.first?.identity.base.hasSuffix("/") ?? false }

    /// The same key in words that do not depend on its spelling, to find two that are the same.
    var identityKey: String {
        targets.map(\.identity.description).joined(separator: " ")
    }

    /// The pattern of one file of a folder entry.
    ///
    /// An empty path is the folder's own URL.
    func appending(path: String) -> URLPattern {
        let path = Self.encoded(path, keeping: Self.pathCharacters)
        return URLPattern(
            spelling: spelling + path,
            targets: targets.compactMap { target in
                guard let identity = try? URLIdentity(target.spelling + path) else { return nil }
                return Target(
                    spelling: target.spelling + path,
                    identity: identity,
                    namesScheme: target.namesScheme
                )
            }
        )
    }

    /// `pchar` of RFC 3986 §3.3 without percent-encoding, and "/". (`CharacterSet.urlPathAllowed` lacks ";" on Apple's
    /// systems.)
    private static let pathCharacters = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/"
    )

    private static let urlCharacters = pathCharacters.union(CharacterSet(charactersIn: "?%"))

    private static func encoded(_ text: String, keeping characters: CharacterSet) -> String {
        text.precomposedStringWithCanonicalMapping.addingPercentEncoding(withAllowedCharacters: characters) ?? text
    }
}
