import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A set of changes to a manifest's folder, made as a whole or not at all.
///
/// New files come first, because nothing uses them until the manifest names them. Then the files that replace existing
/// files follow, one `rename` after the other. The manifest comes last. If the run is killed in between, each file is
/// complete, in its old or its new version, and the manifest names only files that exist. If the user runs the same
/// command again, it completes the changes.
struct FolderChange {
    /// The manifest file.
    let manifest: URL
    /// The manifest's name in messages.
    let name: String
    /// The manifest's text when it was read.
    private let original: Data
    /// The date on which the manifest was read; the new text is checked as of this date.
    private let date: Date
    /// The manifest's new text; nil if it stays unchanged.
    var text: Data?
    /// The new files, each with its path below the folder.
    private(set) var files: [(made: URL, path: String)] = []

    init(_ manifest: URL, name: String, original: Data, date: Date) {
        (self.manifest, self.name, self.original, self.date) = (manifest, name, original, date)
    }

    private var folder: URL { manifest.deletingLastPathComponent() }

    /// Schedules a new file for a path, where it replaces any existing file.
    mutating func schedule(_ made: URL, at path: String) { files.append((made, path)) }

    /// Makes the changes.
    ///
    /// - Throws: ``ToolError`` if something cannot be written, or if the manifest would have errors. The changes are
    ///   then undone; if that fails, too, the error says so.
    func commit(in staging: StagingFolder) throws {
        try staging.commit {
            var undo: [() throws -> Void] = []
            do {
                var replacements: [Replacement] = []
                for (number, file) in files.enumerated() {
                    let backup = staging.url.appendingPathComponent("\(StagingFolder.aside)\(number)")
                    if let next = try moveOrPrepareReplacement(file.made, at: file.path, keeping: backup, &undo) {
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
                    throw ToolError("not everything could be restored: \(FileSystem.reason(error))")
                }
                if let error = error as? ToolError { throw error }
                throw ToolError("nothing was changed: \(FileSystem.reason(error))")
            }
        }
    }

    /// The replacement of an existing file, ready to be made.
    private struct Replacement {
        let made: URL
        let target: URL
        /// A second name (hard link) or a copy of the replaced file, from which it can be restored.
        let backup: URL

        func make(_ undo: inout [() throws -> Void]) throws {
            guard rename(made.path, target.path) == 0 else { throw FolderChange.error(target.path) }
            undo.append {
                guard rename(backup.path, target.path) == 0 else { throw FolderChange.error(target.path) }
            }
        }
    }

    /// Moves a file to its path if no other file is there; otherwise returns the replacement to make later.
    private func moveOrPrepareReplacement(
        _ made: URL,
        at path: String,
        keeping backup: URL,
        _ undo: inout [() throws -> Void]
    ) throws -> Replacement? {
        let target = try self.target(of: path, &undo)
        if FileSystem.kind(of: target.path) != nil {
            let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions]
            if let mode { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: made.path) }
            // Keep the old file under a second name (a hard link), so that the first name always leads to a complete
            // file. Where hard links do not exist, copy the file.
            if link(target.path, backup.path) != 0 { try FileManager.default.copyItem(at: target, to: backup) }
            return Replacement(made: made, target: target, backup: backup)
        }
        guard rename(made.path, target.path) == 0 else { throw Self.error(target.path) }
        undo.append { try FileManager.default.removeItem(at: target) }
        return nil
    }

    /// Returns the URL for a path, and creates missing folders on the way.
    ///
    /// - Throws: ``ToolError`` if a folder on the way leads outside the manifest's folder, or if the file system
    ///   reports an error.
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
        // The manifest may have been edited while the files were loaded.
        guard try Data(contentsOf: file) == original else {
            throw ToolError("\(quoted(name)) was changed in the meantime, so nothing was done; run the command again")
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
