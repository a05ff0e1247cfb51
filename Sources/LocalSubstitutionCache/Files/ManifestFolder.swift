import Foundation

/// The folder of a manifest's files, as it is on disk.
///
/// Names are compared with directory listings, byte for byte. So a manifest that works on a case-insensitive file
/// system also works on a case-sensitive one. Each directory is listed once, even if several paths lead to it, and each
/// folder is walked once. Nothing outside the manifest's folder is opened.
package final class ManifestFolder {
    /// The maximum number of names that all walks together may visit; more are treated as a mistake.
    static let maximumNames = 1_000_000
    /// The maximum nesting of folders.
    static let maximumDepth = 100
    /// In one walk, the maximum number of symbolic links to directories that were already visited.
    ///
    /// A link to a folder that contains the link repeats without end, and other links can turn n folders into 2ⁿ paths.
    static let maximumRepeats = 100

    /// The open folder, through which the files in it are opened.
    package let opened: OpenedFolder
    private let root: Directory
    /// The file that walks leave out: the manifest itself.
    private let excluded: FilePath?
    /// The listings, keyed by real path, because links may give one directory several paths.
    private var listings: [FilePath: DirectoryListing] = [:]
    /// The results of walks, keyed by the path on disk, because several entries may name one folder.
    private var walks: [FilePath: Result<FolderContents, FileProblem>] = [:]
    private var namesLeft: Int
    /// The directories, keyed by requested path, which is empty or ends in "/".
    private var known: [FilePath: Directory] = [:]
    /// The files, keyed by requested path: many URLs may name one file.
    private var knownFiles: [FilePath: FoundFile] = [:]
    /// The number of suggestions that may still be made.
    ///
    /// For each suggestion, a name is compared with many names, and a designer needs only a few suggestions.
    private var suggestionsLeft = 20
    /// The source of suggestions; nil in an app, where no suggestions are made.
    private let advice: (any FileNameAdvice)?

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - folder: A file URL.
    ///   - excluded: A file that walks leave out.
    ///   - maximumNames: The maximum number of names that all walks together may visit.
    ///   - advice: The source of suggestions for missing names; nil to make none.
    /// - Throws: ``FileProblem`` when the folder cannot be opened or listed.
    init(
        _ folder: URL,
        except excluded: FilePath? = nil,
        maximumNames: Int = ManifestFolder.maximumNames,
        advice: (any FileNameAdvice)? = nil
    ) throws(FileProblem) {
        opened = try OpenedFolder(folder.path)
        let listing = try DirectoryListing(of: opened.realPath, in: opened)
        root = Directory(path: "", listing: listing)
        listings = [opened.realPath: listing]
        self.excluded = excluded
        namesLeft = maximumNames
        self.advice = advice
    }

    // MARK: - One file

    /// Returns the regular file at `path`, which is `/`-separated and relative to the folder.
    package func file(_ path: String) throws(FileProblem) -> FoundFile {
        do {
            return try existingFile(path)
        } catch {
            throw error == .missing(suggestion: nil) ? .missing(suggestion: suggestedPath(for: path)) : error
        }
    }

    private func existingFile(_ path: String) throws(FileProblem) -> FoundFile {
        if let known = knownFiles[FilePath(path)] { return known }
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
        let name = String(path[start...])
        let directory = try directory(String(path[..<start]), followedBy: name)
        let onDisk: String
        do {
            onDisk = try self.name(name, in: directory)
        } catch {
            throw completed(error, with: "")
        }
        let file = try file(named: onDisk, in: directory)
        knownFiles[FilePath(path)] = file
        return file
    }

    /// Returns the directory at `path`; the path is empty or ends in "/".
    ///
    /// The caller will look for `rest` in this directory, so problems are reported for the whole path.
    private func directory(_ path: String, followedBy rest: String = "") throws(FileProblem) -> Directory {
        if let known = known[FilePath(path)] { return known }
        var directory = root
        var start = path.startIndex
        while let slash = path.utf8[start...].firstIndex(of: UInt8(ascii: "/")) {
            let segment = String(path[start..<slash])
            start = path.utf8.index(after: slash)
            do {
                directory = try folder(named: name(segment, in: directory), in: directory)
            } catch {
                throw completed(error, with: path[slash...] + rest)
            }
        }
        known[FilePath(path)] = directory
        return directory
    }

    /// Converts a problem with the beginning of a path into a problem with the whole path.
    private func completed(_ problem: FileProblem, with rest: String) -> FileProblem {
        switch problem {
        case .missing(let start?):
            return .missing(suggestion: existing(start + rest))
        case .wrongCase(let start):
            return existing(start + rest).map(FileProblem.wrongCase) ?? .missing(suggestion: nil)
        case .isFile where rest != "/":
            return .missing(suggestion: nil)
        default:
            return problem
        }
    }

    /// Returns `path` as it is spelled on disk, where its letter case may differ; nil if the path does not exist.
    private func existing(_ path: String) -> String? {
        do {
            if path.hasSuffix("/") { _ = try directory(path) } else { _ = try existingFile(path) }
            return path
        } catch .wrongCase(let actual) {
            return actual
        } catch {
            return nil
        }
    }

    /// Returns the name on disk that equals `written`, byte for byte or else in a different Unicode form.
    private func name(_ written: String, in directory: Directory) throws(FileProblem) -> String {
        if let name = directory.name(written) { return name }
        if let name = directory.nameIgnoringCase(written) { throw .wrongCase(directory.path + name) }
        let meant = suggestion { $0.name(meantBy: written, among: directory.visibleNames) }
        throw .missing(suggestion: meant.map { directory.path + $0 })
    }

    // MARK: - Suggestions

    /// Returns the file or folder that was probably meant by a path that does not exist.
    private func suggestedPath(for path: String) -> String? {
        suggestion { $0.path(meantBy: path, amongFiles: ((try? files(below: "./"))?.files ?? []).map(\.name)) }
    }

    private func suggestion(_ guess: (any FileNameAdvice) -> String?) -> String? {
        guard let advice, suggestionsLeft > 0 else { return nil }
        suggestionsLeft -= 1
        return guess(advice)
    }

    // MARK: - Directories

    private func folder(named name: String, in directory: Directory) throws(FileProblem) -> Directory {
        if let known = directory.folders[FilePath(name)] { return known }
        let realPath = try FilePath(resolving: directory.realPath.text + "/" + name)
        guard realPath.isInside(root.realPath) else { throw .outside }
        let listing: DirectoryListing
        if let known = listings[realPath] {
            listing = known
        } else {
            listing = try DirectoryListing(of: realPath, in: opened)
            listings[realPath] = listing
        }
        let folder = Directory(path: directory.path + name + "/", listing: listing)
        directory.folders[FilePath(name)] = folder
        return folder
    }

    private func file(named name: String, in directory: Directory) throws(FileProblem) -> FoundFile {
        do {
            return try FoundFile(directory.path + name, .inFolder(directory.realPath), in: opened)
        } catch {
            guard error == .isLink else { throw error }
        }
        let realPath: FilePath
        do {
            realPath = try FilePath(resolving: directory.realPath.text + "/" + name)
        } catch {
            throw error == .missing(suggestion: nil) ? .dangling : error
        }
        guard realPath.isInside(root.realPath) else { throw .outside }
        // The link leads to the root folder; looking it up in its parent directory would leave the root folder.
        guard realPath != root.realPath else { throw .isFolder }
        return try FoundFile(directory.path + name, .elsewhere(realPath), in: opened)
    }

    // MARK: - A whole folder

    /// Returns the contents of the folder at `path`, which ends in "/".
    ///
    /// The excluded file and all names that start with "." are left out. Cost: the first call for a folder walks
    /// through it, and later calls return the same result.
    package func files(below path: String) throws(FileProblem) -> FolderContents {
        let directory: Directory
        do {
            directory = try self.directory(path == "./" ? "" : path)
        } catch {
            throw error == .missing(suggestion: nil) ? .missing(suggestion: suggestedPath(for: path)) : error
        }
        let key = FilePath(directory.path)
        if let known = walks[key] { return try known.get() }
        var walk = Walk()
        let result: Result<FolderContents, FileProblem>
        do throws(FileProblem) {
            try self.walk(directory, prefix: "", depth: 0, &walk)
            result = .success(walk.contents)
        } catch {
            result = .failure(error)
        }
        walks[key] = result
        return try result.get()
    }

    /// The state of a walk through one folder.
    private struct Walk {
        var contents = FolderContents()
        var seen: Set<FilePath> = []
        var repeats = 0
        /// The first path that led to a directory that was already visited.
        var link: String?

        /// The problem to throw when a limit is reached; nil if no directory was visited twice.
        ///
        /// If the walk continued, it would visit the same directories again and again.
        var endless: FileProblem? { link.map { .endless(link: $0) } }
    }

    private func walk(
        _ directory: Directory,
        prefix: String,
        depth: Int,
        _ walk: inout Walk
    ) throws(FileProblem) {
        guard depth <= Self.maximumDepth else { throw walk.endless ?? .tooDeep }
        if !walk.seen.insert(directory.realPath).inserted {
            walk.repeats += 1
            walk.link = walk.link ?? String(directory.path.dropLast())
            if walk.repeats > Self.maximumRepeats, let endless = walk.endless { throw endless }
        }
        for name in directory.visibleNames {
            guard namesLeft > 0 else { throw .tooManyFiles }
            namesLeft -= 1
            do throws(FileProblem) {
                guard let file = try fileUnlessFolder(named: name, in: directory) else {
                    let folder = try folder(named: name, in: directory)
                    try self.walk(folder, prefix: prefix + name + "/", depth: depth + 1, &walk)
                    continue
                }
                if excluded == nil || file.realPath != excluded { walk.contents.files.append((prefix + name, file)) }
            } catch {
                // Bytes that are not UTF-8 are read as U+FFFD, so no file on disk has this name.
                let isMangled = error == .missing(suggestion: nil) && name.unicodeScalars.contains("\u{FFFD}")
                let error = isMangled ? FileProblem.unreadable("its name is not UTF-8") : error
                // A limit was reached, so stop here: if the walk continued, it would reach the limit again and again.
                if error == walk.endless || error == .tooManyFiles { throw error }
                walk.contents.problems.append((directory.path + name, error))
            }
        }
    }

    private func fileUnlessFolder(
        named name: String,
        in directory: Directory
    ) throws(FileProblem) -> FoundFile? {
        do {
            return try file(named: name, in: directory)
        } catch {
            guard error == .isFolder else { throw error }
            return nil
        }
    }
}

