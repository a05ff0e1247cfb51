/// One file of the folder.
package struct FoundFile: Sendable {
    enum Location {
        /// By its own name in a folder, whose path many files share.
        case inFolder(FilePath)
        /// Where a link leads.
        case elsewhere(FilePath)
    }

    /// As it is on disk, relative to the manifest's folder.
    package let path: String
    private let location: Location
    /// In bytes, when it was looked at.
    let size: Int

    /// Checks that a readable regular file, not a link, lies there; opening it checks this again.
    init(_ path: String, _ location: Location, in folder: OpenedFolder) throws(FileProblem) {
        self.path = path
        self.location = location
        let (directory, name) = Self.place(path, location)
        size = try OpenedFile.size(ofReadable: name, in: folder.descriptor(of: directory))
    }

    /// Absolute, without symbolic links.
    package var realPath: FilePath {
        let (directory, name) = place
        return FilePath((directory.text == "/" ? "" : directory.text) + "/" + name)
    }

    /// The directory that it lies in, absolute and without symbolic links, and its name there.
    var place: (directory: FilePath, name: String) { Self.place(path, location) }

    private static func place(_ path: String, _ location: Location) -> (directory: FilePath, name: String) {
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
