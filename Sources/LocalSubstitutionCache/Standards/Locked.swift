// Apple's `Mutex` needs newer systems than this library.
#if canImport(Darwin)
import Foundation
#else
import Synchronization
#endif

/// A value behind a lock that is never held while other code runs.
struct Locked<Value: Sendable>: ~Copyable, Sendable {
    // As above.
    #if canImport(Darwin)
    // The value is only accessed inside the lock.
    private final class Storage: @unchecked Sendable {
        let lock = NSLock()
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    private let storage: Storage

    init(_ value: Value) { storage = Storage(value) }

    func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        storage.lock.withLock { body(&storage.value) }
    }
    #else
    private let lock: Mutex<Value>
    /// Shows the order of the lock's holders to the thread sanitizer, which sees atomics and cannot see into `Mutex`.
    private let order = Atomic(false)

    init(_ value: Value) { lock = Mutex(value) }

    func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        lock.withLock { value in
            _ = order.load(ordering: .acquiring)
            defer { order.store(true, ordering: .releasing) }
            return body(&value)
        }
    }
    #endif

    /// The value as it is now.
    var value: Value { withLock { $0 } }

    /// Stores `value`, and returns what was there, so that the caller releases it outside the lock.
    func replace(with value: Value) -> Value {
        withLock { current in
            defer { current = value }
            return current
        }
    }
}
