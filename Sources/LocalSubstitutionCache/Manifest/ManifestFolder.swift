import Foundation

/// The folder that a manifest's files lie in, as it is on disk.
///
/// Names are compared with directory listings, byte for byte, so that a manifest that works on a file system that
/// ignores case works on one that does not. Directories are listed once. Nothing outside the folder is opened.
final class ManifestFolder {
    /// More files than this below one folder entry are taken for a mistake.
    static let maximumFiles = 1_000_000
    /// How often symbolic links may lead to directories that were reached before.
    ///
    /// A link to a folder that it lies in does so for ever, and others can make 2ⁿ paths of n folders.
    static let maximumRepeats = 100

    private let root: Directory
    private var directories: [String: Result<Directory, FileProblem>] = [:]

    init(_ folder: URL) throws(FileProblem) {
        root = try Directory(path: "", realPath: Self.realPath(of: folder.path))
    }

    /// The regular file at `path`, `/`-separated and below the folder.
    func file(_ path: String) throws(FileProblem) -> FileReference {
        let (parent, name) = Self.split(path)
        let directory = try enclosing(parent, of: name)
        return try file(named: directory.name(name), in: directory)
    }

    /// The path up to and with its last "/", and what follows.
    private static func split(_ path: some StringProtocol) -> (parent: String, name: String) {
        let start = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
        return (String(path[..<start]), String(path[start...]))
    }

    /// The directory at `parent`, in which `rest` is looked for.
    private func enclosing(_ parent: String, of rest: String) throws(FileProblem) -> Directory {
        do {
            return try directory(parent)
        } catch {
            throw error.extended(by: rest, ifExists: exists)
        }
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.realPath + "/" + path)
    }

    /// What lies below `path`, which ends in "/": files by their path relative to it, in order, and what is wrong.
    ///
    /// Names that start with "." and the file at `excluded` (a real path) are left out.
    func files(
        below path: String,
        except excluded: String?
    ) throws(FileProblem) -> (files: [(name: String, file: FileReference)], problems: [(String, FileProblem)]) {
        var walk = Walk(excluded: excluded)
        try self.walk(directory(path == "./" ? "" : path), prefix: "", &walk)
        return (walk.files, walk.problems)
    }

    /// What has been seen below one folder.
    private struct Walk {
        let excluded: String?
        var files: [(name: String, file: FileReference)] = []
        var problems: [(String, FileProblem)] = []
        /// Real paths of directories.
        var seen: Set<String> = []
        var repeats = 0
    }

    private func walk(
        _ directory: Directory,
        prefix: String,
        _ walk: inout Walk
    ) throws(FileProblem) {
        if !walk.seen.insert(directory.realPath).inserted { walk.repeats += 1 }
        guard walk.repeats <= Self.maximumRepeats else { throw .endless }
        for name in directory.names.sorted() where !name.hasPrefix(".") {
            do throws(FileProblem) {
                guard let file = try fileUnlessFolder(named: name, in: directory) else {
                    let folder = try self.directory(directory.path + name + "/")
                    try self.walk(folder, prefix: prefix + name + "/", &walk)
                    continue
                }
                if file.realPath != walk.excluded { walk.files.append((prefix + name, file)) }
            } catch {
                // The limits were reached: going on would find the same again and again.
                if walk.repeats > Self.maximumRepeats || error == .tooManyFiles { throw error }
                walk.problems.append((directory.path + name, error))
            }
            if walk.files.count > Self.maximumFiles { throw .tooManyFiles }
        }
    }

    private func fileUnlessFolder(
        named name: String,
        in directory: Directory
    ) throws(FileProblem) -> FileReference? {
        do {
            return try file(named: name, in: directory)
        } catch {
            guard error == .isFolder else { throw error }
            return nil
        }
    }

    private func file(named name: String, in directory: Directory) throws(FileProblem) -> FileReference {
        var realPath = directory.realPath + "/" + name
        do {
            return try FileReference(OpenedFile(path: realPath, followsLink: false), directory.path + name, realPath)
        } catch {
            guard error == .isLink else { throw error }
        }
        realPath = try Self.realPath(of: realPath)
        guard contains(realPath) else { throw .outside }
        return try FileReference(OpenedFile(path: realPath, followsLink: false), directory.path + name, realPath)
    }

    /// The directory at `path`, which is empty or ends in "/".
    private func directory(_ path: String) throws(FileProblem) -> Directory {
        if path.isEmpty { return root }
        if let known = directories[path] { return try known.get() }
        let result = Result { () throws(FileProblem) in try open(path) }
        directories[path] = result
        return try result.get()
    }

    private func open(_ path: String) throws(FileProblem) -> Directory {
        let (parentPath, written) = Self.split(path.dropLast())
        let parent = try enclosing(parentPath, of: written + "/")
        let name: String
        do {
            name = try parent.name(written)
        } catch {
            throw error.extended(by: "/", ifExists: exists)
        }
        let realPath = try Self.realPath(of: parent.realPath + "/" + name)
        guard contains(realPath) else { throw .outside }
        return try Directory(path: parent.path + name + "/", realPath: realPath)
    }

    /// `path` without symbolic links.
    static func realPath(of path: String) throws(FileProblem) -> String {
        guard let resolved = realpath(path, nil) else {
            switch errno {
            case ENOENT, ENOTDIR: throw .missing(suggestion: nil)
            case ELOOP: throw .endless
            case let code: throw .unreadable(String(cString: strerror(code)))
            }
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private func contains(_ realPath: String) -> Bool {
        realPath == root.realPath || realPath.hasPrefix(root.realPath == "/" ? "/" : root.realPath + "/")
    }
}

/// One file of the folder.
struct FileReference: Hashable, Sendable {
    /// As it is on disk, relative to the manifest's folder.
    let path: String
    /// Absolute, without symbolic links.
    let realPath: String
    /// In bytes, when it was looked at.
    let size: Int

    init(_ file: borrowing OpenedFile, _ path: String, _ realPath: String) {
        self.path = path
        self.realPath = realPath
        size = file.size
    }
}

/// One directory and the names in it.
private final class Directory {
    /// As it is on disk, relative to the manifest's folder; empty or ends in "/".
    let path: String
    let realPath: String
    let names: [String]
    /// Swift compares strings by canonical equivalence, so a name is found in either Unicode form.
    private let known: [String: String]
    private lazy var lowercased = Dictionary(names.map { ($0.lowercased(), $0) }, uniquingKeysWith: min)

    init(path: String, realPath: String) throws(FileProblem) {
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: realPath)
        } catch {
            var status = stat()
            guard stat(realPath, &status) == 0 else { throw .missing(suggestion: nil) }
            if status.st_mode & S_IFMT != S_IFDIR { throw .isFile }
            throw .unreadable("the folder cannot be listed")
        }
        self.path = path
        self.realPath = realPath
        known = Dictionary(names.map { ($0, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The name on disk that `written` names: the same bytes, or else the same text in another Unicode form.
    func name(_ written: String) throws(FileProblem) -> String {
        if let name = known[written] {
            if written.isASCII || name.utf8.elementsEqual(written.utf8) { return name }
            return names.first { $0.utf8.elementsEqual(written.utf8) } ?? name
        }
        if let name = lowercased[written.lowercased()] { throw .wrongCase(path + name) }
        throw .missing(suggestion: suggestion(for: written, among: names).map { path + $0 })
    }
}