/// The files that a walk finds below a folder, and the problems with files that cannot be used.
package struct FolderContents {
    /// The files, each with its path relative to the folder, in order.
    package var files: [(name: String, file: FoundFile)] = []
    /// The problems, each with its path relative to the manifest's folder.
    package var problems: [(path: String, problem: FileProblem)] = []
}

/// A directory that was reached by one path; several paths may lead to it.
private final class Directory {
    /// The path as it is on disk, relative to the manifest's folder; empty or ends in "/".
    let path: String
    private let listing: DirectoryListing
    /// The folders in this directory that were already looked up, by name.
    var folders: [FilePath: Directory] = [:]

    init(path: String, listing: DirectoryListing) {
        (self.path, self.listing) = (path, listing)
    }

    var realPath: FilePath { listing.realPath }

    /// The names that do not start with ".", in order.
    var visibleNames: [String] { listing.visibleNames }

    /// Returns the name that equals `written`, byte for byte or else in a different Unicode form.
    func name(_ written: String) -> String? { listing.name(written) }

    func nameIgnoringCase(_ written: String) -> String? { listing.nameIgnoringCase(written) }
}

/// The names in one directory.
private final class DirectoryListing {
    let realPath: FilePath
    private let names: [String]
    private let exact: Set<FilePath>
    private(set) lazy var visibleNames = names.filter { $0.utf8.first != UInt8(ascii: ".") }.sorted()
    /// Swift compares strings by canonical equivalence, so this finds a name in either Unicode form.
    private lazy var equivalent = Dictionary(names.map { ($0, $0) }, uniquingKeysWith: min)
    private lazy var lowercased = Dictionary(names.map { ($0.lowercased(), $0) }, uniquingKeysWith: min)

    init(of realPath: FilePath, in folder: OpenedFolder) throws(FileProblem) {
        do {
            names = try folder.names(in: realPath)
        } catch {
            switch error {
            case .missing, .isFile, .replaced: throw error
            default: throw .unreadable("the folder cannot be listed")
            }
        }
        self.realPath = realPath
        exact = Set(names.map { FilePath($0) })
    }

    func name(_ written: String) -> String? {
        exact.contains(FilePath(written)) ? written : written.isASCII ? nil : equivalent[written]
    }

    func nameIgnoringCase(_ written: String) -> String? {
        lowercased[written.lowercased()]
    }
}
