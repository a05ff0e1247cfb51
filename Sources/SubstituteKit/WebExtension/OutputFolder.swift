import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// A folder that the tool writes and replaces as a whole.
///
/// The folder contains a list of the written files. The list identifies a folder that the tool wrote. The tool never
/// changes a folder without a list, or a folder to which the user has added a file. The old content stays unchanged
/// until all new files are written.
struct OutputFolder {
    /// The path as the user wrote it.
    let path: String
    /// The folder's location, with symbolic links resolved.
    let url: URL

    /// The file that lists the written files.
    private static let listName = "written-by-substitute.txt"
    /// The first lines of lists; earlier versions wrote the second one.
    private static let listHeads = ["extension", "webextension"].map {
        "substitute \($0) wrote this folder, and replaces it whole; put nothing of your own in it."
    }

    /// The names of files that file managers add to folders.
    private static let strangers = [".DS_Store", "Thumbs.db", "desktop.ini"]
    /// The names that no file at the top of the folder may have.
    static let reservedNames = [listName] + strangers
    /// The paths of files that Chromium adds to an extension's folder, such as the rules in a binary format.
    private static let generated = ["_metadata/generated_indexed_rulesets/", "_metadata/verified_contents.json"]

    /// Checks that the folder may be written.
    ///
    /// - Parameters:
    ///   - path: The path as the user wrote it.
    ///   - current: The current folder.
    ///   - sources: The folder of the manifest's files; nothing may be written there.
    /// - Throws: ``UsageError`` if the folder may not be written.
    init(_ path: String, in current: CurrentFolder, besides sources: URL) throws {
        self.path = path
        let name = path.hasSuffix("/") ? String(path.reversed().drop { $0 == "/" }.reversed()) : path
        let absolute = current.standardizedURL(of: name.isEmpty ? path : name)
        url = absolute.deletingLastPathComponent().resolvingSymlinksInPath()
            .appendingPathComponent(absolute.lastPathComponent).resolvingSymlinksInPath()
        let (folder, files) = (url.path + "/", sources.resolvingSymlinksInPath().path + "/")
        if folder.hasPrefix(files) {
            throw UsageError(
                "\(quoted(path)) lies in the manifest's folder, and would ship with the app; name another folder"
            )
        }
        let here = URL(fileURLWithPath: current.path).resolvingSymlinksInPath()
        if (here.path + "/").hasPrefix(folder) {
            throw UsageError("\(quoted(path)) is the folder you are in, or one around it; name another folder")
        }
        guard FileSystem.kind(of: url.deletingLastPathComponent().path) != nil else {
            throw UsageError("the folder around \(quoted(path)) does not exist; create it, or name another")
        }
        do {
            try FileSystem.again(checkIsOurs)
        } catch let error as UsageError {
            throw error
        } catch {
            let reason = (error as? ToolError)?.message ?? FileSystem.reason(error)
            throw ToolError("\(quoted(path)) cannot be read, and is left as it was: \(reason)")
        }
    }

