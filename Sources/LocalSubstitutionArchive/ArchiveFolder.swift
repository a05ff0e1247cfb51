import Foundation
import LocalSubstitutionCache
import SubstitutionStandards

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

    /// False if there is no such folder now.
    var exists: Bool {
        var status = stat()
        return stat(url.path, &status) == 0 || ![ENOENT, ENOTDIR].contains(errno)
    }

    private static let suffix = ".offlinecopy"
    /// The suffix of files that are being written.
    ///
    /// If a process ends while it is writing a file, the unfinished file stays in the folder.
    static let unfinishedSuffix = ".offlinepart"
    /// The note that every copy is to be removed; it exists only until that is done.
    ///
    /// It is a symbolic link, because creating one needs no descriptor.
    private var note: URL { url.appendingPathComponent("all.offlineremoval") }

    /// Returns the file for the copy of a URL.
    ///
    /// The file's name is a hash of the URL, so two URLs may have the same file. The file also holds the URL of its
    /// copy.
    func file(for identity: URLIdentity) -> URL {
        var name = FNV1a()
        name.combine(Data(identity.description.utf8))
        return url.appendingPathComponent(name.description + Self.suffix)
    }

    /// Reads a copy; deletes the file if it is damaged, is longer than the capacity, or is not a copy.
    func copy(in file: URL) -> ArchivedCopy? {
        do throws(FileProblem) {
            let opened = try OpenedFile(file.path)
            if opened.size <= capacity {
                let data = try FileContents(of: opened, reading: .copied).data
                if let copy = ArchivedCopy(decoding: data) { return copy }
            }
        } catch {
            switch error {
            case .isLink, .notRegular: break
            // The file cannot be read at the moment, or it is a folder with the name of a copy.
            default: return nil
            }
        }
        unlink(file.path)
        return nil
    }

    /// Writes a temporary file and renames it to `file`, so that the change is atomic.
    ///
    /// On a full disk, nothing changes, and the result is false.
    ///
    /// Only the app's user can read the temporary file. It is locked while it is written. The lock shows other
    /// processes that the file is still in use.
    func write(_ data: Data, to file: URL) -> Bool {
        let unfinished = url.appendingPathComponent(UUID().uuidString + Self.unfinishedSuffix)
        var descriptor = Self.create(unfinished)
        if descriptor < 0, errno == ENOENT {
            // The folder may be missing: the system may delete the contents of the caches folder at any time.
            try? create()
            descriptor = Self.create(unfinished)
        }
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        do {
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw CocoaError(.fileWriteUnknown) }
            try FileHandle(fileDescriptor: descriptor).write(contentsOf: data)
            setUse(of: unfinished, Date())
            guard rename(unfinished.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
            return true
        } catch {
            unlink(unfinished.path)
            return false
        }
    }

    private static func create(_ file: URL) -> Int32 {
        uninterrupted { open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    }

    /// Returns the files of all copies.
    ///
    /// `used` is the modification date, which is renewed whenever a copy is replayed.
    func copyFiles() throws(FileProblem) -> [(url: URL, size: Int, used: Date)] { try files(Self.suffix) }

    func files(_ suffix: String) throws(FileProblem) -> [(url: URL, size: Int, used: Date)] {
        try urls(suffix).compactMap { file in
            // This takes a tenth of the time of `FileManager.attributesOfItem`.
            var status = stat()
            guard lstat(file.path, &status) == 0 else { return nil }
            let identity = FileIdentity(status)
            return (file, identity.size, identity.date)
        }
    }

    private func urls(_ suffix: String) throws(FileProblem) -> [URL] {
        let folder = try OpenedFolder(url.path)
        return try folder.names(in: folder.realPath).filter { $0.hasSuffix(suffix) }.map(url.appendingPathComponent)
    }

    // MARK: - Removing

    /// True if a removal of every copy has begun, perhaps in another process, and has not been done.
    var isBeingEmptied: Bool {
        var status = stat()
        return lstat(note.path, &status) == 0
    }

    /// Removes a copy; if `file` is nil, removes every copy, and every file that any process is writing.
    ///
    /// - Throws: ``RemovalProblem`` if anything is left.
    func remove(_ file: URL?) throws(RemovalProblem) {
        if let file { return try delete(file) }
        // The note outlives this process. If it cannot be written, the process still knows what it must remove.
        symlink("removed", note.path)
        var problem: RemovalProblem?
        // Delete unfinished files first: a file that a process renames meanwhile is then found among the copies.
        for suffix in [Self.unfinishedSuffix, Self.suffix] {
            do throws(FileProblem) {
                for file in try urls(suffix) {
                    do { try delete(file) } catch { problem = error }
                }
            } catch {
                // Without a folder, there is nothing to remove.
                if case .missing = error { continue }
                problem = RemovalProblem(reason: error.cause(of: url.path))
            }
        }
        if let problem { throw problem }
        try delete(note)
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
        "Not every copy was removed from the archive: \(reason). What is left is not replayed, and the archive tries again "
            + "whenever it is used; remove the copies again to learn whether they are gone."
    }

    var errorDescription: String? { description }
}
