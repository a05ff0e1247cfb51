import Foundation

/// The folder of a manifest's files, as it is on disk.
///
/// Each name in a path is looked up in the listing of its directory, and its case must match. So a manifest that works
/// on a case-insensitive file system also works on a case-sensitive one. A name in a different Unicode form (NFC or
/// NFD) is found, too.
///
/// Each directory is listed once, even if several paths lead to it. Nothing outside the manifest's folder is read.
package final class ManifestFolder {
    /// The maximum number of directories that may be nested below the directory of a walk.
    package static let maximumDepth = 100

    /// The open folder; files in it are opened through this object.
    package let opened: OpenedFolder
    private let root: Place
    /// The real path of the file that every walk leaves out: the manifest itself.
    private let excluded: FilePath?
    /// The path of the manifest relative to the folder, which may be moved while the real path is being looked up.
    private let excludedName: String?
    /// The directories, keyed by real path, because links may give one directory several paths.
    private var directories: [FilePath: Directory] = [:]
    /// The results of walks, keyed by the path on disk; entries that name the same path share a result.
    private var walks: [FilePath: FolderContents] = [:]
    private let budget: LoadBudget
    /// The directories, keyed by the path as the manifest spells it.
    private var knownFolders: [FilePath: Place] = [:]
    /// The files, keyed by the path as the manifest spells it; many URLs may use the same file.
    private var knownFiles: [FilePath: FoundFile] = [:]

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - folder: A file URL.
    ///   - excluded: The real path of a file that every walk leaves out.
    ///   - excludedName: The path of a file, relative to the folder, that every walk leaves out.
    ///   - budget: The budget from which all walks together spend each name that they visit.
    /// - Throws: ``FileProblem`` when the folder cannot be opened or listed.
    init(
        _ folder: URL,
        except excluded: FilePath? = nil,
        named excludedName: String? = nil,
        budget: LoadBudget = LoadBudget()
    ) throws(FileProblem) {
        opened = try OpenedFolder(folder.path)
        root = Place(path: "", directory: try Directory(opened.realPath, in: opened))
        directories = [opened.realPath: root.directory]
        (self.excluded, self.excludedName) = (excluded, excludedName)
        self.budget = budget
    }

    // MARK: - A path in the manifest

    /// A directory, and the path on disk by which it was reached.
    private struct Place {
        /// The path relative to the manifest's folder; it is empty or ends in "/".
        let path: String
        let directory: Directory
    }

    /// Returns the regular file at `path`, a `/`-separated path relative to the manifest's folder.
    package func file(_ path: String) throws(FileProblem) -> FoundFile {
        if let known = knownFiles[FilePath(path)] { return known }
        let file = try item(at: path) { name, folder throws(FileProblem) -> FoundFile in
            do throws(FileProblem) {
                return try self.file(named: name, in: folder)
            } catch {
                throw error == .isLinkToFolder ? .isFolder : error
            }
        }
        guard file.path == path else { throw .wrongCase(file.path) }
        knownFiles[FilePath(path)] = file
        return file
    }

    /// Returns the names in the directory at `path` that do not begin with "."; nil if there is no such directory.
    ///
    /// The path is empty or ends in "/".
    package func names(in path: String) -> [String]? {
        guard let folder = try? folder(path), folder.path == path else { return nil }
        return folder.directory.visibleNames
    }

    /// Returns the directory at `path`, even if the case of a letter differs; the path is empty or ends in "/".
    private func folder(_ path: String) throws(FileProblem) -> Place {
        if path.isEmpty { return root }
        if let known = knownFolders[FilePath(path)] { return known }
        let written = String(Substring(path.utf8.dropLast()))
        let folder = try item(at: written) { name, parent throws(FileProblem) -> Place in
            try self.folder(named: name, in: parent)
        }
        knownFolders[FilePath(path)] = folder
        return folder
    }

    /// Opens the item at `path`, even if the case of a letter differs; then the item's own path differs from `path`.
    ///
    /// Swift compares strings by canonical equivalence, so a path in a different Unicode form is equal.
    private func item<Item>(
        at path: String,
        _ open: (_ name: String, _ folder: Place) throws(FileProblem) -> Item
    ) throws(FileProblem) -> Item {
        let (directory, written) = FilePath.split(path)
        let folder: Place
        do {
            folder = try self.folder(directory)
        } catch {
            // The message for `.isFile` says to remove the "/" at the end, but here more follows the "/".
            throw error == .isFile ? .missing : error
        }
        guard let name = folder.directory.name(written) else { throw .missing }
        do {
            return try open(name, folder)
        } catch {
            throw folder.path + name == path ? error : .missing
        }
    }

    // MARK: - A name in a directory

    private func folder(named name: String, in parent: Place) throws(FileProblem) -> Place {
        let realPath = try opened.directory(at: parent.directory.realPath.appending(name))
        let path = parent.path + name + "/"
        if let known = directories[realPath] { return Place(path: path, directory: known) }
        let directory = try Directory(realPath, in: opened)
        directories[realPath] = directory
        return Place(path: path, directory: directory)
    }

    /// Returns the regular file with this name, or the file to which a symbolic link with this name leads.
    private func file(named name: String, in folder: Place) throws(FileProblem) -> FoundFile {
        let (path, directory) = (folder.path + name, folder.directory.realPath)
        do {
            return try FoundFile(path, in: directory, of: opened)
        } catch {
            guard error == .isLink else { throw error }
        }
        let target: FilePath
        do {
            target = try FilePath(resolving: directory.appending(name).text)
        } catch {
            throw error == .missing ? .dangling : error
        }
        guard target != opened.realPath else { throw .isLinkToFolder }
        let (parent, file) = FilePath.split(target.text)
        do {
            return try FoundFile(path, in: opened.directory(at: FilePath(parent)), target: file, of: opened)
        } catch {
            throw error == .isFolder ? .isLinkToFolder : error
        }
    }

    // MARK: - A whole folder

    /// Returns all files below the directory at `path`, which ends in "/"; `./` is the manifest's folder itself.
    ///
    /// The excluded file and all names that start with "." are left out. Cost: the first call for a directory walks
    /// through everything below it. Later calls return the same result.
    package func files(below path: String) throws(FileProblem) -> FolderContents {
        let path = path == "./" ? "" : path
        let folder = try self.folder(path)
        guard folder.path == path else { throw .wrongCase(folder.path) }
        if let known = walks[FilePath(folder.path)] { return known }
        var contents = FolderContents()
        try walk(folder, depth: 0, &contents)
        walks[FilePath(folder.path)] = contents
        return contents
    }

    /// Adds all files below a directory; links to directories are not followed, so every walk ends.
    private func walk(
        _ folder: Place,
        prefix: String = "",
        depth: Int,
        _ contents: inout FolderContents
    ) throws(FileProblem) {
        guard depth <= Self.maximumDepth else { throw .tooDeep }
        for name in folder.directory.visibleNames {
            try budget.spend(1, of: .names)
            // A walk holds each path twice: below its own directory, and below the manifest's folder.
            try budget.spend(2 * (prefix.utf8.count + name.utf8.count), of: .bytes)
            do throws(FileProblem) {
                do throws(FileProblem) {
                    let file = try self.file(named: name, in: folder)
                    if file.realPath != excluded, file.path != excludedName {
                        contents.files.append((prefix + name, file))
                    }
                } catch .isFolder {
                    let folder = try self.folder(named: name, in: folder)
                    try walk(folder, prefix: prefix + name + "/", depth: depth + 1, &contents)
                }
            } catch {
                if case .exceeds = error { throw error }
                // In a listing, U+FFFD replaces bytes that are not UTF-8. The name with U+FFFD is then looked up, and
                // no file on disk has that name.
                let isMangled = error == .missing && name.unicodeScalars.contains("\u{FFFD}")
                let problem = isMangled ? FileProblem.unreadable("its name is not UTF-8") : error
                contents.problems.append((folder.path + name, problem))
            }
        }
    }
}

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

