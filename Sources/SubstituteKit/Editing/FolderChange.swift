import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// What is to be changed in a manifest's folder, all of it or nothing.
///
/// New files come first, which nothing uses before the manifest names them; then all that takes the place of something
/// else, one `rename` after the other; the manifest last. A run that is killed in between leaves each file whole, the
/// old one or the new one, and a manifest whose files are all there; the same command, run again, does the rest.
struct FolderChange {
    /// The manifest file.
    let manifest: URL
    /// What messages call it.
    let name: String
    /// Its text when it was read.
    private let original: Data
    /// When that was.
    private let date: Date
    /// Its new text; nil when it stays.
    var text: Data?
    /// Made files, and the paths below the folder that they get.
    private(set) var files: [(made: URL, path: String)] = []

    init(_ manifest: URL, name: String, original: Data, date: Date) {
        (self.manifest, self.name, self.original, self.date) = (manifest, name, original, date)
    }

    private var folder: URL { manifest.deletingLastPathComponent() }

    /// Gives a made file the place of a path, where another may lie.
    mutating func put(_ made: URL, at path: String) { files.append((made, path)) }

    /// Changes the folder.
    ///
    /// - Throws: ``ToolError`` when something cannot be written, or the manifest would have errors; then all is as it
    ///   was.
    func commit(in staging: StagingFolder) throws {
        try staging.commit {
            var undo: [() throws -> Void] = []
            do {
                var replacements: [Replacement] = []
                for (number, file) in files.enumerated() {
                    let aside = staging.url.appendingPathComponent("\(StagingFolder.aside)\(number)")
                    if let next = try place(file.made, at: file.path, keeping: aside, &undo) {
                        replacements.append(next)
                    }
                    staging.afterEachStep()
                }
                try checkManifest()
                for replacement in replacements {
                    try replacement.make(&undo)
                    staging.afterEachStep()
                }
                try writeManifest()
            } catch {
                do {
                    for step in undo.reversed() { try step() }
                } catch {
                    throw ToolError("not all could be put back: \(FileSystem.reason(error))")
                }
                if let error = error as? ToolError { throw error }
                throw ToolError("nothing was changed: \(FileSystem.reason(error))")
            }
        }
    }

    /// A file that takes the place of another, for which all is ready.
    private struct Replacement {
        let made: URL
        let target: URL
        /// A second name of the file that is replaced.
        let aside: URL

        func make(_ undo: inout [() throws -> Void]) throws {
            guard rename(made.path, target.path) == 0 else { throw FolderChange.error(target.path) }
            undo.append {
                guard rename(aside.path, target.path) == 0 else { throw FolderChange.error(target.path) }
            }
        }
    }

    /// Gives a file its place when that is free; otherwise returns what is to be done.
    private func place(
        _ made: URL,
        at path: String,
        keeping aside: URL,
        _ undo: inout [() throws -> Void]
    ) throws -> Replacement? {
        let target = try self.target(of: path, &undo)
        if FileSystem.kind(of: target.path) != nil {
            let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions]
            if let mode { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: made.path) }
            // A second name, so that the first one always leads to a whole file; a copy where there are none.
            if link(target.path, aside.path) != 0 { try FileManager.default.copyItem(at: target, to: aside) }
            return Replacement(made: made, target: target, aside: aside)
        }
        guard rename(made.path, target.path) == 0 else { throw Self.error(target.path) }
        undo.append { try FileManager.default.removeItem(at: target) }
        return nil
    }

    /// The place of a path, whose folders are made when they are missing and lead nowhere else.
    private func target(of path: String, _ undo: inout [() throws -> Void]) throws -> URL {
        let root = folder.resolvingSymlinksInPath()
        var current = root
        let names = path.split(separator: "/").map(String.init)
        for name in names.dropLast() {
            current.appendPathComponent(name)
            if mkdir(current.path, 0o777) == 0 {
                let made = current
                undo.append { if rmdir(made.path) != 0, errno != ENOENT { throw Self.error(made.path) } }
            } else if errno != EEXIST {
                throw Self.error(current.path)
            }
            current = current.resolvingSymlinksInPath()
            guard (current.path + "/").hasPrefix(root.path == "/" ? "/" : root.path + "/") else {
                throw ToolError("\(quoted(path)) would lie outside the manifest's folder, through a symbolic link")
            }
        }
        return current.appendingPathComponent(names.last ?? path)
    }

    private func checkManifest() throws {
        guard let text else { return }
        let check = ManifestCheck(text, name: name, url: manifest, folder: folder, on: date)
        guard check.errors.isEmpty else {
            let list = check.errors.prefix(3).map(\.description).joined(separator: "\n")
            throw ToolError("the manifest would have errors, so nothing was changed:\n\(list)")
        }
    }

    private func writeManifest() throws {
        guard let text else { return }
        let file = manifest.resolvingSymlinksInPath()
        // Somebody may have written while files were loaded.
        guard try Data(contentsOf: file) == original else {
            throw ToolError("\(quoted(name)) was changed meanwhile, so nothing was done; do it again")
        }
        if text == original { return }
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        try text.write(to: file, options: .atomic)
        if let mode { try? FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path) }
    }

    private static func error(_ path: String) -> ToolError {
        ToolError("\(quoted(path)): \(String(cString: strerror(errno)))")
    }
}
