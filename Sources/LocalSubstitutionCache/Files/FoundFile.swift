/// A file in the manifest's folder.
package struct FoundFile: Sendable {
    enum Location {
        /// The real path of the file's directory; the file's name there is the last component of ``path``.
        ///
        /// All files of one directory share the text of this path, which saves memory.
        case inFolder(FilePath)
        /// The file's ``path`` is a symbolic link; the value is the real path of the file to which it leads.
        case elsewhere(FilePath)
    }

    /// The path as it is on disk, relative to the manifest's folder.
    package let path: String
    private let location: Location
    /// The size in bytes when the file was found.
    let size: Int

    /// Checks that a readable regular file, and not a link, is at the location.
    ///
    /// The same is checked again when the file is opened.
    init(_ path: String, _ location: Location, in folder: OpenedFolder) throws(FileProblem) {
        self.path = path
        self.location = location
        let (directory, name) = Self.directoryAndName(path, location)
        size = try OpenedFile.size(ofReadable: name, in: folder.descriptor(of: directory))
    }

    /// The absolute path, without symbolic links.
    package var realPath: FilePath {
        let (directory, name) = directoryAndName
        return FilePath((directory.text == "/" ? "" : directory.text) + "/" + name)
    }

    /// The file's directory, as an absolute path without symbolic links, and the file's name in that directory.
    var directoryAndName: (directory: FilePath, name: String) { Self.directoryAndName(path, location) }

    private static func directoryAndName(_ path: String, _ location: Location) -> (directory: FilePath, name: String) {
        switch location {
        case .inFolder(let folder):
            return (folder, String(path[start(ofNameIn: path)...]))
        case .elsewhere(let realPath):
            let start = start(ofNameIn: realPath.text)
            let directory = String(realPath.text[..<start].dropLast())
            return (FilePath(directory.isEmpty ? "/" : directory), String(realPath.text[start...]))
        }
    }

    private static func start(ofNameIn path: String) -> String.Index {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
    }
}
