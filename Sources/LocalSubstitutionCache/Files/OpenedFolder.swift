import Foundation

/// An open folder, through which everything below it is opened, directory by directory.
///
/// Each directory is opened relative to the descriptor of its parent directory, and no link is followed. A path is no
/// proof of a file's location: between two uses of the path, another process may replace one of its directories with a
/// link. A file opened here lies below the folder, even if another process replaces a directory meanwhile.
// Not Sendable: each load of a manifest opens its own folder.
package final class OpenedFolder {
    /// The absolute path, without symbolic links.
    let realPath: FilePath
    private let root: Int32
    /// The directory that was used last, at the end of `openDirectories`; the next file is usually in it, too.
    private var current: FilePath?
    private var openDirectories: [(name: String, descriptor: Int32)] = []

    /// Opens the folder at `path`, which may be a link.
    init(_ path: String) throws(FileProblem) {
        realPath = try FilePath(resolving: path)
        current = realPath
        root = open(realPath.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw errno == ENOTDIR ? .isFile : FileProblem(errno: errno) }
    }

    deinit {
        closeDescriptors(after: 0)
        close(root)
    }

    /// Returns a descriptor of `directory`; the descriptor is valid until the next call.
    ///
    /// - Parameter directory: An absolute path without symbolic links: the folder itself, or a directory below it.
    /// - Returns: The descriptor; the caller does not close it.
    /// - Throws: ``FileProblem`` if a part of the path is missing, or is not a directory.
    func descriptor(of directory: FilePath) throws(FileProblem) -> Int32 {
        if directory == current { return openDirectories.last?.descriptor ?? root }
        guard directory.isInside(realPath) else { throw .outside }
        let names = directory.text.utf8.dropFirst(realPath.text.utf8.count)
            .split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        closeDescriptors(after: zip(openDirectories, names).prefix { $0.name.utf8.elementsEqual($1.utf8) }.count)
        // No directory is current until the loop below has reached the requested one.
        current = nil
        for name in names[openDirectories.count...] {
            let descriptor = openat(
                openDirectories.last?.descriptor ?? root,
                name,
                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            )
            guard descriptor >= 0 else { throw problem(errno, with: name) }
            openDirectories.append((name, descriptor))
        }
        current = directory
        return openDirectories.last?.descriptor ?? root
    }

    /// Returns the reason why `name` could not be opened as a directory without following a link.
    private func problem(_ code: Int32, with name: String) -> FileProblem {
        // Systems report different errors for a link.
        guard code == ELOOP || code == ENOTDIR else { return FileProblem(errno: code) }
        var status = stat()
        let isKnown = fstatat(openDirectories.last?.descriptor ?? root, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        return isKnown && status.st_mode & S_IFMT != S_IFLNK ? .isFile : .replaced
    }

    private func closeDescriptors(after count: Int) {
        for part in openDirectories[count...] { close(part.descriptor) }
        openDirectories.removeSubrange(count...)
    }

    /// Opens a file that was found before.
    package func file(_ file: FoundFile) throws(FileProblem) -> OpenedFile {
        let (directory, name) = file.directoryAndName
        do {
            return try OpenedFile(name, in: descriptor(of: directory))
        } catch {
            throw error == .isLink || error == .isFile ? .replaced : error
        }
    }

    /// Returns the names in `directory`, without `.` and `..`, in no particular order.
    ///
    /// Bytes that are not UTF-8 become U+FFFD.
    func names(in directory: FilePath) throws(FileProblem) -> [String] {
        let own = openat(try descriptor(of: directory), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0, let stream = fdopendir(own) else {
            let problem = FileProblem(errno: errno)
            if own >= 0 { close(own) }
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
