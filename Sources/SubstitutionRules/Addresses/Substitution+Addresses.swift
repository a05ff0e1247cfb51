package import LocalSubstitutionCache

extension Substitution {
    /// The URLs that the file answers for: scheme, `host:port`, and the path, percent-encoded as in normal form.
    package var addresses: [(scheme: String, authority: String, path: String)] {
        pattern.targets.map { target in
            let parts = target.identity.base.split(separator: "/", maxSplits: 2).map(String.init)
            return (String(parts[0].dropLast()), parts[1], String(target.identity.path))
        }
    }
}
