public import Foundation

extension SubstitutionCache {
    /// The `$version` of the manifest that answers; 0 if it has none.
    public var manifestVersion: Int { Int(clamping: table.value.version) }

    /// The reason why the newer folder does not answer, though it exists.
    ///
    /// Nil if the folder answers, has no higher `$version`, or does not exist, and for a cache with another initialiser
    /// than ``init(bundle:newerFolder:reading:)``. The reason is that of the last choice.
    public var newerFolderError: ManifestError? { table.value.newerFolderError }

    /// Moves a new folder to the path of ``init(bundle:newerFolder:reading:)``, and answers with its files.
    ///
    /// ```swift
    /// do {
    ///     try cache.adopt(unpacked)
    /// } catch {
    ///     print("still version \(cache.manifestVersion): \(error)")
    /// }
    /// ```
    ///
    /// First, the whole folder is checked, as at a launch: its manifest, and every file that an entry names. Its
    /// `$version` must be higher than ``manifestVersion``, and than that of a folder at the path that has no error. To
    /// go back to older files, bring them with a higher number.
    ///
    /// Then one rename moves the folder. A folder that was at the path stays there until this rename, and is removed
    /// afterwards. If the process is killed meanwhile, there is the one folder or the other, each whole. The replaced
    /// folder may then be left where the new one was. What cannot be removed of it is left beside that, under a name
    /// that begins with `.`. Responses that were returned before do not change.
    ///
    /// On Apple's systems, the folder is excluded from backups, because the app can bring it again. (There, this method
    /// has not been run.) The directory above the path is created if it does not exist.
    ///
    /// This method checks no signature, and connects to nothing. Do not let two processes adopt at the same time: the
    /// last one wins. A process that is launched at the moment of the rename may get the bundle. If a page is loading,
    /// some of its files may be of the old set and some of the new.
    ///
    /// Cost: reads all files twice, and waits until they are on the disk. So do not call it on the main thread.
    ///
    /// - Parameter folder: A folder with a `manifest.json`, a file URL. It must be on the volume of the path. There
    ///   must be no symbolic link in it. Afterwards it no longer exists here.
    /// - Throws: ``ManifestError`` with every error of the folder, or with the reason why it was not moved. Nothing has
    ///   changed then.
    public func adopt(_ folder: URL) throws(ManifestError) {
        reloading.lock()
        defer { reloading.unlock() }
        func refusal(_ reason: String) -> ManifestError {
            ManifestError(folder.appendingPathComponent("manifest.json").path, .notAdopted, reason)
        }
        guard let (place, reading) = source.newer else {
            throw refusal("the cache was created without newerFolder:, so this folder has no place")
        }
        let moved = folder.resolvingSymlinksInPath()
        let present = ManifestSource(candidate: place, reading: reading)
        // Another cache, such as that of an extension, may have adopted a folder that this one has not read.
        let current = (try? present.table(above: table.value.version))?.version ?? table.value.version
        guard let adopted = try ManifestSource(candidate: folder, reading: reading).table(above: current) else {
            throw refusal("the folder's \"$version\" is not higher than \(current), which is there already; raise it")
        }
        let links = FileManager.default.enumerator(at: moved, includingPropertiesForKeys: [.isSymbolicLinkKey])
        while let item = links?.nextObject() as? URL {
            guard (try? item.resourceValues(forKeys: [.isSymbolicLinkKey]))?.isSymbolicLink == true else { continue }
            // It may lead through the folder's own path, which is about to change.
            throw refusal("\(quoted(item.path)) is a symbolic link")
        }
        let paths = adopted.substitutions.map(\.foundFile.realPath)
        for path in Set(paths + [FilePath(moved.appendingPathComponent("manifest.json").path)]).map(\.text) {
            do throws(FileProblem) {
                try OpenedFile(path).waitUntilWritten()
            } catch {
                throw refusal(error.cause(of: path))
            }
        }
        if let reason = Self.move(moved, to: place) {
            throw refusal("\(quoted(folder.path)) cannot take the place of \(quoted(place.path)): \(reason)")
        }
        // The files of `adopted` have the paths from which they were moved.
        table.replace(with: (try? present.table(above: current)) ?? adopted)
    }

    /// Moves a folder to a path by one rename, and removes the folder that was there.
    ///
    /// - Returns: The reason why nothing was moved; nil if the folder is in its place.
    private static func move(_ folder: URL, to place: URL) -> String? {
        var moved = folder
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? moved.setResourceValues(values)
        let above = place.deletingLastPathComponent()
        try? FileManager.default.createDirectory(at: above, withIntermediateDirectories: true)
        let target = place.resolvingSymlinksInPath().path
        // A rename replaces nothing but an empty directory, so a directory with files is exchanged.
        if rename(moved.path, target) == 0 { return nil }
        if [ENOTEMPTY, EEXIST].contains(errno), exchange(moved.path, target) == 0 {
            // The app may bring its next folder at this path, so nothing of the replaced one may be left here.
            let replaced = moved.deletingLastPathComponent().appendingPathComponent(".\(UUID())")
            try? FileManager.default.removeItem(at: rename(moved.path, replaced.path) == 0 ? replaced : moved)
            return nil
        }
        return errno == EXDEV
            ? "they are on two volumes; copy it beside the other first" : String(cString: strerror(errno))
    }

    /// Exchanges two directories in one step; returns 0 if that was possible.
    package static func exchange(_ first: String, _ second: String) -> Int32 {
        // Linux and Apple's systems have a call of their own each. Swift does not import that of Linux.
        #if canImport(Darwin)
        return renamex_np(first, second, UInt32(RENAME_SWAP))
        #else
        typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
        let (symbol, exchange) = (dlsym(nil, "renameat2"), UInt32(2))
        guard let symbol else { return -1 }
        return unsafeBitCast(symbol, to: Call.self)(AT_FDCWD, first, AT_FDCWD, second, exchange)
        #endif
    }
}
