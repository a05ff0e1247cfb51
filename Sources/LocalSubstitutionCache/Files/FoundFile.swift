/// A file in the manifest's folder.
package struct FoundFile: Sendable {
    /// The path as it is on disk, relative to the manifest's folder.
    package let path: String
    /// The absolute path of the file's directory, without symbolic links.
    ///
    /// All files of one directory share the text of this path, which saves memory.
    let directory: FilePath
    /// The file's name in the directory if ``path`` is a symbolic link to the file; nil if `path` ends in the name.
    private let target: String?
    /// The size in bytes when the file was found.
    let size: Int

    /// Checks that a readable regular file, and not a link, is in the directory.
    ///
    /// The same is checked again when the file is read.
    init(
        _ path: String,
        in directory: FilePath,
        target: String? = nil,
        of folder: OpenedFolder
    ) throws(FileProblem) {
        (self.path, self.directory, self.target) = (path, directory, target)
        size = try folder.file(target ?? FilePath.split(path).name, in: directory).size
    }

    /// The file's name in its directory.
    var name: String { target ?? FilePath.split(path).name }

    /// The absolute path, without symbolic links.
    package var realPath: FilePath { directory.appending(name) }
}
