import Foundation

/// The limit for the memory that all loads of an archive hold together, in bytes.
// Mutable state is only accessed inside the lock.
final class MemoryBudget: @unchecked Sendable {
    private let shared: Int
    /// The maximum number of bytes that one load may hold.
    let single: Int
    private let lock = NSLock()
    private var held = 0

    init(shared: Int, single: Int) { (self.shared, self.single) = (shared, single) }

    /// The number of bytes that are held now.
    var count: Int { lock.withLock { held } }

    /// Reserves memory for a load that already holds `own` bytes; returns false if not enough memory is left.
    ///
    /// If the length of a body is announced and no other load holds memory, the body may exceed the shared limit.
    func reserve(_ count: Int, beside own: Int, isAnnounced: Bool) -> Bool {
        lock.withLock {
            guard count > 0 else { return true }
            guard count <= single - own, count <= shared - held || isAnnounced && held == own else { return false }
            held += count
            return true
        }
    }

    func release(_ count: Int) { lock.withLock { held -= count } }
}
