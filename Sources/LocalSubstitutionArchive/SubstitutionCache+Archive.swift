public import LocalSubstitutionCache

extension SubstitutionCache {
    /// Makes this the shared cache, like `install()`, with an archive that answers when there is no connection.
    ///
    /// A second call on the same instance replaces the archive. `uninstall()` undoes the call.
    ///
    /// - Parameter archive: The archive that keeps copies of the network's responses and replays them; nil for none.
    public func install(archive: OfflineArchive?) { install(with: archive) }
}
