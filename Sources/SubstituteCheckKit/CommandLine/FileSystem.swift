package import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// Short forms of the system's and of Foundation's functions for files.
package enum FileSystem {
    /// Returns the type of the file or folder at a path, without following a link; nil if there is none.
    ///
    /// The type is ``FileAttributeType/unexamined`` if the system does not say what is there.
    package static func kind(of path: String) -> FileAttributeType? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return [ENOENT, ENOTDIR].contains(errno) ? nil : .unexamined }
        return switch status.st_mode & S_IFMT {
        case S_IFREG: .typeRegular
        case S_IFDIR: .typeDirectory
        case S_IFLNK: .typeSymbolicLink
        case S_IFSOCK: .typeSocket
        case S_IFCHR: .typeCharacterSpecial
        case S_IFBLK: .typeBlockSpecial
        default: .typeUnknown
        }
    }

    /// Calls functions of Foundation, and calls them again if a signal has interrupted them.
    ///
    /// - Parameter body: The calls; a part that was done before the interruption is done again.
    /// - Returns: The value that `body` returns.
    /// - Throws: Any other error that `body` throws.
    package static func again<T>(_ body: () throws -> T) throws -> T {
        while true {
            do {
                return try body()
            } catch {
                guard POSIXErrorCode(behind: error) == .EINTR else { throw error }
            }
        }
    }

    /// Returns the bytes of a file.
    package static func contents(of file: URL) throws -> Data { try again { try Data(contentsOf: file) } }

    /// Returns the bytes of a file that is to be replaced.
    package static func contents(replacing path: String, at file: URL) throws(ToolError) -> Data {
        do {
            return try contents(of: file)
        } catch {
            throw ToolError("\(quoted(path)) cannot be read, and is left as it was: \(reason(error))")
        }
    }

    /// Creates a file; removes it again if it cannot be written whole.
    ///
    /// Fails if a file, a folder or a symbolic link already has this name.
    package static func create(_ data: Data, at file: URL, mode: mode_t = 0o666) throws {
        let descriptor = uninterrupted { open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        guard descriptor >= 0 else { throw systemError }
        defer { close(descriptor) }
        do {
            var rest = data[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { bytes in
                    uninterrupted { write(descriptor, bytes.baseAddress, bytes.count) }
                }
                guard count > 0 else { throw systemError }
                rest = rest.dropFirst(count)
            }
            guard uninterrupted({ fsync(descriptor) }) == 0 else { throw systemError }
        } catch {
            unlink(file.path)
            throw error
        }
    }

    /// The error of the last call of a function of the system.
    package static var systemError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    /// Returns the system's description of an error.
    package static func reason(_ error: any Error) -> String {
        POSIXErrorCode(behind: error)?.words ?? error.localizedDescription
    }
}

extension FileAttributeType {
    /// The type of something that cannot be examined.
    package static let unexamined = FileAttributeType(rawValue: "unexamined")
}
