import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The ZIP file of an extension, beside the extension's folder.
struct ArchiveFile {
    /// The path for messages: the folder's path as the user wrote it, followed by `.zip`.
    ///
    /// If the folder's path is a symbolic link to a folder with a different name, the path for messages is the
    /// archive's absolute path.
    let path: String
    private let url: URL

    /// The archive's first file.
    private static let first = "manifest.json"

    /// Checks that the archive may be written: its path is free, or holds a file that this tool wrote.
    init(beside folder: OutputFolder) throws {
        url = folder.url.appendingPathExtension("zip")
        path =
            folder.url.lastPathComponent == (folder.path as NSString).lastPathComponent
            ? String(folder.path.reversed().drop { $0 == "/" }.reversed()) + ".zip" : url.path
        guard let kind = FileSystem.kind(of: url.path) else { return }
        guard kind == .typeRegular else {
            throw UsageError("\(quoted(path)) is not a file; move it, or name another folder")
        }
        let data = try FileSystem.contents(replacing: path, at: url)
        guard data.isEmpty || Seal.isIntact(data) else {
            throw UsageError(
                "this tool did not write \(quoted(path)), or it was edited since; move it, or name another folder"
            )
        }
    }

    /// Returns the archive's bytes.
    static func data(_ files: [String: WebExtension.Content]) throws -> Data {
        var archive = ZIPArchive()
        let paths = files.keys.sorted { ($0 == first ? 0 : 1, $0) < ($1 == first ? 0 : 1, $1) }
        for path in paths {
            if let content = files[path] { try archive.append(content.data, as: path) }
        }
        return archive.data
    }

    /// Writes the archive; replaces an existing archive only when the new one is completely on disk.
    func write(_ data: Data) throws(ToolError) {
        do {
            try FileSystem.again { try data.write(to: url, options: .atomic) }
        } catch {
            throw ToolError("\(quoted(path)) cannot be written, though the folder was: \(FileSystem.reason(error))")
        }
    }
}
