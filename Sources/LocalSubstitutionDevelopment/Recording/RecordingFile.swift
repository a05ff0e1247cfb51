import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// The file of a recording, in which a reader finds a complete version at any moment.
///
/// Each version is first written to a temporary file in the same folder. Then the temporary file replaces the
/// recording's file. Only one process may write to it.
struct RecordingFile: Sendable {
    let url: URL
    /// The file's path without symbolic links in the folder's path.
    let path: FilePath
    /// The temporary file for the next version; a process that was killed leaves at most this one.
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
        let realFolder = (try? FilePath(resolving: folder.path))?.text ?? folder.path
        draft = URL(fileURLWithPath: realFolder).appendingPathComponent(".\(url.lastPathComponent).draft")
        path = FilePath(realFolder + "/" + url.lastPathComponent)
    }

    /// Writes a version.
    ///
    /// - Throws: ``RecordingProblem`` if the version cannot be written; the previous version stays.
    func write(_ text: Data) throws(RecordingProblem) {
        unlink(draft.path)
        // Let only the owner read the file, and follow no symbolic link.
        let descriptor = uninterrupted {
            open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        guard descriptor >= 0 else { throw .unwritten(url.path, Self.reason) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: text)
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
