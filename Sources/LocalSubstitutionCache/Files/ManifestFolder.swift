import Foundation

/// The folder that a manifest's files lie in, as it is on disk.
///
/// Names are compared with directory listings, byte for byte, so that a manifest that works on a file system that
/// ignores case works on one that does not. Each directory is listed once, whatever paths lead to it, and each folder
/// is walked once. Nothing outside the folder is opened.
package final class ManifestFolder {
    /// The number of names that all walks together may look at; more are taken for a mistake.
    static let maximumNames = 1_000_000
    /// How many folders may lie inside each other.
    static let maximumDepth = 100
    /// How often symbolic links may lead to directories that were reached before.
    ///
    /// A link to a folder that it lies in does so for ever, and others can make 2ⁿ paths of n folders.
    static let maximumRepeats = 100

    /// The open folder, through which the files in it are opened.
    package let opened: OpenedFolder
    private let root: Directory
    /// A file that no walk finds: the manifest itself.
    private let excluded: FilePath?
    /// By the real path: links may give one directory many paths.
    private var listings: [FilePath: DirectoryListing] = [:]
    /// By the path on disk: many entries may name one folder.
    private var walks: [FilePath: Result<FolderContents, FileProblem>] = [:]
    private var namesLeft: Int
    /// By the path as it was asked for, empty or with "/" at its end.
    private var known: [FilePath: Directory] = [:]
    /// By the path as it was asked for: many URLs may name one file.
    private var knownFiles: [FilePath: FoundFile] = [:]
    /// Each suggestion compares a name with many others, which a person needs only a few times.
    private var suggestionsLeft = 20
    /// Nil in an app, which suggests nothing.
    private let advice: (any FileNameAdvice)?

    /// Opens a folder.
    ///
    /// - Parameters:
    ///   - folder: A file URL.
    ///   - excluded: A file that is no part of any folder in it.
    ///   - maximumNames: The number of names that all walks together may look at.
    ///   - advice: Finds the name that was meant by a missing one. Without it none is suggested.
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

    /// The regular file at `path`, `/`-separated and below the folder.
    package func file(_ path: String) throws(FileProblem) -> FoundFile {
        do {
            return try fileThere(path)
        } catch {
            throw error == .missing(suggestion: nil) ? .missing(suggestion: elsewhere(path)) : error
        }
    }

    private func fileThere(_ path: String) throws(FileProblem) -> FoundFile {
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

    /// The directory at `path`, which is empty or ends in "/", and in which `rest` will be looked for.
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

    /// Turns a problem with the beginning of a path into one with the whole path.
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

    /// `path` as it is on disk, if it exists there in any letter case.
    private func existing(_ path: String) -> String? {
        do {
            if path.hasSuffix("/") { _ = try directory(path) } else { _ = try fileThere(path) }
            return path
        } catch .wrongCase(let actual) {
            return actual
        } catch {
            return nil
        }
    }

    /// The name on disk that `written` names: the same bytes, or else the same text in another Unicode form.
    private func name(_ written: String, in directory: Directory) throws(FileProblem) -> String {
        if let name = directory.name(written) { return name }
        if let name = directory.nameIgnoringCase(written) { throw .wrongCase(directory.path + name) }
        let meant = suggestion { $0.name(meantBy: written, among: directory.visibleNames) }
        throw .missing(suggestion: meant.map { directory.path + $0 })
    }

    // MARK: - Suggestions

    /// The file or folder that was meant by a path at which there is none.
    private func elsewhere(_ path: String) -> String? {
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
        // What lies in no directory of the folder.
        guard realPath != root.realPath else { throw .isFolder }
        return try FoundFile(directory.path + name, .elsewhere(realPath), in: opened)
    }

    // MARK: - A whole folder

    /// The contents of the folder at `path`, which ends in "/".
    ///
    /// Names that start with "." and the excluded file are left out. Cost: the first call for a folder walks through
    /// it, and others get what that call got.
    package func files(below path: String) throws(FileProblem) -> FolderContents {
        let directory: Directory
        do {
            directory = try self.directory(path == "./" ? "" : path)
        } catch {
            throw error == .missing(suggestion: nil) ? .missing(suggestion: elsewhere(path)) : error
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
        /// The first path that led to a directory again.
        var link: String?

        /// Going on would find the same again and again.
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
                // Foundation writes U+FFFD for bytes that are not UTF-8, so nothing has the name that it tells.
                let isMangled = error == .missing(suggestion: nil) && name.unicodeScalars.contains("\u{FFFD}")
                let error = isMangled ? FileProblem.unreadable("its name is not UTF-8") : error
                // The limits were reached: going on would find the same again and again.
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

/// Everything below a folder that is not left out.
package struct FolderContents {
    /// By their path relative to the folder, in order.
    package var files: [(name: String, file: FoundFile)] = []
    /// By their path relative to the manifest's folder.
    package var problems: [(path: String, problem: FileProblem)] = []
}

/// One directory, by one of the paths that lead to it.
private final class Directory {
    /// As it is on disk, relative to the manifest's folder; empty or ends in "/".
    let path: String
    private let listing: DirectoryListing
    /// The folders in it that were looked at, by name.
    var folders: [FilePath: Directory] = [:]

    init(path: String, listing: DirectoryListing) {
        (self.path, self.listing) = (path, listing)
    }

    var realPath: FilePath { listing.realPath }

    /// The names that do not start with ".", in order.
    var visibleNames: [String] { listing.visibleNames }

    /// The name with the same bytes, or else the same text in another Unicode form.
    func name(_ written: String) -> String? { listing.name(written) }

    func nameIgnoringCase(_ written: String) -> String? { listing.nameIgnoringCase(written) }
}

/// The names in one directory.
private final class DirectoryListing {
    let realPath: FilePath
    private let names: [String]
    private let exact: Set<FilePath>
    private(set) lazy var visibleNames = names.filter { $0.utf8.first != UInt8(ascii: ".") }.sorted()
    /// Swift compares strings by canonical equivalence, so a name is found in either Unicode form.
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