    private func checkIsOurs() throws {
        guard let kind = FileSystem.kind(of: url.path) else { return }
        guard [.typeDirectory, .unexamined].contains(kind) else {
            throw UsageError("\(quoted(path)) is a file; name a folder")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        if names.allSatisfy({ $0 == ".DS_Store" }) { return }
        guard let list = try Self.list(in: url) else {
            throw UsageError("\(quoted(path)) holds files that this tool did not write; name a new folder")
        }
        let written = Self.fingerprints(in: list)
        for name in try FileManager.default.subpathsOfDirectory(atPath: url.path) {
            let kind = FileSystem.kind(of: url.appendingPathComponent(name).path)
            let isOther =
                kind != .typeDirectory && written[name] == nil && name != Self.listName
                && !Self.generated.contains(where: name.hasPrefix)
                && !Self.strangers.contains((name as NSString).lastPathComponent)
            if let known = written[name] ?? nil,
                try Fingerprint(of: url.appendingPathComponent(name), named: quoted(name)) != known
            {
                throw UsageError(
                    "\(quoted("\(path)/\(name)")) was edited since this tool wrote it, and the folder is replaced whole; copy "
                        + "the edit into the app's own file and remove the folder, or name a new folder"
                )
            }
            if isOther {
                throw UsageError(
                    "this tool did not write \(quoted("\(path)/\(name)")), and replaces the folder whole; move the file, or "
                        + "name a new folder"
                )
            }
        }
    }

    /// Returns the fingerprints in a list, keyed by the paths of the files.
    ///
    /// A fingerprint is nil if an earlier version wrote the list.
    private static func fingerprints(in list: String) -> [String: Fingerprint?] {
        let lines = list.split(separator: "\n").dropFirst().map { line -> (String, Fingerprint?) in
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2, parts[0].wholeMatch(of: fingerprint) != nil else { return (String(line), nil) }
            return (parts[1], Fingerprint(rawValue: parts[0]))
        }
        return Dictionary(lines) { first, _ in first }
    }

    nonisolated(unsafe) private static let fingerprint = /\d+-[0-9a-f]{16}/

    /// Returns the list of files in a folder; nil if this tool did not write the folder.
    private static func list(in folder: URL) throws -> String? {
        let file = folder.appendingPathComponent(listName)
        guard FileSystem.kind(of: file.path) != nil else { return nil }
        let list = String(decoding: try FileSystem.contents(of: file), as: UTF8.self)
        return listHeads.contains(where: list.hasPrefix) ? list : nil
    }

    /// Writes the files to a new folder, and then replaces the old folder with the new one.
    func write(_ files: [String: WebExtension.Content]) throws {
        tidyUp()
        do {
            let (new, descriptor) = try makeStagingFolder()
            defer { close(descriptor) }
            defer { Self.discard(new) }
            let lines = try files.keys.sorted().map { path in
                try "\(Fingerprint(files[path]?.data ?? Data()).rawValue) \(path)"
            }
            let list = ([Self.listHeads[0], ""] + lines).joined(separator: "\n") + "\n"
            try FileSystem.create(Data(list.utf8), at: new.appendingPathComponent(Self.listName))
            let paths = files.keys.sorted()
            let folders = Set(paths.map { ($0 as NSString).deletingLastPathComponent })
            for folder in folders where !folder.isEmpty {
                let folder = new.appendingPathComponent(folder)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            for path in paths {
                if let data = try files[path]?.data {
                    try FileSystem.create(data, at: new.appendingPathComponent(path))
                }
            }
            if FileSystem.kind(of: url.path) != nil {
                try replace(with: new)
            } else {
                try FileManager.default.moveItem(at: new, to: url)
            }
        } catch let error as ToolError {
            throw error
        } catch {
            throw ToolError("\(quoted(path)) cannot be written, and is left as it was: \(FileSystem.reason(error))")
        }
    }

    /// Replaces the old folder with the new one; if the replacement fails, the old folder keeps its name.
    ///
    /// On Linux, Foundation's `replaceItemAt` refuses to replace a folder that is not empty.
    private func replace(with new: URL) throws {
        let aside = url.deletingLastPathComponent().appendingPathComponent(new.lastPathComponent + Self.asideSuffix)
        try FileManager.default.moveItem(at: url, to: aside)
        do {
            try FileManager.default.moveItem(at: new, to: url)
        } catch {
            try FileManager.default.moveItem(at: aside, to: url)
            throw error
        }
        Self.discard(aside)
    }

    /// Creates the folder for the new files and locks it until the run ends.
    ///
    /// Before the lock is acquired, another run may mistake the empty folder for a leftover and remove it. In that
    /// case, this function tries again with another name.
    private func makeStagingFolder() throws -> (folder: URL, descriptor: Int32) {
        while true {
            let name = stagingPrefix + UUID().uuidString
            let new = url.deletingLastPathComponent().appendingPathComponent(name)
            try FileManager.default.createDirectory(at: new, withIntermediateDirectories: false)
            let descriptor = uninterrupted { open(new.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
            if descriptor < 0, errno == ENOENT { continue }
            guard descriptor >= 0 else {
                defer { rmdir(new.path) }
                throw FileSystem.systemError
            }
            _ = uninterrupted { flock(descriptor, LOCK_EX) }
            if FileSystem.kind(of: new.path) != nil { return (new, descriptor) }
            close(descriptor)
        }
    }

    /// Removes a folder that this tool wrote.
    ///
    /// The folder first gets a name that ends in `-gone`. If the removal is interrupted, no later run mistakes the rest
    /// for a complete folder.
    private static func discard(_ folder: URL) {
        let name = folder.lastPathComponent
        let gone = folder.deletingLastPathComponent().appendingPathComponent(name + goneSuffix)
        let isRenamed = !name.hasSuffix(goneSuffix) && (try? FileManager.default.moveItem(at: folder, to: gone)) != nil
        for step in removalSteps(of: isRenamed ? gone : folder) { try? FileManager.default.removeItem(at: step) }
    }

    /// Returns the items to remove, in order: the files, then the list, then the folder itself.
    ///
    /// The list is removed after the files. If the removal is interrupted, the next run recognises the folder by the
    /// list.
    static func removalSteps(of folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let others = names.filter { $0 != listName }.sorted()
        return (others + names.filter { $0 == listName }).map(folder.appendingPathComponent) + [folder]
    }

    /// The name prefix of the temporary folders beside the output folder.
    private var stagingPrefix: String { ".\(url.lastPathComponent).substitute-" }
    private static let asideSuffix = "-old"
    private static let goneSuffix = "-gone"

    /// Removes the temporary folders of a killed run; if the run renamed the old folder, restores the folder's name.
    private func tidyUp() {
        let parent = url.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names.sorted() where name.hasPrefix(stagingPrefix) {
            let left = parent.appendingPathComponent(name)
            let descriptor = open(left.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, Self.isLeftover(left) else { continue }
            if name.hasSuffix(Self.asideSuffix), FileSystem.kind(of: url.path) == nil {
                try? FileManager.default.moveItem(at: left, to: url)
            } else {
                Self.discard(left)
            }
        }
    }

    /// Returns true if the content of a folder with the temporary prefix shows that a run left it behind.
    ///
    /// Such a folder contains a complete list beside other files, or nothing but an incomplete list, or nothing at all.
    private static func isLeftover(_ folder: URL) -> Bool {
        if (try? list(in: folder)) != nil { return true }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else { return false }
        let text = try? String(contentsOf: folder.appendingPathComponent(listName), encoding: .utf8)
        return names.isEmpty || names == [listName] && listHeads.contains { $0.hasPrefix(text ?? "\n") }
    }
}

extension WebExtension.Content {
    /// The content's bytes; for a copied file, they are read from disk.
    ///
    /// - Throws: ``ToolError`` if a file's size has changed since the check, or if the file cannot be read.
    var data: Data {
        get throws {
            switch self {
            case .text(let text):
                return Data(text.utf8)
            case .bytes(let data):
                return data
            case .copy(let substitution):
                do throws(FileProblem) {
                    let data = try substitution.contents(upTo: substitution.size + 1)
                    if data.count == substitution.size { return data }
                } catch {
                    throw ToolError(error.reason(for: substitution.file))
                }
                throw ToolError("\(quoted(substitution.file)) changed while it was read; try again")
            }
        }
    }
}
