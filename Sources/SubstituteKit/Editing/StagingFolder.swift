import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A folder inside the manifest's folder, in which files are created before they move to their final paths.
///
/// Its name is `.substitute`, so that a folder's entry leaves it out. Nothing outside it is touched until all files are
/// ready. Only one run of the tool at a time can hold it. If that run is killed, the next one removes the files that it
/// left.
// Mutable state is only accessed inside the lock.
final class StagingFolder: @unchecked Sendable {
    let url: URL
    private let descriptor: Int32
    private let lock = NSLock()
    private var count = 0
    private var isCommitted = false
    /// In a dry run, the temporary folder that was created only to contain this one; nil otherwise.
    private var outer: URL?
    /// The handler for interruptions; while it exists, an interruption does not end the tool immediately.
    private var interruption: AnyObject?
    /// Called after each step of a change, so that a test can see what a run leaves behind if it is killed there.
    var afterEachStep: () -> Void = {}

    /// Creates the folder, and removes it again if the user interrupts the tool.
    static func guarded(for manifest: ManifestFile, isDryRun: Bool, _ console: Console) throws -> StagingFolder {
        let maker = FolderHolder()
        // From here on, an interruption leaves no folder behind.
        let interruption = console.interruptions { maker.folder?.undo() ?? true }
        let folder = try maker.make { try StagingFolder(for: manifest, isDryRun: isDryRun) }
        folder.interruption = interruption
        return folder
    }

    /// Holds the folder for the interruption handler, which waits for the lock while the folder is being created.
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

    /// Creates the folder beside a manifest, or, for a dry run, in the system's temporary directory.
    private convenience init(for manifest: ManifestFile, isDryRun: Bool) throws(ToolError) {
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        if isDryRun { mkdir(temporary.path, 0o700) }
        try self.init(in: isDryRun ? temporary : manifest.folder)
        if isDryRun { outer = temporary }
    }

    /// Creates the staging folder in the manifest's folder.
    ///
    /// - Throws: ``ToolError`` if it cannot be created, or if another run holds it.
    init(in folder: URL) throws(ToolError) {
        let url = folder.appendingPathComponent(".substitute")
        let descriptor = try Self.lockedFolder(url, in: folder)
        // Do not set the properties before the lock is held: an initialiser that throws after all of them are set runs
        // `deinit`, which removes the folder.
        (self.url, self.descriptor) = (url, descriptor)
        empty()
    }

    /// Creates the folder if it does not exist, locks it, and returns its descriptor.
    private static func lockedFolder(_ url: URL, in folder: URL) throws(ToolError) -> Int32 {
        while true {
            let isMade = mkdir(url.path, 0o777) == 0
            let code = errno
            let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else {
                // Another run ended between the two calls, and removed the folder.
                if errno == ENOENT, !isMade, code == EEXIST { continue }
                let reason = String(cString: strerror(isMade ? errno : code))
                throw ToolError("nothing can be written to \(quoted(folder.path)): \(reason)")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw ToolError("another run of substitute is changing \(quoted(folder.path)); wait until it ends")
            }
            // If another run removed the folder before it was locked, this descriptor belongs to a folder that is gone;
            // try again.
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

    /// Removes the staged files and the backups, but not the folder, which carries the lock.
    private func empty() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] {
            let isOwn = name.hasPrefix(Self.aside) || name.allSatisfy { $0.isASCII && $0.isNumber }
            if isOwn { try? FileManager.default.removeItem(at: url.appendingPathComponent(name)) }
        }
    }

    /// Removes the staged files and the backups, and also the folder if nothing else is in it.
    private func remove() {
        empty()
        rmdir(url.path)
        if let outer { rmdir(outer.path) }
    }

    /// The prefix of the names under which replaced files are kept.
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
            try data.write(to: file)
        } catch {
            throw ToolError("nothing was changed: \(FileSystem.reason(error))")
        }
        return file
    }

    /// Makes changes that Control-C does not interrupt; once they are made, the run continues to its end.
    func commit(_ changes: () throws -> Void) rethrows {
        try lock.withLock {
            try changes()
            isCommitted = true
        }
    }

    /// The maximum number of attempts, a millisecond apart, to remove files that are still being written.
    private static let patience = 1000

    /// Removes the folder, unless the changes have been committed.
    ///
    /// - Returns: True if the tool may end.
    private func undo() -> Bool {
        // If a commit is in progress, wait until it has finished or has been undone. Then keep the lock, so that
        // `newFileURL()` gives out no new URL and no commit begins.
        lock.lock()
        if isCommitted {
            lock.unlock()
            return false
        }
        // A file whose URL was given out earlier may still be written.
        for _ in 0..<Self.patience where FileSystem.kind(of: url.path) != nil {
            remove()
            usleep(1000)
        }
        return true
    }
}
