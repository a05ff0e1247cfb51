import Foundation
import LocalSubstitutionCache
import SubstitutionStandards

/// The file of a recording, in which a reader finds a complete version at any moment.
///
/// Each version is first written to a temporary file in the same folder. Then the temporary file replaces the
/// recording's file.
struct RecordingFile: Sendable {
    let url: URL
    /// The file's path without symbolic links in the folder's path.
    let path: FilePath
    /// The temporary file for the next version; each recording has a different one.
    private let draft: URL

    /// - Parameter url: The file, in a folder that exists.
    /// - Throws: ``RecordingProblem``.
    init(_ url: URL) throws(RecordingProblem) {
        guard url.isFileURL else { throw .noFile(url.absoluteString) }
        let folder = url.deletingLastPathComponent()
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isDirectory), isDirectory.boolValue
        else { throw .noFolder(folder.path) }
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw .unwritten(url.path, "it is a folder")
        }
        self.url = url
        let prefix = ".\(url.lastPathComponent)."
        let unique = "\(ProcessInfo.processInfo.processIdentifier).\(UUID().uuidString.prefix(8))"
        let realFolder = (try? FilePath(resolving: folder.path))?.text ?? folder.path
        draft = URL(fileURLWithPath: realFolder).appendingPathComponent(prefix + unique)
        path = FilePath(realFolder + "/" + url.lastPathComponent)
        do {
            // Remove the temporary files of processes that were killed while they wrote.
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let parts = name.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
                guard name.hasPrefix(prefix), parts.count == 2, parts[1].count == 8, parts[1].allSatisfy(\.isHexDigit),
                    let process = pid_t(parts[0]), process > 0, kill(process, 0) != 0, errno == ESRCH
                else { continue }
                unlink(folder.appendingPathComponent(name).path)
            }
        } catch {
            throw .unwritten(url.path, "the folder cannot be listed: \(error.localizedDescription)")
        }
    }

    /// Writes a version.
    ///
    /// - Parameter parts: The text of the version, in parts.
    /// - Throws: ``RecordingProblem`` if the version cannot be written; the previous version stays.
    func write(_ parts: some Sequence<Data>) throws(RecordingProblem) {
        unlink(draft.path)
        // Let only the owner read the file, and follow no symbolic link.
        let descriptor = uninterrupted {
            open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        guard descriptor >= 0 else { throw .unwritten(url.path, Self.reason) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            var buffer = Data(capacity: 1 << 16)
            for part in parts {
                buffer.append(part)
                if buffer.count >= 1 << 16 {
                    try file.write(contentsOf: buffer)
                    buffer.removeAll(keepingCapacity: true)
                }
            }
            try file.write(contentsOf: buffer)
            try file.close()
        } catch {
            unlink(draft.path)
            throw .unwritten(url.path, POSIXErrorCode(behind: error)?.words ?? error.localizedDescription)
        }
        leaveOutOfBackups()
        guard rename(draft.path, path.text) == 0 else {
            let reason = Self.reason
            unlink(draft.path)
            throw .unwritten(url.path, reason)
        }
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private func leaveOutOfBackups() {
        // Linux has no attribute that excludes a file from backups.
        #if canImport(Darwin)
        var (file, values) = (draft, URLResourceValues())
        values.isExcludedFromBackup = true
        try? file.setResourceValues(values)
        #endif
    }
}

/// The reason why nothing can be recorded.
enum RecordingProblem: Error, LocalizedError, CustomStringConvertible {
    case noFile(String)
    case noFolder(String)
    case unwritten(String, String)

    var description: String {
        switch self {
        case .noFile(let url): "The recording cannot be written to \(quoted(url)): that is not a file URL."
        case .noFolder(let path):
            "The recording cannot be written: the folder \"\(path)\" does not exist; create it first."
        case .unwritten(let path, let reason):
            // The text of an error of Foundation ends with a full stop.
            "The recording cannot be written to \"\(path)\": \(reason.hasSuffix(".") ? reason : reason + ".")"
        }
    }

    var errorDescription: String? { description }
}
