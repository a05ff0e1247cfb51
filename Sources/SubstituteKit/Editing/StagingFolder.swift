import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A folder in the manifest's, in which files are made before they get their places.
///
/// It is called `.substitute`, so no entry ships it, and nothing else is touched until all is ready. One run at a time
/// has it; what a run left that was killed is removed by the next.
// The state is only accessed inside the lock.
final class StagingFolder: @unchecked Sendable {
    let url: URL
    private let descriptor: Int32
    private let lock = NSLock()
    private var count = 0
    private var isCommitted = false
    /// A folder that was made only for this one.
    private var outer: URL?
    /// Keeps the tool from being ended at once.
    private var interruption: AnyObject?
    /// Called after each step of a change, so that a test sees what a run leaves that is killed there.
    var afterEachStep: () -> Void = {}

    /// Makes the folder, which is removed when somebody interrupts the tool.
    static func guarded(for manifest: ManifestFile, isDryRun: Bool, _ console: Console) throws -> StagingFolder {
        let maker = Maker()
        // From now on an interruption leaves no folder behind.
        let interruption = console.interruptions { maker.folder?.undo() ?? true }
        let folder = try maker.make { try StagingFolder(for: manifest, isDryRun: isDryRun) }
        folder.interruption = interruption
        return folder
    }

    /// What is known of the folder while it is made, when an interruption waits for it.
    // Mutable state is only accessed inside the lock.
    private final class Maker: @unchecked Sendable {
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

    /// Makes the folder beside a manifest, or, for a run that is to write nothing, where temporary files lie.
    private convenience init(for manifest: ManifestFile, isDryRun: Bool) throws(ToolError) {
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        if isDryRun { mkdir(temporary.path, 0o700) }
        try self.init(in: isDryRun ? temporary : manifest.folder)
        if isDryRun { outer = temporary }
    }

    /// Makes the folder in the one that the manifest lies in.
    ///
    /// - Throws: ``ToolError`` when it cannot be made, or another run has it.
    init(in folder: URL) throws(ToolError) {
        let url = folder.appendingPathComponent(".substitute")
        let descriptor = try Self.lockedFolder(url, in: folder)
        // Not before it is ours: an initialiser that throws when all is set ends in deinit, which removes the folder.
        (self.url, self.descriptor) = (url, descriptor)
        empty()
    }

    /// A descriptor of the folder, which no other run has.
    private static func lockedFolder(_ url: URL, in folder: URL) throws(ToolError) -> Int32 {
        while true {
            let isMade = mkdir(url.path, 0o777) == 0
            let code = errno
            let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else {
                // Another run has ended between the two calls.
                if errno == ENOENT, !isMade, code == EEXIST { continue }
                let reason = String(cString: strerror(isMade ? errno : code))
                throw ToolError("nothing can be written to \(quoted(folder.path)): \(reason)")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw ToolError("another substitute is at work in \(quoted(folder.path)); wait for its end")
            }
            // What another run has removed meanwhile is nobody's.
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

    /// Removes what runs leave; the folder itself stays, on which the lock is.
    private func empty() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] {
            let isOwn = name.hasPrefix(Self.aside) || name.allSatisfy { $0.isASCII && $0.isNumber }
            if isOwn { try? FileManager.default.removeItem(at: url.appendingPathComponent(name)) }
        }
    }

    /// Removes what runs leave, and the folder when nothing else is in it.
    private func remove() {
        empty()
        rmdir(url.path)
        if let outer { rmdir(outer.path) }
    }

    /// With what names of files begin that were replaced.
    static let aside = "old-"

    /// A new place for a file.
    func place() -> URL {
        lock.withLock {
            count += 1
            return url.appendingPathComponent(String(count))
        }
    }

    /// A file with these bytes.
    func write(_ data: Data) throws(ToolError) -> URL {
        let file = place()
        do {
            try data.write(to: file)
        } catch {
            throw ToolError("nothing was changed: \(FileSystem.reason(error))")
        }
        return file
    }

    /// Makes changes that Control-C does not interrupt; when they are made, the run goes on to its end.
    func commit(_ changes: () throws -> Void) rethrows {
        try lock.withLock {
            try changes()
            isCommitted = true
        }
    }

    /// The most looks, a millisecond apart, for files that are still written after an interruption.
    private static let patience = 1000

    /// Removes what was made, unless all is done that the tool was to do.
    ///
    /// - Returns: Whether the tool may end.
    private func undo() -> Bool {
        // What has begun to get its place gets it, or is put back. No file gets a new place after that.
        lock.lock()
        if isCommitted {
            lock.unlock()
            return false
        }
        // One that has its place may still be written.
        for _ in 0..<Self.patience where FileSystem.kind(of: url.path) != nil {
            remove()
            usleep(1000)
        }
        return true
    }
}
