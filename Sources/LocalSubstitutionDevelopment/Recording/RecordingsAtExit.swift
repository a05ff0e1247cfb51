import Foundation

/// The recordings whose last requests are written when the process exits.
///
/// The system runs the handler when `main` returns and when the process calls `exit`, but not when it is killed.
enum RecordingsAtExit {
    private struct Entry {
        weak var log: RecordingLog?
    }

    private static let lock = NSLock()
    // Mutable state is only accessed inside the lock.
    nonisolated(unsafe) private static var entries: [Entry] = []
    /// The registration of the handler; evaluated once for each process.
    private static let registration: Int32 = atexit {
        for log in RecordingsAtExit.logs { log.saveBeforeExit() }
    }

    /// The recordings that have not ended.
    static var logs: [RecordingLog] { lock.withLock { entries.compactMap(\.log) } }

    static func add(_ log: RecordingLog) {
        _ = registration
        lock.withLock { entries = entries.filter { $0.log != nil } + [Entry(log: log)] }
    }

    static func remove(_ log: RecordingLog) {
        lock.withLock { entries.removeAll { $0.log === log } }
    }
}
