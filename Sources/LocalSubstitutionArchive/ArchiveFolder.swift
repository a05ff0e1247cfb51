import Foundation
import LocalSubstitutionCache
import SubstitutionRules

/// The folder that holds the files of an ``OfflineArchive``.
///
/// Files in the folder that do not belong to the archive are left alone.
struct ArchiveFolder {
    let url: URL
    /// The maximum size of all copies together, in bytes.
    let capacity: Int

    /// Creates the folder if it is missing, and excludes it from backups.
    func create() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // Only Apple's systems make backups from which a folder can be excluded.
        #if canImport(Darwin)
        var url = url
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
        #endif
    }

    private static let suffix = ".offlinecopy"
    /// The suffix of files that are being written.
    ///
    /// If a process ends while it is writing a file, the unfinished file stays in the folder.
    private static let unfinishedSuffix = ".offlinepart"

    /// Returns the file for the copy of a URL.
    ///
    /// The file's name is a hash of the URL, so two URLs may have the same file. The file also holds the URL of its
    /// copy.
    func file(for identity: URLIdentity) -> URL {
        url.appendingPathComponent("\(FNV1a(of: identity.description))\(Self.suffix)")
    }

    /// Reads a copy; deletes the file if it is damaged, is longer than the capacity, or is not a copy.
    func copy(in file: URL) -> ArchivedCopy? {
        // A file that cannot be read now may be read later.
        guard let opened = try? OpenedFile(file.path),
            let data = opened.size > capacity ? Data() : try? FileContents(of: opened, reading: .copied).data
        else { return nil }
        if let copy = ArchivedCopy(decoding: data) { return copy }
        unlink(file.path)
        return nil
    }

    /// Writes a temporary file, which only the app's user can read, and renames it to `file`.
    ///
    /// On a full disk, nothing changes, and the result is false.
    func write(_ data: Data, to file: URL) -> Bool {
        let unfinished = url.appendingPathComponent(UUID().uuidString + Self.unfinishedSuffix)
        // The system may delete the contents of the caches folder at any time.
        try? create()
        let descriptor = uninterrupted {
            open(unfinished.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard descriptor >= 0 else { return false }
        let isWritten = (try? FileHandle(fileDescriptor: descriptor).write(contentsOf: data)) != nil
        close(descriptor)
        // The system's own date lags behind by some milliseconds.
        setUse(of: unfinished, Date())
        if isWritten, rename(unfinished.path, file.path) == 0 { return true }
        unlink(unfinished.path)
        return false
    }

    /// Returns the files of all copies, or those with other suffixes.
    ///
    /// `used` is the modification date, which is renewed whenever a copy is replayed.
    func files(_ suffixes: [String] = [suffix]) throws(FileProblem) -> [(url: URL, size: Int, used: Date)] {
        try urls(suffixes).compactMap { file in
            // This takes a tenth of the time of `FileManager.attributesOfItem`.
            var status = stat()
            guard lstat(file.path, &status) == 0 else { return nil }
            let identity = FileIdentity(status)
            return (file, identity.size, identity.date)
        }
    }

    private func urls(_ suffixes: [String]) throws(FileProblem) -> [URL] {
        let folder = try OpenedFolder(url.path)
        return try folder.names(in: folder.realPath).filter { suffixes.contains(where: $0.hasSuffix) }
            .map(url.appendingPathComponent)
    }

    // MARK: - Making room

    /// Deletes the least recently used files until a tenth of the capacity is free, but never `new`.
    ///
    /// A file that is longer than the capacity is deleted first, and so is one that was used in the future, by a clock
    /// that was wrong then or is wrong now. A file that another process is writing is deleted like a copy.
    ///
    /// Returns the number of bytes that may be written before the folder must be listed again.
    func makeRoom(sparing new: URL) -> Int {
        guard var files = try? files([Self.suffix, Self.unfinishedSuffix]) else { return 0 }
        let now = Date()
        for index in files.indices where files[index].used > now || files[index].size > capacity {
            (files[index].used, files[index].size) = (.distantPast, min(files[index].size, capacity))
        }
        var total = files.reduce(0) { $0 + $1.size }
        for file in files.sorted(by: { $0.used < $1.used }) where total > capacity / 10 * 9 && file.url != new {
            if (try? delete(file.url)) != nil { total -= file.size }
        }
        return capacity - total
    }

    func setUse(of file: URL, _ date: Date) {
        try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    }

    // MARK: - Removing

    /// Removes a copy; if `file` is nil, removes every copy, and every file that any process is writing.
    func remove(_ file: URL?) throws(RemovalProblem) {
        if let file { return try delete(file) }
        var problem: RemovalProblem?
        // Delete unfinished files first: a file that a process renames meanwhile is then found among the copies.
        for suffix in [Self.unfinishedSuffix, Self.suffix] {
            do throws(FileProblem) {
                for file in try urls([suffix]) {
                    do { try delete(file) } catch { problem = error }
                }
            } catch {
                // Without a folder, there is nothing to remove.
                if case .missing = error { continue }
                problem = RemovalProblem(reason: error.cause(of: url.path))
            }
        }
        if let problem { throw problem }
    }

    /// Deletes a file if it exists; a folder of this name is not a copy and stays.
    func delete(_ file: URL) throws(RemovalProblem) {
        if unlink(file.path) == 0 || errno == ENOENT { return }
        let reason = String(cString: strerror(errno))
        var status = stat()
        if lstat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        throw RemovalProblem(reason: "\(quoted(file.path)) cannot be deleted: \(reason)")
    }
}

/// The reason why a copy that was to be removed is still in the archive.
struct RemovalProblem: Error, LocalizedError, CustomStringConvertible {
    let reason: String

    var description: String {
        "Not every copy was removed from the archive: \(reason). This process replays no copy until removeAll() succeeds; "
            + "remove the cause, and call it again."
    }

    var errorDescription: String? { description }
}
