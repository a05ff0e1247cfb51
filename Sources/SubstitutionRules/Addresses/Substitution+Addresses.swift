package import LocalSubstitutionCache

extension Substitution {
    /// The URLs for which the file answers, in normal form and without a query: scheme, `host:port` and path.
    package var addresses: [(scheme: String, authority: String, path: String)] {
        pattern.targets.map { target in
            let parts = target.identity.base.split(separator: "/", maxSplits: 2).map(String.init)
            return (String(parts[0].dropLast()), parts[1], String(target.identity.path))
        }
    }
}
