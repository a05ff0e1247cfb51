import LocalSubstitutionCache

/// Which servers something may come from.
struct HostSelection {
    private let patterns: [String]

    static let option = Option(
        "host",
        value: "host",
        "Take only what comes from this server; *.example.com stands for all of its\nservers. May be repeated."
    )

    /// Reads the values of `--host`.
    init(_ arguments: Arguments) throws(UsageError) {
        patterns = try arguments.values(Self.option).map(HostPattern.read)
    }

    var isEmpty: Bool { patterns.isEmpty }

    /// Whether a server is named: its host, without the port.
    func contains(_ authority: String) -> Bool {
        let host = HostPattern.host(of: authority)
        return patterns.contains { pattern in
            pattern.hasPrefix("*.")
                ? host.hasSuffix(pattern.dropFirst()) || host == pattern.dropFirst(2) : host == pattern
        }
    }
}
