package import Foundation

/// A regular file that is open for reading, and its identity.
///
/// Because of `O_NONBLOCK`, opening a FIFO that has no writer does not block. Because of `O_CLOEXEC`, no program that
/// the process starts inherits the descriptor. Kind, size and date are read from the open descriptor and not by name,
/// so they are always those of this file.
package struct OpenedFile: ~Copyable {
    package let descriptor: Int32
    let identity: FileIdentity

    /// Opens the file at `path`.
    ///
    /// - Parameters:
    ///   - path: The path to pass to `openat`.
    ///   - directory: A descriptor of the directory to which a relative path refers.
    ///   - followsLink: True to follow the link if the last name of the path is a symbolic link.
    /// - Throws: ``FileProblem`` if nothing is at the path, or if something other than a regular file is there.
    package init(_ path: String, in directory: Int32 = AT_FDCWD, followsLink: Bool = false) throws(FileProblem) {
        let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
        let descriptor = uninterrupted { openat(directory, path, flags) }
        guard descriptor >= 0 else {
            switch errno {
            case ELOOP where !followsLink: throw .isLink
            // `open` fails with these codes for a socket.
            case ENXIO, EOPNOTSUPP: throw .notRegular
            case let code: throw FileProblem(errno: code)
            }
        }
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        guard isKnown, status.st_mode & S_IFMT == S_IFREG else {
            let problem = isKnown ? nil : FileProblem(errno: errno)
            close(descriptor)
            throw problem ?? (status.st_mode & S_IFMT == S_IFDIR ? .isFolder : .notRegular)
        }
        self.descriptor = descriptor
        identity = FileIdentity(status)
    }

    deinit {
        close(descriptor)
    }

    /// The size in bytes.
    package var size: Int { identity.size }

    /// Waits until the bytes are on the disk; otherwise, the file may be empty after a loss of power.
    func waitUntilWritten() throws(FileProblem) {
        guard uninterrupted({ fsync(descriptor) }) == 0 else { throw FileProblem(errno: errno) }
    }
}

/// The device, inode, size and modification time, which distinguish one version of a file from all others.
package struct FileIdentity: Equatable, Sendable {
    let device: Int
    let number: Int
    /// The size in bytes.
    package let size: Int
    /// The modification time in nanoseconds since 1970.
    ///
    /// The number overflows after 2262. The overflow does not matter, because the number only has to differ between two
    /// versions of a file.
    let modified: Int

    /// The modification time.
    package var date: Date { Date(timeIntervalSince1970: Double(modified) / 1_000_000_000) }

    package init(_ status: stat) {
        // Apple platforms and Linux name the field differently.
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        device = Int(truncatingIfNeeded: status.st_dev)
        number = Int(truncatingIfNeeded: status.st_ino)
        size = Int(status.st_size)
        modified = Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
    }
}

/// Calls a function of the system, and calls it again if a signal has interrupted it.
package func uninterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