/// The files that a walk finds below a directory, and the problems with files and folders that cannot be used.
package struct FolderContents {
    /// The files, each with its path relative to the directory of the walk.
    ///
    /// This path is appended to the URL of the folder entry. The names in each directory are sorted.
    package var files: [(name: String, file: FoundFile)] = []
    /// The problems, each with its path relative to the manifest's folder.
    ///
    /// Messages quote this path.
    package var problems: [(path: String, problem: FileProblem)] = []
}

/// A directory and the names in it.
private final class Directory {
    let realPath: FilePath
    private let names: [String]
    private let exact: Set<FilePath>
    /// The names that do not start with ".", in order.
    private(set) lazy var visibleNames = names.filter { $0.utf8.first != UInt8(ascii: ".") }.sorted()
    /// The names, keyed by themselves.
    ///
    /// Swift compares strings by canonical equivalence, so a lookup finds a name in either Unicode form.
    private lazy var equivalent = Dictionary(names.map { ($0, $0) }, uniquingKeysWith: min)
    private lazy var lowercased = Dictionary(names.map { ($0.lowercased(), $0) }, uniquingKeysWith: min)

    init(_ realPath: FilePath, in folder: OpenedFolder) throws(FileProblem) {
        names = try folder.names(in: realPath)
        self.realPath = realPath
        exact = Set(names.map { FilePath($0) })
    }

    /// Returns the name on disk that equals `written`.
    ///
    /// If there is none, returns a name that differs only in its Unicode form or, if there is none either, in its case.
    func name(_ written: String) -> String? {
        exact.contains(FilePath(written)) ? written : equivalent[written] ?? lowercased[written.lowercased()]
    }
}
