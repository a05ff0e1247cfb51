import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A set of changes to a manifest's folder, made as a whole or not at all.
///
/// New files are moved first, because nothing uses a file that the manifest does not name. Next, `rename` replaces the
/// existing files, one at a time, and then the manifest. If the run is killed in between, each file is complete, in its
/// old or its new version. The manifest then names only files that exist. If the user runs the same command again, the
/// command completes the changes.
///
/// The record gets new URLs before the manifest does, so that it knows every file that the manifest names. It gets new
/// versions last: a file that is newer than its record is equal to its server's, and therefore current; a file that is
/// older would count as edited.
///
/// Each replacement states the bytes that it replaces. If a file has other bytes by then, nothing is changed.
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
    /// False if the new text may have errors, as a repaired text may.
    var isChecked = true
    /// The record of the loaded files; nil to leave it unchanged.
    var record: RemoteRecord?
    /// The new files.
    private(set) var files: [ScheduledFile] = []

    /// A new file, and the path that it gets below the folder.
    struct ScheduledFile {
        let made: URL
        let path: String
        /// The fingerprint of the file that it replaces; nil if the path must be free.
        let replaced: Fingerprint?
    }

    init(_ manifest: URL, name: String, original: Data, date: Date) {
        (self.manifest, self.name, self.original, self.date) = (manifest, name, original, date)
    }

    private var folder: URL { manifest.deletingLastPathComponent() }

    /// Schedules the move of a new file to a path.
    ///
    /// - Parameters:
    ///   - made: The new file, in the staging folder.
    ///   - path: The path below the manifest's folder.
    ///   - replaced: The fingerprint of the file at this path that may be replaced; nil if the path must be free.
    mutating func schedule(_ made: URL, at path: String, replacing replaced: Fingerprint? = nil) {
        files.append(ScheduledFile(made: made, path: path, replaced: replaced))
    }

    /// Makes the changes.
    ///
    /// - Throws: ``ToolError`` if something cannot be written, if the manifest would have errors, or if a file or the
    ///   manifest was changed meanwhile. The changes are then undone. If a change cannot be undone, the error says so.
    func commit(in staging: StagingFolder) throws {
        let texts = try (added: record?.text(addsOnly: true), whole: record?.text())
        let added = try texts.added.map(staging.write)
        let whole = texts.added == texts.whole ? nil : try texts.whole.map(staging.write)
        let new = text == original ? nil : try text.map(staging.write)
        try staging.commit {
            var undo: [() throws -> Void] = []
            func make(_ change: Change) throws {
                try change.make(&undo)
                staging.afterEachStep()
            }
            do {
                var replacements: [Change] = []
                for file in files {
                    let next = try Change(file.made, target(of: file.path, &undo), file.path, over: file.replaced)
                    if file.replaced == nil { try make(next) } else { replacements.append(next) }
                }
                try checkManifest()
                let main = manifest.resolvingSymlinksInPath()
                let old = Fingerprint(original)
                guard try Self.fingerprint(main, name) == old else { throw Self.changed(name) }
                let book = folder.appendingPathComponent(RemoteRecord.name)
                if let added { try make(Change(added, book, RemoteRecord.name, over: record?.read)) }
                for replacement in replacements { try make(replacement) }
                if let new { try make(Change(new, main, name, over: old)) }
                let last = texts.added.map { Fingerprint($0) } ?? record?.read
                if let whole { try make(Change(whole, book, RemoteRecord.name, over: last)) }
            } catch {
                do {
                    for step in undo.reversed() { try step() }
                } catch {
                    throw ToolError("not everything could be restored: \(Self.words(error))")
                }
                if let error = error as? ToolError { throw error }
                throw ToolError("nothing was changed: \(Self.words(error))")
            }
        }
    }

    /// A new file, and the path that it gets.
    private struct Change {
        let made: URL
        let target: URL
        /// The name in messages.
        let name: String
        /// The fingerprint of the file that it replaces; nil if the path must be free.
        let replaced: Fingerprint?
        /// The backup of the existing file, beside the new one: a hard link, or a copy.
        private var backup: URL { made.appendingPathExtension("old") }

        /// Checks that the file at the path has the bytes that may be replaced, and keeps a backup of it.
        ///
        /// The old file also keeps its path, so that a complete file exists there at all times.
        init(_ made: URL, _ target: URL, _ name: String, over replaced: Fingerprint?) throws {
            (self.made, self.target, self.name, self.replaced) = (made, target, name, replaced)
            guard replaced != nil else { return }
            try check()
            let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions]
            if let mode { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: made.path) }
            // Some file systems have no hard links, and a manifest may be a link to another file system.
            if link(target.path, backup.path) != 0 { try FileManager.default.copyItem(at: target, to: backup) }
        }

        private func check() throws {
            guard try FolderChange.fingerprint(target, name) == replaced else { throw FolderChange.changed(name) }
        }

        /// Moves the new file to its path.
        func make(_ undo: inout [() throws -> Void]) throws {
            if replaced != nil {
                try check()
                try FolderChange.move(made, over: target)
                undo.append { try FolderChange.move(backup, over: target) }
                return
            }
            // Unlike `rename`, `link` never replaces a file. Some file systems have no hard links.
            if link(made.path, target.path) == 0 {
                unlink(made.path)
            } else {
                guard errno != EEXIST, FileSystem.kind(of: target.path) == nil else { throw FolderChange.changed(name) }
                try FolderChange.move(made, over: target)
            }
            undo.append { try FileManager.default.removeItem(at: target) }
        }
    }

    private static func move(_ file: URL, over target: URL) throws {
        if rename(file.path, target.path) == 0 { return }
        guard errno == EXDEV else { throw error(target.path) }
        try FileSystem.again { try Data(contentsOf: file).write(to: target, options: .atomic) }
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
        guard isChecked, let text else { return }
        let check = ManifestCheck(text, name: name, url: manifest, folder: folder, on: date, judgesFiles: false)
        guard check.errors.isEmpty else {
            let list = check.errors.prefix(3).map(\.description).joined(separator: "\n")
            throw ToolError("the manifest would have errors, so nothing was changed:\n\(list)")
        }
    }

    /// Returns the fingerprint of a file as it is now; nil if there is no file.
    private static func fingerprint(_ file: URL, _ name: String) throws(ToolError) -> Fingerprint? {
        do {
            return try Fingerprint(of: file)
        } catch {
            throw ToolError(
                "nothing was changed, because \(quoted(name)) cannot be read: \(FileSystem.reason(error))"
            )
        }
    }

    private static func changed(_ name: String) -> ToolError {
        ToolError("\(quoted(name)) was changed in the meantime, so nothing was done; run the command again")
    }

    private static func error(_ path: String) -> ToolError {
        ToolError("nothing was changed: \(quoted(path)): \(String(cString: strerror(errno)))")
    }

    /// Returns what an error says, with the path that it concerns.
    private static func words(_ error: any Error) -> String {
        if let error = error as? ToolError { return error.message }
        let path = (error as NSError).userInfo[NSFilePathErrorKey] as? String
        return (path.map { "\(quoted($0)): " } ?? "") + FileSystem.reason(error)
    }
}
