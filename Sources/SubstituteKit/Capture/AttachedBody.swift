import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A body that a recording program has stored in a file beside the recording, and named in `content._file`.
///
/// Playwright records in this way: https://playwright.dev/docs/api/class-browser#browser-new-context (`recordHar`).
struct AttachedBody {
    /// The file's path, as the recording names it.
    let name: String
    /// The recording's folder; nil if the recording came from standard input.
    let folder: URL?

    /// The largest file that is read, in bytes.
    private static let largest = 1_000_000_000

    /// The bytes of the file.
    ///
    /// - Throws: ``ToolError`` if the file lies outside the recording's folder, is hidden, or cannot be read.
    var bytes: Data {
        get throws(ToolError) {
            guard let folder else {
                throw ToolError(
                    "its body is in the file \(quoted(name)) beside the recording; name the recording's file"
                )
            }
            let parts = name.split(separator: "/", omittingEmptySubsequences: false)
            let root = folder.resolvingSymlinksInPath().path
            let file = folder.appendingPathComponent(name).resolvingSymlinksInPath().path
            guard parts.allSatisfy({ !["", ".", ".."].contains($0) }), !name.utf8.contains(0),
                file.hasPrefix(root == "/" ? root : root + "/")
            else { throw ToolError("its body is in \(quoted(name)), outside the recording's folder") }
            // A recording from someone else may name files such as `.env`.
            guard !parts.contains(where: { $0.hasPrefix(".") }) else {
                throw ToolError("its body is in \(quoted(name)), which is hidden")
            }
            // Without `O_NONBLOCK`, opening a pipe would wait for a program that writes into it.
            let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw ToolError(
                    "its body is in \(quoted(name)), which cannot be read: \(String(cString: strerror(errno)))"
                )
            }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw ToolError("its body is in \(quoted(name)), which is not a plain file")
            }
            guard status.st_size <= Self.largest else {
                throw ToolError("its body is in \(quoted(name)), which has more than \(ByteCount(Self.largest))")
            }
            do {
                return try handle.readToEnd() ?? Data()
            } catch {
                throw ToolError("its body is in \(quoted(name)), which cannot be read: \(FileSystem.reason(error))")
            }
        }
    }
}
