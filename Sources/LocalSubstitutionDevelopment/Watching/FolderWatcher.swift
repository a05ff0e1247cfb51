package import Foundation
import LocalSubstitutionCache

/// Tells when something below a folder is saved, made, moved or removed.
///
/// What editors do for one save (write in place; write aside and rename; delete and write again) is one change. What
/// changes nothing that could be read is none. For the time in which an app is made: each change costs a look at the
/// date of every file in the folder.
// Mutable state is only accessed on the queue.
package final class FolderWatcher: @unchecked Sendable {
    /// Internal for tests, which hold it up.
    let queue = DispatchQueue(label: "LocalSubstitutionCache.FolderWatcher")
    private let folder: FilePath
    /// A file in the folder that may be a link to elsewhere.
    private let manifest: String?
    private let changed: @Sendable ([String]) -> Void
    private var events: (any FileEvents)?
    private var listing: FolderListing
    /// When the first of the events came that are waiting.
    private var firstEvent: DispatchTime?
    private var waiting: DispatchWorkItem?

    /// After an event no other has to come for so long, but no longer than the second, in seconds.
    private static let (quiet, patience) = (0.1, 2.0)

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - folder: A folder; it may be removed and made again.
    ///   - manifest: A file in the folder that is watched also where it is a link to elsewhere; nil for none.
    ///   - changed: Called with the paths that changed, on a queue of its own, one call at a time. Paths are relative
    ///     to the folder; names that begin with "." are not told, but ".well-known".
    /// - Throws: ``WatchProblem`` when the folder is not there, or the system watches no more.
    package convenience init(
        _ folder: URL,
        manifest: URL? = nil,
        _ changed: @escaping @Sendable (_ paths: [String]) -> Void
    ) throws {
        try self.init(folder, manifest: manifest, by: systemEvents, changed)
    }

    /// Begins to watch, by the events that `makeEvents` makes.
    init(
        _ folder: URL,
        manifest: URL?,
        by makeEvents: (DispatchQueue, @escaping @Sendable () -> Void) throws -> any FileEvents,
        _ changed: @escaping @Sendable (_ paths: [String]) -> Void
    ) throws {
        guard let path = try? FilePath(resolving: folder.path) else { throw WatchProblem.system(ENOENT) }
        self.folder = path
        self.manifest = manifest?.path
        self.changed = changed
        listing = FolderListing(of: path.text)
        let events = try makeEvents(queue) { [weak self] in self?.touched() }
        self.events = events
        // What comes while directories are listed is seen afterwards.
        try queue.sync { try watch(events) }
    }

    deinit {
        waiting?.cancel()
        events?.cancel()
    }

    private func watch(_ events: any FileEvents) throws {
        // A directory may be filled before it is watched.
        var known: Set<String> = []
        while true {
            listing = FolderListing(of: folder.text)
            if known.isSuperset(of: listing.directories) { return }
            known.formUnion(listing.directories)
            try events.watch(listing.directories, places: places)
        }
    }

    /// The folder itself and those around it, in the directories that tell of them, and a manifest that lies elsewhere.
    private var places: [String] {
        var folders: [String] = []
        var path = folder.text
        while path != "/", !path.isEmpty {
            folders.append(path)
            path = (path as NSString).deletingLastPathComponent
        }
        let target = manifest.flatMap { try? FilePath(resolving: $0) }
        return folders + (target.map { $0.isInside(folder) ? [] : [$0.text] } ?? [])
    }

    private func touched() {
        let now = DispatchTime.now()
        let first = firstEvent ?? now
        firstEvent = first
        waiting?.cancel()
        let item = DispatchWorkItem { [weak self] in self?.settled() }
        waiting = item
        queue.asyncAfter(deadline: min(now + Self.quiet, first + Self.patience), execute: item)
    }

    private func settled() {
        firstEvent = nil
        let old = listing
        // A folder that is gone, or cannot be watched, is watched again when its parent tells.
        if let events { try? watch(events) }
        let paths = listing.differences(from: old)
        if !paths.isEmpty { changed(paths) }
    }
}

/// What lies below a folder, and which version of it.
struct FolderListing {
    /// What lies at a path.
    enum Item: Equatable {
        case file(FileIdentity, isReadable: Bool)
        case folder
        /// A link to nothing.
        case dangling
    }

    /// By the path below the folder.
    private(set) var items: [String: Item] = [:]
    /// Absolute, the folder first.
    private(set) var directories: [String] = []

    init(of folder: String) {
        directories = [folder]
        let found = FileManager.default.enumerator(atPath: folder)
        while let path = found?.nextObject() as? String {
            // What editors keep aside; servers have files in this one folder (RFC 8615).
            let name = (path as NSString).lastPathComponent
            if name.hasPrefix("."), name != ".well-known" {
                found?.skipDescendants()
                continue
            }
            let whole = folder + "/" + path
            var status = stat()
            if stat(whole, &status) != 0 {
                items[path] = .dangling
            } else if status.st_mode & S_IFMT == S_IFDIR {
                items[path] = .folder
                directories.append(whole)
            } else {
                items[path] = .file(FileIdentity(status), isReadable: access(whole, R_OK) == 0)
            }
        }
    }

    /// The paths that came, went, or have another version, in the order of the alphabet.
    func differences(from other: FolderListing) -> [String] {
        Set(items.keys).union(other.items.keys).filter { items[$0] != other.items[$0] }.sorted()
    }
}
