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

    /// The content of a file.
    enum Content {
        case bytes(Data)
        case copy(of: Substitution)
    }

    /// The file that lists the written files.
    private static let listName = "written-by-substitute.txt"
    /// The first line of the list.
    private static let listHead =
        "substitute wrote this folder, and replaces it whole; put nothing of your own in it."

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
    ///   - sources: The folder of the manifest's files, where nothing may be written; nil to permit it.
    /// - Throws: ``UsageError`` if the folder may not be written.
    init(_ path: String, in current: CurrentFolder, besides sources: URL? = nil) throws {
        self.path = path
        let name = path.hasSuffix("/") ? String(path.reversed().drop { $0 == "/" }.reversed()) : path
        let absolute = current.standardizedURL(of: name.isEmpty ? path : name)
        url = absolute.deletingLastPathComponent().resolvingSymlinksInPath()
            .appendingPathComponent(absolute.lastPathComponent).resolvingSymlinksInPath()
        try OutputFile.check(url, path, besides: sources)
        let here = URL(fileURLWithPath: current.path).resolvingSymlinksInPath()
        if (here.path + "/").hasPrefix(url.path + "/") {
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
        let file = url.appendingPathComponent(Self.listName)
        let list = FileSystem.kind(of: file.path) == nil ? Data() : try FileSystem.contents(of: file)
        let text = String(decoding: list, as: UTF8.self)
        guard text.hasPrefix(Self.listHead) else {
            throw UsageError("\(quoted(path)) holds files that this tool did not write; name a new folder")
        }
        let written = Self.fingerprints(in: text)
        for name in try FileManager.default.subpathsOfDirectory(atPath: url.path) {
            let file = url.appendingPathComponent(name)
            let isIgnored =
                FileSystem.kind(of: file.path) == .typeDirectory || name == Self.listName
                || Self.generated.contains(where: name.hasPrefix) || Self.strangers.contains(file.lastPathComponent)
            if isIgnored { continue }
            if let known = written[name], try Fingerprint(of: file, named: quoted(name)) == known { continue }
            throw UsageError(
                "this tool did not write \(quoted("\(path)/\(name)")), or it was edited since, and the folder is "
                    + "replaced whole; move the file, or name a new folder"
            )
        }
    }

    /// Returns the fingerprints in a list, keyed by the paths of the files.
    private static func fingerprints(in list: String) -> [String: Fingerprint] {
        let lines = list.split(separator: "\n").dropFirst().map { $0.split(separator: " ", maxSplits: 1) }
        return Dictionary(lines.map { (String($0.last ?? ""), Fingerprint(rawValue: String($0[0]))) }) { first, _ in
            first
        }
    }

    /// Writes the files to a new folder, and then replaces the old folder with the new one.
    func write(_ files: [String: Content]) throws {
        do {
            let above = url.deletingLastPathComponent()
            let staging = try StagingFolder(in: above, named: ".\(url.lastPathComponent).substitute")
            let new = staging.newFileURL()
            var list = [Self.listHead, ""]
            for (path, content) in files.sorted(by: { $0.key < $1.key }) {
                let (data, file) = (try content.data, new.appendingPathComponent(path))
                let folder = file.deletingLastPathComponent()
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try FileSystem.create(data, at: file)
                list.append("\(Fingerprint(data).rawValue) \(path)")
            }
            let text = list.joined(separator: "\n") + "\n"
            try FileSystem.create(Data(text.utf8), at: new.appendingPathComponent(Self.listName))
            try staging.move(new, over: url)
        } catch let error as ToolError {
            throw error
        } catch {
            throw ToolError("\(quoted(path)) cannot be written, and is left as it was: \(FileSystem.reason(error))")
        }
    }
}

extension OutputFolder.Content {
    /// The content's bytes; for a copied file, they are read from disk.
    ///
    /// - Throws: ``ToolError`` if a file's size has changed since the check, or if the file cannot be read.
    var data: Data {
        get throws {
            switch self {
            case .bytes(let data):
                return data
            case .copy(let substitution):
                do throws(FileProblem) {
                    let data = try substitution.contents(upTo: substitution.size + 1)
                    if data.count == substitution.size { return data }
                } catch {
                    throw ToolError(error.reason(for: substitution.path))
                }
                throw ToolError("\(quoted(substitution.path)) changed while it was read; try again")
            }
        }
    }
}
