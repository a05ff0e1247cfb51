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
///
/// For the app, a load begins when the app resumes the task. On Linux, URL loading calls `canInit(with:)` inside
/// `resume()`, and starts the loads later, perhaps not in the order in which their tasks were resumed. Nothing shows
/// which task a load belongs to. So while loads of a URL are waiting to be started, all of them count as begun when the
/// first of their tasks was resumed.
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
    /// The loads that have not begun although `resume()` was called on their tasks, keyed by URL.
    private var resumed: [String: (loads: Int, since: Int)] = [:]

    /// The number of loads whose URLs did not fit into ``resumed``, and the moment of the first of these loads.
    ///
    /// All of these loads count as begun at that moment. If a load is withdrawn, nothing shows whether that load was
    /// counted here, so the number may stay too high. While the number is too high, later loads also count as begun at
    /// that moment. After a removal, the archive then refuses the responses to these later loads, although nothing was
    /// removed since they began.
    private var unrecorded = (loads: 0, since: 0)

    /// The moment at which a load counts as begun if ``resumed`` does not record it.
    private var moment: Int { unrecorded.loads > 0 ? unrecorded.since : now }

    private static let maximumCount = 10_000

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

    /// The moment of the last removal from any directory.
    var last: Int { lock.withLock { now } }

    /// Returns the copies whose removal is not done; nil means all copies.
    func undone(in directory: String) -> Set<URL?> { lock.withLock { Set(undone[directory, default: [:]].keys) } }

    /// Returns true if nothing has been removed from a directory since a load began.
    func allows(_ directory: String, since moment: Int) -> Bool {
        lock.withLock { removals[directory, default: 0] <= moment }
    }

    /// Records that a task was resumed; its load will begin or be withdrawn.
    func resume(_ request: URLRequest) {
        lock.withLock {
            let url = request.url?.absoluteString ?? ""
            if resumed[url] == nil, resumed.count == Self.maximumCount {
                unrecorded = (unrecorded.loads + 1, moment)
            } else {
                // An unrecorded load may have the same URL, and nothing shows which of the two loads begins first. So
                // while any load is unrecorded, this load counts as begun when the first unrecorded load was resumed.
                resumed[url, default: (0, moment)].loads += 1
            }
        }
    }

    /// Returns the moment at which a load counts as begun, for ``allows(_:since:)``.
    ///
    /// If `resume(_:)` was called for the load, this is the moment of that call, or an earlier one.
    func begin(_ request: URLRequest) -> Int {
        lock.withLock {
            if let since = endWaiting(request) { return since }
            defer { unrecorded.loads = max(unrecorded.loads - 1, 0) }
            return moment
        }
    }

    /// Forgets a load that will never begin.
    func withdraw(_ request: URLRequest) { lock.withLock { _ = endWaiting(request) } }

    private func endWaiting(_ request: URLRequest) -> Int? {
        guard !resumed.isEmpty, let url = request.url?.absoluteString, let (loads, since) = resumed[url] else {
            return nil
        }
        resumed[url] = loads > 1 ? (loads - 1, since) : nil
        return since
    }
}
