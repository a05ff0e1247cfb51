/// A query parameter that sites add so that caches load a new version of a file; servers ignore it.
enum CacheBuster {
    /// The known names, each with the values that show this use: `v` may also name a video, and `t` a time in it.
    private static let kinds: [(names: Set<String>, isValue: @Sendable (Substring) -> Bool)] = [
        // WordPress writes `ver`, ASP.NET a digest as `v`, and many build tools a number or digest.
        (["v", "ver", "version", "rev", "revision", "build", "release"], { isVersion($0) || isDigest($0) }),
        (["hash", "contenthash", "chunkhash", "md5", "fingerprint", "digest"], { isDigest($0) }),
        // jQuery writes `_` (`cache: false`); advertisements and trackers write `cb` and `rnd`.
        (
            ["_", "__", "cb", "cachebuster", "cachebust", "cache_bust", "nocache", "bust", "rnd", "rand", "random"],
            { isNumber($0) || isDigest($0) }
        ),
        // Unix time in seconds or milliseconds, or a date with a time in digits.
        (["t", "ts", "_t", "_ts", "time", "timestamp", "mtime"], { [10, 13, 14].contains($0.count) && isNumber($0) }),
    ]

    /// Returns whether a parameter is a cache-buster, by its name and its value.
    static func isOne(_ parameter: Parameter) -> Bool {
        guard let value = parameter.value else { return false }
        return kinds.contains { $0.names.contains(parameter.name.lowercased()) && $0.isValue(value) }
    }

    private static func isNumber(_ value: Substring) -> Bool { value.wholeMatch(of: number) != nil }

    private static func isVersion(_ value: Substring) -> Bool { value.wholeMatch(of: version) != nil }

    private static func isDigest(_ value: Substring) -> Bool {
        value.wholeMatch(of: digest) != nil && value.contains(where: \.isNumber)
    }

    nonisolated(unsafe) private static let number = /\d+(\.\d+)?/
    nonisolated(unsafe) private static let version = /v?\d+(?:[._\-]\w++)*+/.ignoresCase()
    nonisolated(unsafe) private static let digest = /[0-9a-f]{6,}|[A-Za-z0-9_\-]{20,}/.ignoresCase()

    /// A parameter of a query.
    struct Parameter: Hashable {
        let text: Substring

        var name: Substring { text.prefix { $0 != "=" } }
        /// The value; nil for a parameter without "=".
        var value: Substring? { text.firstIndex(of: "=").map { text[text.index(after: $0)...] } }

        /// Divides a query into its parameters.
        static func list(_ query: String?) -> [Parameter] {
            (query ?? "").split(separator: "&", omittingEmptySubsequences: false).map(Parameter.init)
        }
    }
}
