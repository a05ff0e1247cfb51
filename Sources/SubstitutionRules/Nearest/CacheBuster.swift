package import LocalSubstitutionCache

/// A query parameter that a page adds to a URL against caches, or to track visitors.
///
/// It does not select the content: the server sends the same bytes without it.
package enum CacheBuster {
    /// A parameter of a query.
    package struct Parameter: Hashable {
        package let text: Substring

        package init(text: Substring) { self.text = text }

        package var name: Substring { text.prefix { $0 != "=" } }
        /// The value; nil for a parameter without "=".
        var value: Substring? { text.firstIndex(of: "=").map { text[text.index(after: $0)...] } }
        /// True if the name means nothing else, on any URL.
        fileprivate var isAlwaysIgnored: Bool {
            let name = name.lowercased()
            return always.contains(name) || name.hasPrefix("utm_")
        }

        /// Divides a query into its parameters.
        package static func list(_ query: String?) -> [Parameter] {
            (query ?? "").split(separator: "&", omittingEmptySubsequences: false).map(Parameter.init)
        }
    }

    private static let always: Set = [
        "_", "__", "cb", "cachebust", "cachebuster", "cache_bust", "nocache", "bust", "rnd", "fbclid", "gclid", "dclid",
        "msclkid", "mc_cid", "mc_eid",
    ]
    /// The other names, each with the values that show this use: `v` may also name a video, and `t` a time in it.
    private static let kinds: [(names: Set<String>, isValue: @Sendable (Substring) -> Bool)] = [
        // Servers and build tools write a version, a number or a digest.
        (
            ["v", "ver", "version", "rev", "revision", "build", "release"],
            { $0.wholeMatch(of: version) != nil || isDigest($0) }
        ),
        (["hash", "contenthash", "chunkhash", "md5", "fingerprint", "digest"], { isDigest($0) }),
        // Unix time in seconds or milliseconds, or a date with a time in digits.
        (
            ["t", "ts", "_t", "_ts", "time", "timestamp", "mtime"],
            { [10, 13, 14].contains($0.count) && $0.allSatisfy(\.isNumber) }
        ),
    ]

    /// Returns whether a parameter is a cache-buster, by its name and its value.
    package static func isOne(_ parameter: Parameter) -> Bool {
        if parameter.isAlwaysIgnored { return true }
        guard let value = parameter.value else { return false }
        return kinds.contains { $0.names.contains(parameter.name.lowercased()) && $0.isValue(value) }
    }

    /// Returns the names of parameters that do not select the content; nil if any of the parameters may select it.
    ///
    /// On a page or an API, a version may select the content.
    ///
    /// - Parameters:
    ///   - parameters: The parameters in which two queries differ.
    ///   - type: The media type, if the file's extension in the URL says so; otherwise nil.
    /// - Returns: The names, for a list of ignored parameters; `*` for versions without a name, such as `?1.2`.
    package static func names(of parameters: some Collection<Substring>, in type: MediaType?) -> [String]? {
        let canonical = type?.canonical.essence ?? ""
        let isCode = ["text/css", "text/javascript"].contains(canonical) || canonical.hasPrefix("font/")
        let isStatic = isCode || ["image/", "audio/", "video/"].contains { canonical.hasPrefix($0) }
        if isStatic, parameters.allSatisfy({ isNameless($0, atLeast: isCode ? 1 : 8) }) { return ["*"] }
        let parameters = parameters.map(Parameter.init)
        guard parameters.allSatisfy({ $0.isAlwaysIgnored || isStatic && isOne($0) }) else { return nil }
        return Set(parameters.map { $0.name.hasPrefix("utm_") ? "utm_*" : String($0.name) }).sorted()
    }

    private static func isDigest(_ value: Substring) -> Bool {
        value.wholeMatch(of: digest) != nil && value.contains(where: \.isNumber)
    }

    /// Returns true for a number, a date or a digest without a name; a short one may be the size of a picture.
    private static func isNameless(_ parameter: Substring, atLeast count: Int) -> Bool {
        parameter.count >= count && parameter.contains(where: \.isNumber)
            && parameter.allSatisfy { $0.isHexDigit || ".-_v".contains($0) }
    }

    nonisolated(unsafe) private static let version = /v?\d+(?:[._\-]\w++)*+/.ignoresCase()
    nonisolated(unsafe) private static let digest = /[0-9a-f]{6,}|[A-Za-z0-9_\-]{20,}/.ignoresCase()
}
