import Foundation
public import LocalSubstitutionCache
import SubstitutionChecking

extension LocalSubstitutionCache {
    /// Reloads whenever the manifest or one of its files is saved, for the time in which an app is made.
    ///
    /// What an editor does for one save is one reload. While the manifest has errors what was there stays, as with
    /// ``reload()``; the report has remedies, as the designers' tool prints them. It ends with this cache; a second
    /// call replaces the closure of the first.
    ///
    /// A simulator reads the designer's folder directly, so a save is seen in the running app. A device cannot: the
    /// folder lies on the Mac, and what it has in its bundle never changes.
    ///
    /// ```swift
    /// #if DEBUG
    /// let cache = try LocalSubstitutionCache(manifest: folderInTheProject, reading: .copied)
    /// try cache.reloadWhenChanged { print($0) }
    /// #endif
    /// ```
    ///
    /// Cost: a look at the date of each file below the manifest's folder after every save. Linux tells of every save.
    /// Apple's platforms tell of what is made, moved or removed; what is written in place is found by a look once a
    /// second, and each folder is kept open meanwhile. (Not run there.)
    ///
    /// - Parameter report: Called after each reload, one call at a time, on a queue of the library's: with the paths
    ///   that changed, relative to the manifest's folder, or with what is wrong. Also called at once when the manifest
    ///   has errors now.
    /// - Throws: ``ManifestError`` when the cache was not made with ``ReadingMode/copied`` (a mapped file that is
    ///   written in place ends the process), or when the folder cannot be watched.
    public func reloadWhenChanged(
        _ report: @escaping @Sendable (Result<[String], ManifestError>) -> Void = { _ in }
    ) throws(ManifestError) {
        let watcher = try watch { [weak self] paths in
            guard let self else { return }
            report(Result { () throws(ManifestError) in try self.reload(with: Advice()) }.map { paths })
        }
        keep(watcher)
        // What was saved before the folder was watched.
        do { try reload(with: Advice()) } catch { report(.failure(error)) }
    }

    private func watch(_ changed: @escaping @Sendable ([String]) -> Void) throws(ManifestError) -> FolderWatcher {
        guard source.reading == .copied else {
            throw ManifestError(
                unwatched: source.name,
                because:
                    "the cache maps its files, and a mapped file that is written in place ends the process; make the cache with "
                    + "reading: .copied"
            )
        }
        do {
            return try FolderWatcher(source.folder, manifest: source.file, changed)
        } catch {
            throw ManifestError(
                unwatched: source.name,
                because: "\(quoted(source.folder.path)) cannot be watched: \(error.localizedDescription)"
            )
        }
    }
}
