import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A set of changes to a manifest's folder, made as a whole or not at all.
///
/// New files are moved first, because nothing uses a file that the manifest does not name. Next, `rename` replaces the
/// existing files, one at a time. The manifest is written last. If the run is killed in between, each file is complete,
/// in its old or its new version. The manifest then names only files that exist. If the user runs the same command
/// again, the command completes the changes.
struct FolderChange {
    /// The manifest file.
    let manifest: URL
    /// The manifest's name in messages.
    let name: String
    /// The manifest's text when it was read.
    private let original: Data
    /// The date on which the manifest was read; the new text is checked as of this date.
    private let date: Date
    /// The manifest's new text; nil to leave the manifest unchanged.
    var text: Data?
    /// The new files, each with its path below the folder.
    private(set) var files: [(made: URL, path: String)] = []

    init(_ manifest: URL, name: String, original: Data, date: Date) {
        (self.manifest, self.name, self.original, self.date) = (manifest, name, original, date)
    }

    private var folder: URL { manifest.deletingLastPathComponent() }

    /// Schedules the move of a new file to a path; the move replaces any existing file at the path.
    mutating func schedule(_ made: URL, at path: String) { files.append((made, path)) }

    /// Makes the changes.
    ///
    /// - Throws: ``ToolError`` if something cannot be written, or if the manifest would have errors. The changes are
    ///   then undone. If a change cannot be undone, the error says so.
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

    /// The replacement of an existing file, prepared but not yet made.
    private struct Replacement {
        let made: URL
        let target: URL
        /// The backup of the existing file: a hard link, or a copy.
        let backup: URL

        func make(_ undo: inout [() throws -> Void]) throws {
            guard rename(made.path, target.path) == 0 else { throw FolderChange.error(target.path) }
            undo.append {
                guard rename(backup.path, target.path) == 0 else { throw FolderChange.error(target.path) }
            }
        }
    }

    /// Moves a file to its path if the path is free; otherwise prepares and returns a replacement.
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
            // Add a hard link to the old file as a backup. The old file also keeps its path, so that a complete file
            // exists there at all times. If the file system has no hard links, copy the file.
            if link(target.path, backup.path) != 0 { try FileManager.default.copyItem(at: target, to: backup) }
            return Replacement(made: made, target: target, backup: backup)
        }
        guard rename(made.path, target.path) == 0 else { throw Self.error(target.path) }
        undo.append { try FileManager.default.removeItem(at: target) }
        return nil
    }

    /// Returns the URL for a path, and creates the path's missing parent folders.
    ///
    /// - Throws: ``ToolError`` if a parent folder is a symbolic link to a place outside the manifest's folder, or if
    ///   the file system reports an error.
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
        // The user may have edited the manifest while the files were loaded.
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
