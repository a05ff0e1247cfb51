import Foundation
import LocalSubstitutionCache

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A log of removals in this process, so that no load brings back a copy that was removed after the load began.
///
/// A moment is a count of removals, not a time. A load records the moment at which it begins. Its response is kept only
/// if nothing has been removed from the archive's directory since. So a removal discards every response that is in
/// flight for that directory.
// Mutable state is only accessed inside the lock.
final class RemovalLog: @unchecked Sendable {
    static let shared = RemovalLog()

    private let lock = NSLock()
    private var queues: [String: DispatchQueue] = [:]
    private var now = 0
    /// The moment of the last removal from each directory.
    private var removals: [String: Int] = [:]
    /// The copies whose removal is not done, keyed by directory, with the moments of their last removals.
    ///
    /// Nil means all copies of the directory.
    private var undone: [String: [URL?: Int]] = [:]

    /// Returns the queue on which all archives of a directory write and remove files.
    ///
    /// So no archive writes a copy while another one removes it.
    func queue(for directory: String) -> DispatchQueue {
        lock.withLock {
            let queue =
                queues[directory] ?? DispatchQueue(label: "LocalSubstitutionCache.OfflineArchive", qos: .utility)
            queues[directory] = queue
            return queue
        }
    }

    /// Records the removal of one copy, or of all copies, from a directory.
    func remove(from directory: String) {
        lock.withLock {
            now += 1
            removals[directory] = now
        }
    }

    /// Records that the removal of one copy, or of all copies if `file` is nil, must still be done.
    func postpone(_ file: URL?, in directory: String) {
        lock.withLock {
            now += 1
            undone[directory, default: [:]].updateValue(now, forKey: file)
        }
    }

    /// Records that the removals up to a moment are done; a later removal of the same copies must still be done.
    func finish(_ file: URL?, in directory: String, upTo moment: Int) {
        lock.withLock {
            if let last = undone[directory]?[file], last <= moment { undone[directory]?.removeValue(forKey: file) }
        }
    }

    /// The moment of the last removal from any directory: now.
    var last: Int { lock.withLock { now } }

    /// Returns the copies whose removal is not done; nil means all copies.
    func undone(in directory: String) -> Set<URL?> { lock.withLock { Set(undone[directory, default: [:]].keys) } }

    /// Returns true if nothing has been removed from a directory since a load began.
    func allows(_ directory: String, since moment: Int) -> Bool {
        lock.withLock { removals[directory, default: 0] <= moment }
    }
}
