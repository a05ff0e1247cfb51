import Foundation

/// The folder of a manifest's files, as it is on disk.
///
/// Each name in a path is looked up in the listing of its directory, and its case must match. So a manifest that works
/// on a case-insensitive file system also works on a case-sensitive one. A name in a different Unicode form (NFC or
/// NFD) is found, too.
///
/// Each directory is listed once, even if several paths lead to it. If entries name a directory by several paths, the
/// files below it are collected once for each path. Nothing outside the manifest's folder is opened.
package final class ManifestFolder {
    /// The maximum number of directories that may be nested below the directory of a walk.
    static let maximumDepth = 100
    /// The maximum number of times that one walk may come to a directory that it has visited before.
    ///
    /// Only symbolic links lead to a directory again. If a link leads to a directory that contains the link itself, a
    /// walk through the link would never end. Links can also multiply the paths: a chain of n directories, each with
    /// two links to the next one, has 2ⁿ paths.
    static let maximumRepeats = 100

    /// The open folder; files in it are opened through this object.
    package let opened: OpenedFolder
    private let root: Directory
    /// The real path of the file that every walk leaves out: the manifest itself.
    private let excluded: FilePath?
    /// The listings of directories, keyed by real path, because links may give one directory several paths.
    ///
    /// The keys are of the type ``FilePath`` and not `String`. Two names that differ only in their Unicode form are
    /// equal as strings, but may be two files on disk.
    private var listings: [FilePath: DirectoryListing] = [:]
    /// The results of walks, keyed by the path on disk; entries that name the same path share a result.
    private var walks: [FilePath: Result<FolderContents, FileProblem>] = [:]
    private let budget: LoadBudget
    /// The directories, keyed by the path as the manifest spells it; the path is empty or ends in "/".
    private var known: [FilePath: Directory] = [:]
    /// The files, keyed by the path as the manifest spells it; many URLs may use the same file.
    private var knownFiles: [FilePath: FoundFile] = [:]
    /// The number of suggestions that may still be made.
    ///
    /// For each suggestion, a name is compared with many names. A designer who corrects a manifest needs only a few
    /// suggestions at a time.
    private var suggestionsLeft = 20
    /// The source of suggestions; nil in an app, where no suggestions are made.
    private let advice: (any FileNameAdvice)?

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - folder: A file URL.
    ///   - excluded: The real path of a file that every walk leaves out.
    ///   - budget: The budget from which all walks together spend each name that they visit.
    ///   - advice: The source of suggestions for missing names; nil to make none.
    /// - Throws: ``FileProblem`` when the folder cannot be opened or listed.
    init(
        _ folder: URL,
        except excluded: FilePath? = nil,
        budget: LoadBudget = LoadBudget(),
        advice: (any FileNameAdvice)? = nil
    ) throws(FileProblem) {
        opened = try OpenedFolder(folder.path)
        let listing = try DirectoryListing(of: opened.realPath, in: opened)
        root = Directory(path: "", listing: listing)
        listings = [opened.realPath: listing]
        self.excluded = excluded
        self.budget = budget
        self.advice = advice
    }

    // MARK: - One file

    /// Returns the regular file at `path`, a `/`-separated path relative to the manifest's folder.
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
    /// The caller will look for `rest` in this directory. So a problem is reported for the whole path, `path` followed
    /// by `rest`.
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
    ///
    /// A problem may hold the corrected beginning. The rest of the path may need corrections, too, so the corrected
    /// beginning followed by `rest` is looked up again. `rest` is empty or starts with "/".
    private func completed(_ problem: FileProblem, with rest: String) -> FileProblem {
        switch problem {
        case .missing(let start?):
            return .missing(suggestion: existing(start + rest))
        case .wrongCase(let start):
            return existing(start + rest).map(FileProblem.wrongCase) ?? .missing(suggestion: nil)
        // The message for `.isFile` says to remove the "/" at the end. This would not help here, because `rest` is more
        // than a "/".
        case .isFile where rest != "/":
            return .missing(suggestion: nil)
        default:
            return problem
        }
    }

    /// Returns the path on disk that equals `path` or differs from it only in case; nil if there is none.
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

    /// Returns the name on disk that equals `written`, or that differs from it only in its Unicode form.
    ///
    /// A name that equals `written` byte for byte is preferred.
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

    /// Returns the regular file with this name, or the file to which a symbolic link with this name leads.
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
        // This link leads to the manifest's folder itself. `FoundFile` would look it up in its parent directory,
        // outside the manifest's folder.
        guard realPath != root.realPath else { throw .isFolder }
        return try FoundFile(directory.path + name, .elsewhere(realPath), in: opened)
    }

    // MARK: - A whole folder

    /// Returns all files below the directory at `path`, which ends in "/"; `./` is the manifest's folder itself.
    ///
    /// The excluded file and all names that start with "." are left out. Cost: the first call for a directory walks
    /// through everything below it. Later calls return the same result.
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
            try self.walk(directory, prefix: "", Route(), &walk)
            result = .success(walk.contents)
        } catch {
            result = .failure(error)
        }
        walks[key] = result
        return try result.get()
    }

    /// The state of a walk through one directory and everything below it.
    private struct Walk {
        var contents = FolderContents()
        var seen: Set<FilePath> = []
        var repeats = 0
        /// The path of the first symbolic link that leads back to a directory that contains it; nil if there is none.
        var cycle: String?
        /// The path of the first symbolic link to a directory; nil if there is none.
        var firstLink: String?

        /// The problem to throw when directories repeat too often; nil if no symbolic link leads to a directory.
        ///
        /// Without such a link, no directory is visited twice.
        var endless: FileProblem? { (cycle ?? firstLink).map { .endless(link: $0) } }
    }

    /// The directories from the beginning of a walk to one directory, without that directory itself.
    private struct Route {
        var realPaths: [FilePath] = []
        /// The path of the last symbolic link on the way; nil if there is none.
        var lastLink: String?
    }

    private func walk(
        _ directory: Directory,
        prefix: String,
        _ route: Route,
        _ walk: inout Walk
    ) throws(FileProblem) {
        // If the route is too long although there is no cycle, the folders themselves are nested too deep.
        guard route.realPaths.count <= Self.maximumDepth else {
            throw walk.cycle.map { .endless(link: $0) } ?? .tooDeep
        }
        if !walk.seen.insert(directory.realPath).inserted {
            walk.repeats += 1
            if walk.cycle == nil, route.realPaths.contains(directory.realPath) { walk.cycle = route.lastLink }
            if walk.repeats > Self.maximumRepeats, let endless = walk.endless { throw endless }
        }
        for name in directory.visibleNames {
            try budget.spend(1, of: .names)
            // A walk holds each path twice: below its own directory, and below the manifest's folder.
            try budget.spend(2 * (prefix.utf8.count + name.utf8.count), of: .bytes)
            do throws(FileProblem) {
                guard let file = try fileUnlessFolder(named: name, in: directory) else {
                    let folder = try folder(named: name, in: directory)
                    var route = route
                    route.realPaths.append(directory.realPath)
                    if folder.realPath != FilePath(directory.realPath.text + "/" + name) {
                        route.lastLink = directory.path + name
                        walk.firstLink = walk.firstLink ?? route.lastLink
                    }
                    try self.walk(folder, prefix: prefix + name + "/", route, &walk)
                    continue
                }
                if excluded == nil || file.realPath != excluded { walk.contents.files.append((prefix + name, file)) }
            } catch {
                // In a listing, U+FFFD replaces bytes that are not UTF-8. The name with U+FFFD is then looked up, and
                // no file on disk has that name.
                let isMangled = error == .missing(suggestion: nil) && name.unicodeScalars.contains("\u{FFFD}")
                let error = isMangled ? FileProblem.unreadable("its name is not UTF-8") : error
                // After these errors, the walk would reach its limit again and again, so stop. `.tooDeep` concerns only
                // this directory, so the walk continues with the next name.
                if case .exceeds = error { throw error }
                if error == walk.endless { throw error }
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

/// A directory on one path; links may give the same directory several paths, each with its own object.
private final class Directory {
    /// The path as it is on disk, relative to the manifest's folder; it is empty or ends in "/".
    let path: String
    private let listing: DirectoryListing
    /// The directories in this directory that were already looked up, keyed by name.
    var folders: [FilePath: Directory] = [:]

    init(path: String, listing: DirectoryListing) {
        (self.path, self.listing) = (path, listing)
    }

    var realPath: FilePath { listing.realPath }

    /// The names that do not start with ".", in order.
    var visibleNames: [String] { listing.visibleNames }

    /// Returns the name that equals `written`, or that differs from it only in its Unicode form.
    ///
    /// A name that equals `written` byte for byte is preferred.
    func name(_ written: String) -> String? { listing.name(written) }

    func nameIgnoringCase(_ written: String) -> String? { listing.nameIgnoringCase(written) }
}

/// The names in one directory.
private final class DirectoryListing {
    let realPath: FilePath
    private let names: [String]
    private let exact: Set<FilePath>
    private(set) lazy var visibleNames = names.filter { $0.utf8.first != UInt8(ascii: ".") }.sorted()
    /// The names, keyed by themselves.
    ///
    /// Swift compares strings by canonical equivalence, so a lookup finds a name in either Unicode form.
    private lazy var equivalent = Dictionary(names.map { ($0, $0) }, uniquingKeysWith: min)
    private lazy var lowercased = Dictionary(names.map { ($0.lowercased(), $0) }, uniquingKeysWith: min)

    init(of realPath: FilePath, in folder: OpenedFolder) throws(FileProblem) {
        names = try folder.names(in: realPath)
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

/// A source of suggestions for file names in a manifest that do not exist on disk.
package protocol FileNameAdvice {
    /// Returns the name that was probably meant by `name`; nil if none is close enough.
    ///
    /// `names` are all names in one directory.
    func name(meantBy name: String, among names: [String]) -> String?

    /// Returns the path that was probably meant by a path that does not exist.
    ///
    /// - Parameters:
    ///   - path: The path as written; a folder's path ends in "/".
    ///   - files: The paths of all files in the manifest's folder.
    /// - Returns: The path of a file, or of a folder, as it is on disk; nil if none is close enough.
    func path(meantBy path: String, amongFiles files: [String]) -> String?
}
