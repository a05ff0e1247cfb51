import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A folder in which files are created before they move to their final paths.
///
/// Its name is `.substitute` in a manifest's folder. An entry for a whole folder ignores names that begin with ".", so
/// no such entry includes the staging folder. The tool changes nothing outside the staging folder until all files are
/// complete. Only one run of the tool at a time can use the staging folder. If a run is killed, the next run removes
/// the files in the staging folder.
// Mutable state is only accessed inside the lock.
final class StagingFolder: @unchecked Sendable {
    let url: URL
    private let mode: mode_t
    /// The descriptor that holds the lock on the folder; -1 until the folder belongs to this run.
    private var descriptor: Int32 = -1
    private let lock = NSLock()
    private var count = 0
    private var isCommitted = false
    /// The handler for interruptions; while it exists, an interruption does not end the tool immediately.
    private var interruption: AnyObject?
    /// Called after each step of a commit.
    ///
    /// A test can check here what would remain if the run were killed at this point.
    var afterEachStep: () -> Void = {}

    private init(_ url: URL, mode: mode_t = 0o777) { (self.url, self.mode) = (url, mode) }

    /// Creates a staging folder in `folder`.
    ///
    /// - Throws: ``ToolError`` if the staging folder cannot be created, or if another run uses it.
    convenience init(in folder: URL, named name: String = ".substitute") throws(ToolError) {
        self.init(folder.appendingPathComponent(name))
        try make()
    }

    /// Creates the staging folder beside a manifest; for a dry run, in the system's temporary directory.
    ///
    /// If the user interrupts the tool, the folder is removed.
    static func guarded(for manifest: ManifestFile, isDryRun: Bool, _ console: Console) throws -> StagingFolder {
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let beside = manifest.folder.appendingPathComponent(".substitute")
        let folder = isDryRun ? StagingFolder(temporary, mode: 0o700) : StagingFolder(beside)
        // From now on, an interruption of the tool removes the staging folder.
        folder.interruption = console.interruptions { [weak folder] in folder?.undo() ?? true }
        try folder.make()
        return folder
    }

    /// Creates the folder if it does not exist, locks it, and empties it.
    ///
    /// If an interruption arrives meanwhile, its handler waits for the lock.
    private func make() throws(ToolError) {
        lock.lock()
        defer { lock.unlock() }
        let folder = quoted(url.deletingLastPathComponent().path)
        while true {
            let isMade = mkdir(url.path, mode) == 0
            let code = errno
            let opened = uninterrupted { open(url.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
            guard opened >= 0 else {
                // Another run removed the folder between `mkdir` and `open`.
                if errno == ENOENT, !isMade, code == EEXIST { continue }
                let reason = String(cString: strerror(isMade ? errno : code))
                if isMade { rmdir(url.path) }
                throw ToolError("nothing can be written to \(folder): \(reason)")
            }
            guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
                close(opened)
                throw ToolError("another run of substitute is changing \(folder); wait until it ends")
            }
            // Another run may have removed the folder between `open` and `flock`. The descriptor then belongs to the
            // removed folder; try again.
            var (own, named) = (stat(), stat())
            guard fstat(opened, &own) == 0, lstat(url.path, &named) == 0, own.st_ino == named.st_ino else {
                close(opened)
                continue
            }
            // The user who made a folder can exchange what is in it.
            guard isMade || own.st_uid == geteuid() else {
                close(opened)
                throw ToolError("nothing can be written to \(folder): another user made \(quoted(url.path)); remove it")
            }
            descriptor = opened
            return empty()
        }
    }

    deinit {
        interruption = nil
        guard descriptor >= 0 else { return }
        remove()
        close(descriptor)
    }

    /// Removes the staged files and the backups; keeps the folder, because the lock is on the folder.
    private func empty() {
        let names = try? FileSystem.again { try FileManager.default.contentsOfDirectory(atPath: url.path) }
        for name in names ?? [] where Int(name.prefix { $0 != "." }) != nil {
            try? FileSystem.again { try FileManager.default.removeItem(at: url.appendingPathComponent(name)) }
        }
    }

    /// Removes the staged files and the backups, and then the folder if it is empty.
    private func remove() {
        empty()
        rmdir(url.path)
    }

    /// Returns a new URL for a file in the folder.
    func newFileURL() -> URL {
        lock.withLock {
            count += 1
            return url.appendingPathComponent(String(count))
        }
    }

    /// Writes bytes to a new file and returns its URL.
    func write(_ data: Data) throws(ToolError) -> URL {
        let file = newFileURL()
        do {
            try FileSystem.create(data, at: file)
        } catch {
            throw ToolError("nothing was changed: \(quoted(file.path)) cannot be written: \(FileSystem.reason(error))")
        }
        return file
    }

    /// Moves a new folder from the staging folder to a path.
    ///
    /// The folder that was at the path is removed together with the staging folder.
    func move(_ new: URL, over target: URL) throws {
        let files = FileManager.default
        guard FileSystem.kind(of: target.path) != nil else { return try files.moveItem(at: new, to: target) }
        if SubstitutionCache.exchange(new.path, target.path) == 0 { return }
        // Some file systems cannot exchange two folders.
        let old = newFileURL()
        try files.moveItem(at: target, to: old)
        do {
            try files.moveItem(at: new, to: target)
        } catch {
            try files.moveItem(at: old, to: target)
            throw error
        }
    }

    /// Makes changes that Control-C does not interrupt.
    ///
    /// After the changes, Control-C has no effect until the run ends.
    func commit(_ changes: () throws -> Void) rethrows {
        try lock.withLock {
            try changes()
            isCommitted = true
        }
    }

    /// The maximum number of attempts to remove the folder, with a pause of a millisecond between two attempts.
    private static let patience = 1000

    /// Removes the folder if the changes have not been committed.
    ///
    /// - Returns: True if the tool may end.
    private func undo() -> Bool {
        // If a commit is in progress, `lock()` waits until the commit ends. Unlock only if the changes have been
        // committed. Otherwise, until the tool ends, no commit may begin, and `newFileURL()` must not return a new URL.
        lock.lock()
        if isCommitted {
            lock.unlock()
            return false
        }
        // A load may still be writing to a URL that `newFileURL()` returned earlier.
        for _ in 0..<Self.patience where descriptor >= 0 && FileSystem.kind(of: url.path) != nil {
            remove()
            usleep(1000)
        }
        return true
    }
}
