package import LocalSubstitutionCache

extension Substitution {
    /// The URLs for which the file answers, in normal form and without a query: scheme, `host:port` and path.
    package var addresses: [(scheme: String, authority: String, path: String)] {
        pattern.targets.map(\.identity).map { ($0.scheme, String($0.authority), String($0.path)) }
    }
}
