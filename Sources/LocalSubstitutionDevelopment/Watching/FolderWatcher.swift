package import Foundation
import LocalSubstitutionCache

/// A watcher that reports when something below a folder is saved, created, moved or removed.
///
/// The steps that an editor takes for one save are reported as one change. (An editor writes in place, or writes a
/// temporary file and renames it, or deletes the file and writes it again.) An event that leaves the folder's listing
/// unchanged is not reported. The watcher is for development builds: each change costs a look at the date of every file
/// in the folder.
// Mutable state is only accessed on the queue.
package final class FolderWatcher: @unchecked Sendable {
    /// The queue of all work; internal so that tests can block it.
    let queue = DispatchQueue(label: "LocalSubstitutionCache.FolderWatcher")
    private let folder: FilePath
    /// The path of the manifest, which is a file or a symbolic link in the folder; nil for none.
    ///
    /// The link may lead to a manifest elsewhere.
    private let manifest: String?
    private let changed: @Sendable ([String]) -> Void
    private var events: (any FileEventSource)?
    private var listing: FolderListing
    /// The time of the first event that is not reported yet; nil if there is none.
    private var firstEvent: DispatchTime?
    private var pendingReport: DispatchWorkItem?

    /// Debouncing: changes are reported after `quietInterval` seconds without an event, and at the latest
    /// `maximumDelay` seconds after the first event.
    private static let (quietInterval, maximumDelay) = (0.1, 2.0)

    /// Starts to watch a folder.
    ///
    /// - Parameters:
    ///   - folder: The folder; it may be removed and created again.
    ///   - manifest: A file in the folder, or a symbolic link there. A link's target is watched, even if it is
    ///     elsewhere. Nil for none.
    ///   - changed: Called with the changed paths, on the watcher's own queue, one call at a time. The paths are
    ///     relative to the folder. Names that begin with "." are not reported, except ".well-known".
    /// - Throws: ``WatchProblem`` if the folder does not exist, or if the system refuses to watch it.
    package convenience init(
        _ folder: URL,
        manifest: URL? = nil,
        _ changed: @escaping @Sendable (_ paths: [String]) -> Void
    ) throws {
        try self.init(folder, manifest: manifest, by: systemEvents, changed)
    }

    /// Starts to watch a folder, with the event source that `makeEvents` creates.
    init(
        _ folder: URL,
        manifest: URL?,
        by makeEvents: (DispatchQueue, @escaping @Sendable () -> Void) throws -> any FileEventSource,
        _ changed: @escaping @Sendable (_ paths: [String]) -> Void
    ) throws {
        guard let path = try? FilePath(resolving: folder.path) else { throw WatchProblem.system(ENOENT) }
        self.folder = path
        self.manifest = manifest?.path
        self.changed = changed
        listing = FolderListing(of: path.text)
        let events = try makeEvents(queue) { [weak self] in self?.eventOccurred() }
        self.events = events
        // Events that occur during this call wait for the queue, and are handled afterwards.
        try queue.sync { try watch(events) }
    }

    deinit {
        pendingReport?.cancel()
        events?.cancel()
    }

    private func watch(_ events: any FileEventSource) throws {
        // A directory may gain subdirectories before it is watched. So list the directories again until there are no
        // new ones.
        var known: Set<String> = []
        while true {
            listing = FolderListing(of: folder.text)
            if known.isSuperset(of: listing.directories) { return }
            known.formUnion(listing.directories)
            try events.watch(listing.directories, extraPaths: extraPaths)
        }
    }

    /// The paths of the folder, of all its ancestors, and of a manifest outside the folder.
    ///
    /// Events at these paths show when the folder itself is removed or created again, and when the manifest changes.
    private var extraPaths: [String] {
        var folders: [String] = []
        var path = folder.text
        while path != "/", !path.isEmpty {
            folders.append(path)
            path = (path as NSString).deletingLastPathComponent
        }
        let target = manifest.flatMap { try? FilePath(resolving: $0) }
        return folders + (target.map { $0.isInside(folder) ? [] : [$0.text] } ?? [])
    }

    private func eventOccurred() {
        let now = DispatchTime.now()
        let first = firstEvent ?? now
        firstEvent = first
        pendingReport?.cancel()
        let item = DispatchWorkItem { [weak self] in self?.reportChanges() }
        pendingReport = item
        queue.asyncAfter(deadline: min(now + Self.quietInterval, first + Self.maximumDelay), execute: item)
    }

    private func reportChanges() {
        firstEvent = nil
        let old = listing
        // Watching may fail now, for example if the folder is gone. The next event, such as the folder's creation in
        // its parent directory, starts another attempt.
        if let events { try? watch(events) }
        let paths = listing.differences(from: old)
        if !paths.isEmpty { changed(paths) }
    }
}

/// The items below a folder, with the identity of each file (its inode number, size and modification time).
struct FolderListing {
    /// The item at a path.
    enum Item: Equatable {
        case file(FileIdentity, isReadable: Bool)
        case folder
        /// A symbolic link whose target does not exist.
        case dangling
    }

    /// The items, keyed by their path below the folder.
    private(set) var items: [String: Item] = [:]
    /// The absolute paths of the folder and of all directories below it, the folder first.
    private(set) var directories: [String] = []

    init(of folder: String) {
        directories = [folder]
        let found = FileManager.default.enumerator(atPath: folder)
        while let path = found?.nextObject() as? String {
            // Skip names that begin with ".": editors give them to temporary files. The exception is `.well-known`, a
            // folder for files that servers publish (RFC 8615).
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

    /// Returns the paths that were added, removed or changed, in alphabetical order.
    func differences(from other: FolderListing) -> [String] {
        Set(items.keys).union(other.items.keys).filter { items[$0] != other.items[$0] }.sorted()
    }
}
