import Foundation

/// When copies were removed from a directory by this process, and when the loads began that would write new ones.
///
/// A load that began before a copy was removed must not bring it back. Moments are counted, not timed. All archives of
/// one directory share one of these.
// Mutable state is only accessed inside the lock.
final class RemovalLog: @unchecked Sendable {
    private let lock = NSLock()
    private var now = 0
    /// When everything was removed last.
    private var all = 0
    /// When one file was removed last, by its name.
    private var single: [String: Int] = [:]
    /// When loads were announced that have not begun, by the name of the file, in order.
    private var announced: [String: [Int]] = [:]
    private var announcedCount = 0
    /// How many announced loads of a file may still begin, of which nobody will say when they never do.
    private var orphaned: [String: Int] = [:]

    /// A limit, so that single files and announced loads cannot fill the memory: beyond it every copy counts
    /// as removed, so that a copy may be missing, but no removed copy comes back.
    private static let maximumCount = 10_000

    /// The removals of one existing directory, the same for every path that leads to it.
    static func of(_ directory: URL) -> RemovalLog {
        registryLock.withLock {
            let path = (try? OpenedFolder.realPath(of: directory.path).text) ?? directory.standardizedFileURL.path
            let removals = registry[path] ?? RemovalLog()
            registry[path] = removals
            return removals
        }
    }

    private static let registryLock = NSLock()
    // Only touched inside the lock.
    private nonisolated(unsafe) static var registry: [String: RemovalLog] = [:]

    /// The moment, for a load that begins.
    var moment: Int { lock.withLock { now } }

    func removeAll() {
        lock.withLock {
            now += 1
            forgetSingle()
        }
    }

    func remove(_ file: String) {
        lock.withLock {
            now += 1
            single[file] = now
            if single.count > Self.maximumCount { forgetSingle() }
        }
    }

    private func forgetSingle() {
        all = now
        single = [:]
    }

    /// Whether a load of `file` that began at `moment` would bring back nothing that was removed since.
    func allows(_ file: String, since moment: Int) -> Bool {
        lock.withLock { all <= moment && single[file, default: 0] <= moment }
    }

    /// Remembers that a load of `file` will begin, whose task the app is resuming now.
    func announce(_ file: String) {
        lock.withLock {
            if announcedCount == Self.maximumCount {
                (announced, announcedCount) = ([:], 0)
                now += 1
                forgetSingle()
            }
            announced[file, default: []].append(now)
            announcedCount += 1
        }
    }

    /// The moment at which a load of `file` began for the app: not later than it did, if it was announced, and else
    /// now.
    ///
    /// Loads need not begin in the order in which they were announced, and nothing tells which is which. So each gets
    /// the earliest moment that is left, and the latest is forgotten.
    func begin(_ file: String) -> Int {
        lock.withLock {
            if let count = orphaned[file] {
                orphaned[file] = count > 1 ? count - 1 : nil
                return -1
            }
            let first = announced[file]?.first ?? now
            forgetAnnouncement(of: file)
            return first
        }
    }

    /// Gives up on all announcements: as many loads of each file are taken for those, and not kept.
    func orphanAnnounced() {
        lock.withLock {
            for (file, moments) in announced { orphaned[file, default: 0] += moments.count }
            (announced, announcedCount) = ([:], 0)
            // A limit, as for everything that is remembered here.
            if orphaned.count > Self.maximumCount { orphaned = [:] }
        }
    }

    /// Forgets one announcement, of a load that will never begin.
    func withdraw(_ file: String) {
        lock.withLock { forgetAnnouncement(of: file) }
    }

    private func forgetAnnouncement(of file: String) {
        guard var moments = announced[file] else { return }
        moments.removeLast()
        announced[file] = moments.isEmpty ? nil : moments
        announcedCount -= 1
    }
}
