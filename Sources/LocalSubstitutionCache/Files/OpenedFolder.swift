import Foundation

/// An open folder; every directory and file below it is opened through this object.
///
/// A path does not prove where a file is: between two uses of the path, another process may replace a directory in the
/// path with a link. So each directory is opened first, and then the system says where the open directory lies. Its
/// files are opened relative to its descriptor, without following links.
// Not Sendable: each load of a manifest opens its own folder.
package final class OpenedFolder {
    /// The absolute path when the folder was opened, without symbolic links.
    package let realPath: FilePath
    private let root: Int32
    /// The directory that was used last; it stays open, because the next file is usually in the same directory.
    private var current: (realPath: FilePath, descriptor: Int32)

    /// Opens the folder at `path`, which may be a link.
    package init(_ path: String) throws(FileProblem) {
        root = try Self.open(path, in: AT_FDCWD)
        do throws(FileProblem) {
            realPath = try FilePath(ofOpen: root)
        } catch {
            close(root)
            throw error
        }
        current = (realPath, root)
    }

    deinit {
        if current.descriptor != root { close(current.descriptor) }
        close(root)
    }

    private static func open(_ path: String, in directory: Int32) throws(FileProblem) -> Int32 {
        let descriptor = uninterrupted { openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw errno == ENOTDIR ? .isFile : FileProblem(errno: errno) }
        return descriptor
    }

    /// Opens the directory at an absolute path, and returns its path without symbolic links.
    ///
    /// Both paths begin with ``realPath``, even if the folder is moved meanwhile.
    ///
    /// - Throws: ``FileProblem/outside`` if the directory does not lie in the folder; another problem if there is no
    ///   directory at the path.
    func directory(at path: FilePath) throws(FileProblem) -> FilePath {
        if path == current.realPath { return path }
        guard path.isInside(realPath) else { throw .outside }
        let opened = try Self.open("./" + rest(of: path, below: realPath), in: root)
        do throws(FileProblem) {
            let (folder, place) = (try FilePath(ofOpen: root), try FilePath(ofOpen: opened))
            guard place.isInside(folder) else { throw .outside }
            if current.descriptor != root { close(current.descriptor) }
            current = (FilePath(realPath.text + rest(of: place, below: folder)), opened)
            return current.realPath
        } catch {
            close(opened)
            throw error
        }
    }

    private func rest(of path: FilePath, below folder: FilePath) -> String {
        String(Substring(path.text.utf8.dropFirst(folder.text.utf8.count)))
    }

    /// Returns the descriptor of the directory at a path that ``directory(at:)`` has returned; valid until the next
    /// call.
    private func descriptor(of directory: FilePath) throws(FileProblem) -> Int32 {
        guard try self.directory(at: directory) == directory else { throw .replaced }
        return current.descriptor
    }

    /// Opens a file in a directory whose path ``directory(at:)`` has returned.
    func file(_ name: String, in directory: FilePath) throws(FileProblem) -> OpenedFile {
        try OpenedFile(name, in: descriptor(of: directory))
    }

    /// Opens a file that an earlier search has found.
    package func file(_ file: FoundFile) throws(FileProblem) -> OpenedFile {
        do throws(FileProblem) {
            return try self.file(file.name, in: file.directory)
        } catch {
            throw [.isLink, .isFile, .outside].contains(error) ? .replaced : error
        }
    }

    /// Returns the names in `directory`, without `.` and `..`, in no particular order.
    ///
    /// Bytes that are not UTF-8 become U+FFFD.
    package func names(in directory: FilePath) throws(FileProblem) -> [String] {
        let own = try Self.open(".", in: descriptor(of: directory))
        guard let stream = fdopendir(own) else {
            let problem = FileProblem(errno: errno)
            close(own)
            throw problem
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FileProblem(errno: errno) }
        return names
    }
}
