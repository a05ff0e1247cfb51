package import Foundation

/// Tells when something below a folder is saved, made, moved or removed, without polling.
///
/// What editors do for one save (write in place; write aside and rename; delete and write again) is one change. What
/// changes nothing that could be read is none. For the time in which an app is made: each change costs a look at the
/// date of every file in the folder.
// Mutable state is only accessed on the queue.
package final class FolderWatcher: @unchecked Sendable {
    private let queue = DispatchQueue(label: "LocalSubstitutionCache.FolderWatcher")
    private let folder: FilePath
    /// A file in the folder that may be a link to elsewhere.
    private let manifest: String?
    private let changed: @Sendable ([String]) -> Void
    private var events: FileEvents?
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
    ///     to the folder; names that begin with "." are not told.
    /// - Throws: `POSIXError` when the folder is not there, or the system watches no more.
    package init(
        _ folder: URL,
        manifest: URL? = nil,
        _ changed: @escaping @Sendable (_ paths: [String]) -> Void
    ) throws {
        guard let path = try? OpenedFolder.realPath(of: folder.path) else { throw POSIXError(.ENOENT) }
        self.folder = path
        self.manifest = manifest?.path
        self.changed = changed
        listing = FolderListing(of: path.text)
        let events = try FileEvents(on: queue) { [weak self] in self?.touched() }
        self.events = events
        // What comes while directories are listed is seen afterwards.
        try queue.sync { try watch(events) }
    }

    deinit {
        waiting?.cancel()
        events?.cancel()
    }

    private func watch(_ events: FileEvents) throws {
        // A directory may be filled before it is watched.
        var known: Set<String> = []
        while true {
            listing = FolderListing(of: folder.text)
            if known.isSuperset(of: listing.directories) { return }
            known.formUnion(listing.directories)
            let files = listing.files.map { folder.text + "/" + $0.key }
            try events.watch(listing.directories, files: files, places: places)
        }
    }

    /// The folder itself, in the directory that tells of it, and a manifest that lies elsewhere.
    private var places: [String] {
        let target = manifest.flatMap { try? OpenedFolder.realPath(of: $0) }
        return [folder.text] + (target.map { $0.isInside(folder) ? [] : [$0.text] } ?? [])
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
    /// By the path below the folder.
    private(set) var files: [String: OpenedFile.Identity] = [:]
    /// Absolute, the folder first.
    private(set) var directories: [String] = []

    init(of folder: String) {
        directories = [folder]
        let found = FileManager.default.enumerator(atPath: folder)
        while let path = found?.nextObject() as? String {
            let isHidden = (path as NSString).lastPathComponent.hasPrefix(".")
            guard !isHidden, let status = Self.status(of: folder + "/" + path) else {
                if isHidden { found?.skipDescendants() }
                continue
            }
            if status.st_mode & S_IFMT == S_IFDIR {
                directories.append(folder + "/" + path)
            } else {
                files[path] = OpenedFile.Identity(status)
            }
        }
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// The paths that came, went, or have another version, in the order of the alphabet.
    func differences(from other: FolderListing) -> [String] {
        Set(files.keys).union(other.files.keys).filter { files[$0] != other.files[$0] }.sorted()
    }
}
