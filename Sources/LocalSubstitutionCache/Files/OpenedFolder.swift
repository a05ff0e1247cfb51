import Foundation

/// An open folder; everything below it is opened through this object, directory by directory.
///
/// Each directory is opened relative to the descriptor of its parent directory, and no link is followed. A path does
/// not prove where a file is: between two uses of the path, another process may replace a directory in the path with
/// a link. A file that is opened through this object lies below the folder even then.
// Not Sendable: each load of a manifest opens its own folder.
package final class OpenedFolder {
    /// The absolute path, without symbolic links.
    package let realPath: FilePath
    private let root: Int32
    /// The directory that was used last; nil if it could not be opened.
    ///
    /// Its descriptor is the last of `openDirectories`, or `root` if there are none. The descriptors stay open, because
    /// the next file is usually in the same directory.
    private var current: FilePath?
    private var openDirectories: [(name: String, descriptor: Int32)] = []

    /// Opens the folder at `path`, which may be a link.
    package init(_ path: String) throws(FileProblem) {
        realPath = try FilePath(resolving: path)
        current = realPath
        let path = realPath.text
        root = uninterrupted { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
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
    /// - Throws: ``FileProblem`` if a name on the path is missing, or is not a directory.
    func descriptor(of directory: FilePath) throws(FileProblem) -> Int32 {
        if directory == current { return openDirectories.last?.descriptor ?? root }
        guard directory.isInside(realPath) else { throw .outside }
        let names = directory.text.utf8.dropFirst(realPath.text.utf8.count)
            .split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        closeDescriptors(after: zip(openDirectories, names).prefix { $0.name.utf8.elementsEqual($1.utf8) }.count)
        // If the loop below fails, no directory is current.
        current = nil
        for name in names[openDirectories.count...] {
            let parent = openDirectories.last?.descriptor ?? root
            let descriptor = uninterrupted { openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
            guard descriptor >= 0 else { throw problem(errno, with: name) }
            openDirectories.append((name, descriptor))
        }
        current = directory
        return openDirectories.last?.descriptor ?? root
    }

    /// Returns the reason why the directory `name` could not be opened without following links.
    private func problem(_ code: Int32, with name: String) -> FileProblem {
        // For a link, some systems report `ELOOP`, and others report `ENOTDIR`.
        guard code == ELOOP || code == ENOTDIR else { return FileProblem(errno: code) }
        var status = stat()
        let isKnown = fstatat(openDirectories.last?.descriptor ?? root, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        return isKnown && status.st_mode & S_IFMT != S_IFLNK ? .isFile : .replaced
    }

    private func closeDescriptors(after count: Int) {
        for part in openDirectories[count...] { close(part.descriptor) }
        openDirectories.removeSubrange(count...)
    }

    /// Opens a file that an earlier search has found.
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
    package func names(in directory: FilePath) throws(FileProblem) -> [String] {
        let descriptor = try descriptor(of: directory)
        let own = uninterrupted { openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
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
