import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// When copies were removed in this process, so that no load brings back what was removed after it had begun.
///
/// Moments are counted, not timed. A load takes the moment when it begins, and its answer is kept only while nothing
/// was removed from the archive's directory since: a removal costs whatever is on its way there.
///
/// For the app a load begins when it resumes the task. On Linux `canInit(with:)` runs inside `resume()`, and the load
/// begins later, perhaps in another order; nothing tells which load is which task's. So every load of a URL counts
/// from the first `resume()` whose load has not begun.
// Mutable state is only accessed inside the lock.
final class RemovalLog: @unchecked Sendable {
    static let shared = RemovalLog()

    private let lock = NSLock()
    private var now = 0
    /// The last removal from each directory.
    private var removals: [String: Int] = [:]
    /// Loads that were resumed and have not begun, by URL.
    private var resumed: [String: (loads: Int, since: Int)] = [:]

    /// Loads that were resumed while ``resumed`` was full: so many that find no entry there count as begun before
    /// every removal.
    private var unrecorded = 0

    private static let maximumCount = 10_000

    /// Records that a copy was removed from a directory, or all of them.
    func remove(from directory: String) {
        lock.withLock {
            now += 1
            removals[directory] = now
        }
    }

    /// Tells whether nothing was removed from a directory since a load began.
    func allows(_ directory: String, since moment: Int) -> Bool {
        lock.withLock { removals[directory, default: 0] <= moment }
    }

    /// Records that a task was resumed, whose load will begin or be withdrawn.
    func resume(_ request: URLRequest) {
        lock.withLock {
            let url = request.url?.absoluteString ?? ""
            if resumed[url] == nil, resumed.count == Self.maximumCount {
                unrecorded += 1
            } else {
                // The entry may be taken by a load that has none.
                resumed[url, default: (0, unrecorded > 0 ? -1 : now)].loads += 1
            }
        }
    }

    /// Returns the moment at which a load began, for ``allows(_:since:)``.
    func begin(_ request: URLRequest) -> Int {
        lock.withLock {
            if let since = endWaiting(request) { return since }
            guard unrecorded > 0 else { return now }
            unrecorded -= 1
            return -1
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
