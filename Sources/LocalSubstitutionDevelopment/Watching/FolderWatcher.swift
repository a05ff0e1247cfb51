package import Foundation
package import LocalSubstitutionCache

/// A watcher that reports when something below a folder is saved, created, moved or removed.
///
/// Four times a second it lists the folder, and compares the listing with the one before; less often if listing would
/// take more than a tenth of a processor, as from some 3,000 files on. So it works in the same way on every system, on
/// network volumes, and in a folder that is removed and created again. The steps that an editor takes for one save are
/// one change: a change is reported when the next listing shows no further one. The watcher is for development builds.
// Mutable state is only accessed on the queue.
package final class FolderWatcher: @unchecked Sendable {
    /// The queue of all work; internal so that tests can block it.
    let queue = DispatchQueue(label: "LocalSubstitutionCache.FolderWatcher", qos: .utility)
    private let timer: any DispatchSourceTimer
    private let folder: String
    private let changed: @Sendable ([String]) -> Void
    private var reported: FolderListing
    private var seen: FolderListing
    /// The shortest time between two listings, in seconds.
    private static let pause = 0.25

    /// Starts to watch a folder.
    ///
    /// - Parameters:
    ///   - folder: The folder; it may be removed and created again.
    ///   - changed: Called with the changed paths, on the watcher's own queue, one call at a time. The paths are
    ///     relative to the folder. Names that begin with "." are not reported, except ".well-known".
    /// - Throws: ``FileProblem`` if the folder does not exist.
    package init(_ folder: URL, _ changed: @escaping @Sendable (_ paths: [String]) -> Void) throws(FileProblem) {
        self.folder = try FilePath(resolving: folder.path).text
        self.changed = changed
        reported = FolderListing(of: self.folder)
        seen = reported
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + Self.pause)
        timer.setEventHandler { [weak self] in self?.look() }
        timer.resume()
    }

    deinit { timer.cancel() }

    private func look() {
        let start = DispatchTime.now()
        let now = FolderListing(of: folder)
        let cost = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
        timer.schedule(deadline: .now() + max(Self.pause, 9 * cost))
        defer { seen = now }
        guard now == seen, now != reported else { return }
        defer { reported = now }
        changed(now.differences(from: reported))
    }
}

/// The items below a folder, with the identity of each file (its inode number, size and modification time).
struct FolderListing: Equatable {
    /// The item at a path.
    enum Item: Equatable {
        case file(FileIdentity, isReadable: Bool)
        case folder
        /// A symbolic link whose target does not exist.
        case dangling
    }

    /// The items, keyed by their path below the folder.
    private var items: [String: Item] = [:]

    init(of folder: String) {
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
