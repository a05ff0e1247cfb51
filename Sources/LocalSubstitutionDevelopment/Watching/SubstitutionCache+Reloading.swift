import Foundation
public import LocalSubstitutionCache
import SubstitutionChecking

extension SubstitutionCache {
    /// Reloads whenever the manifest or one of its files is saved; for development builds.
    ///
    /// One save in an editor causes one reload. While the manifest has errors, the cache keeps the previous
    /// substitutions, as with ``reload()``. The report then includes the remedies that the designers' tool prints.
    /// Watching ends when this cache is deallocated. If this method is called again, the new closure replaces the
    /// previous one.
    ///
    /// In a simulator the app reads the designer's folder directly, so the running app shows each saved change. On a
    /// device this method has no use. The app cannot read a folder on the Mac, and the files in the app's bundle never
    /// change.
    ///
    /// ```swift
    /// #if DEBUG
    /// let manifest = folderInTheProject.appendingPathComponent("manifest.json")
    /// let cache = try SubstitutionCache(manifest: manifest, reading: .copied)
    /// try cache.reloadWhenChanged { print($0) }
    /// #endif
    /// ```
    ///
    /// Cost: four times a second, the dates of all files below the manifest's folder are read; less often if that takes
    /// more than a tenth of a processor. (On Apple's platforms this has not been run.)
    ///
    /// - Parameter report: Called after each reload, with the changed paths or with the error. The paths are relative
    ///   to the manifest's folder. The calls come one at a time, on a queue of the library. If the manifest already has
    ///   errors, there is also a call before this method returns.
    /// - Throws: ``ManifestError`` if the cache was not created with ``ReadingMode/copied``, or if the folder cannot be
    ///   watched. Without copies, a file that is written in place would kill the process with SIGBUS.
    public func reloadWhenChanged(
        _ report: @escaping @Sendable (Result<[String], ManifestError>) -> Void = { _ in }
    ) throws(ManifestError) {
        let watcher = try watch { [weak self] paths in
            guard let self else { return }
            report(Result { () throws(ManifestError) in try self.reloadWithRemedies() }.map { paths })
        }
        retainCompanion(watcher)
        // Reload files that were saved before the folder was watched. This runs on the watcher's queue, so that two
        // reports never run at the same time.
        watcher.queue.sync {
            do throws(ManifestError) { try reloadWithRemedies() } catch { report(.failure(error)) }
        }
    }

    /// Reloads; the errors have remedies.
    private func reloadWithRemedies() throws(ManifestError) {
        do {
            try reload()
        } catch {
            let errors = try source.manifest().checked.errors(in: source.folder)
            throw errors.isEmpty ? error : ManifestError(errors)
        }
    }

    private func watch(_ changed: @escaping @Sendable ([String]) -> Void) throws(ManifestError) -> FolderWatcher {
        guard source.reading == .copied else {
            throw ManifestError(
                source.name,
                .notWatched,
                "the cache maps its files, and writing a mapped file in place kills the process; create the cache with "
                    + "reading: .copied"
            )
        }
        do {
            return try FolderWatcher(source.folder, changed)
        } catch {
            let cause = error.cause(of: source.folder.path)
            throw ManifestError(source.name, .notWatched, "the folder cannot be watched: \(cause)")
        }
    }
}
