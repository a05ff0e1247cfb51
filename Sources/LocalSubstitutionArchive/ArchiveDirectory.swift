import Foundation
import LocalSubstitutionCache

/// The state that all archives of one directory share in this process: a queue, and a count of removals.
///
/// The count rises when a removal begins and when it ends. A load reads it when it begins, and its response is kept
/// only if the count is the same when it ends. So no response that was in flight brings back what was removed.
// DispatchQueue is thread-safe, but older SDKs do not declare it Sendable.
final class ArchiveDirectory: @unchecked Sendable {
    /// The queue on which copies are read, written and removed.
    let queue = DispatchQueue(label: "LocalSubstitutionCache.OfflineArchive")
    private let state = Locked((moment: 0, isClosed: false))

    private static let known = Locked<[String: ArchiveDirectory]>([:])

    /// Returns the object for a directory; every path to the directory must have the same spelling.
    static func at(_ path: String) -> ArchiveDirectory {
        known.withLock { known in
            let directory = known[path] ?? ArchiveDirectory()
            known[path] = directory
            return directory
        }
    }

    /// The count of removals now.
    var moment: Int { state.value.moment }

    /// Returns false if a removal has begun or ended since a moment, or if the last one has failed.
    func allowsCopies(since moment: Int) -> Bool {
        let state = state.value
        return state.moment == moment && !state.isClosed
    }

    /// Removes copies on the queue.
    ///
    /// - Parameters:
    ///   - isAll: True if every copy is removed.
    ///   - body: Removes the copies; if it throws, no copies are allowed until all have been removed.
    /// - Throws: What `body` throws.
    func remove(isAll: Bool, _ body: () throws -> Void) throws {
        try queue.sync {
            let wasClosed = state.value.isClosed
            state.withLock { $0 = ($0.moment + 1, true) }
            try body()
            state.withLock { $0 = ($0.moment + 1, wasClosed && !isAll) }
        }
    }
}
