import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A folder inside the manifest's folder, in which files are created before they move to their final paths.
///
/// Its name is `.substitute`. An entry for a whole folder ignores names that begin with ".", so no such entry includes
/// the staging folder. The tool changes nothing outside the staging folder until all files are complete. Only one run
/// of the tool at a time can use the staging folder. If a run is killed, the next run removes the files in the staging
/// folder.
// Mutable state is only accessed inside the lock.
final class StagingFolder: @unchecked Sendable {
    let url: URL
    private let descriptor: Int32
    private let lock = NSLock()
    private var count = 0
    private var isCommitted = false
    /// In a dry run, the temporary folder that contains the staging folder; nil in any other run.
    private var outer: URL?
    /// The handler for interruptions; while it exists, an interruption does not end the tool immediately.
    private var interruption: AnyObject?
    /// Called after each step of a commit.
    ///
    /// A test can check here what would remain if the run were killed at this point.
    var afterEachStep: () -> Void = {}

    /// Creates the staging folder; if the user interrupts the tool, removes the folder.
    static func guarded(for manifest: ManifestFile, isDryRun: Bool, _ console: Console) throws -> StagingFolder {
        let maker = FolderHolder()
        // From now on, an interruption of the tool removes the staging folder.
        let interruption = console.interruptions { maker.folder?.undo() ?? true }
        let folder = try maker.make { try StagingFolder(for: manifest, isDryRun: isDryRun) }
        folder.interruption = interruption
        return folder
    }

    /// Holds the staging folder for the interruption handler.
    ///
    /// If an interruption arrives while the folder is being created, the handler waits for the lock.
    // Mutable state is only accessed inside the lock.
    private final class FolderHolder: @unchecked Sendable {
        private let lock = NSLock()
        private weak var made: StagingFolder?

        var folder: StagingFolder? { lock.withLock { made } }

        func make(_ make: () throws -> StagingFolder) throws -> StagingFolder {
            try lock.withLock {
                let folder = try make()
                made = folder
                return folder
            }
        }
    }

    /// Creates the staging folder beside a manifest; for a dry run, in the system's temporary directory.
    private convenience init(for manifest: ManifestFile, isDryRun: Bool) throws(ToolError) {
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        if isDryRun { mkdir(temporary.path, 0o700) }
        try self.init(in: isDryRun ? temporary : manifest.folder)
        if isDryRun { outer = temporary }
    }

    /// Creates the staging folder in `folder`.
    ///
    /// - Throws: ``ToolError`` if the staging folder cannot be created, or if another run uses it.
    init(in folder: URL) throws(ToolError) {
        let url = folder.appendingPathComponent(".substitute")
        let descriptor = try Self.lockedFolder(url, in: folder)
        // Do not set the properties before the lock is held. If an initialiser throws after all properties are set,
        // Swift runs `deinit`. Here, `deinit` would remove the other run's folder.
        (self.url, self.descriptor) = (url, descriptor)
        empty()
    }

    /// Creates the folder if it does not exist, locks it, and returns its descriptor.
    private static func lockedFolder(_ url: URL, in folder: URL) throws(ToolError) -> Int32 {
        while true {
            let isMade = mkdir(url.path, 0o777) == 0
            let code = errno
            let descriptor = uninterrupted { open(url.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
            guard descriptor >= 0 else {
                // Another run removed the folder between `mkdir` and `open`.
                if errno == ENOENT, !isMade, code == EEXIST { continue }
                let reason = String(cString: strerror(isMade ? errno : code))
                if isMade { rmdir(url.path) }
                throw ToolError("nothing can be written to \(quoted(folder.path)): \(reason)")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw ToolError("another run of substitute is changing \(quoted(folder.path)); wait until it ends")
            }
            // Another run may have removed the folder between `open` and `flock`. The descriptor then belongs to the
            // removed folder; try again.
            var (own, named) = (stat(), stat())
            if fstat(descriptor, &own) == 0, lstat(url.path, &named) == 0, own.st_ino == named.st_ino {
                return descriptor
            }
            close(descriptor)
        }
    }

    deinit {
        interruption = nil
        remove()
        close(descriptor)
    }

    /// Removes the staged files and the backups; keeps the folder, because the lock is on the folder.
    private func empty() {
        let names = try? FileSystem.again { try FileManager.default.contentsOfDirectory(atPath: url.path) }
        for name in names ?? [] {
            let isOwn = name.hasPrefix(Self.aside) || name.allSatisfy { $0.isASCII && $0.isNumber }
            if isOwn { try? FileManager.default.removeItem(at: url.appendingPathComponent(name)) }
        }
    }

    /// Removes the staged files and the backups, and then the folder if it is empty.
    private func remove() {
        empty()
        rmdir(url.path)
        if let outer { rmdir(outer.path) }
    }

    /// The name prefix for the backups of replaced files.
    static let aside = "old-"

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
        for _ in 0..<Self.patience where FileSystem.kind(of: url.path) != nil {
            remove()
            usleep(1000)
        }
        return true
    }
}
