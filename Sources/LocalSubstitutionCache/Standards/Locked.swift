// On Apple platforms, `Mutex` needs newer systems than this library does.
#if canImport(Darwin)
import Foundation
#else
import Synchronization
#endif

/// A value protected by a lock.
///
/// The lock is held only to read or change the value, never while other code runs.
package struct Locked<Value: Sendable>: ~Copyable, Sendable {
    // On Apple platforms, `Mutex` needs newer systems than this library does.
    #if canImport(Darwin)
    // The value is only accessed inside the lock.
    private final class Storage: @unchecked Sendable {
        let lock = NSLock()
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    private let storage: Storage

    package init(_ value: Value) { storage = Storage(value) }

    package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        storage.lock.withLock { body(&storage.value) }
    }
    #else
    private let lock: Mutex<Value>
    /// An atomic from which the thread sanitizer learns the order in which threads have held the lock.
    ///
    /// The thread sanitizer sees atomics, but cannot see into `Mutex`.
    private let order = Atomic(false)

    package init(_ value: Value) { lock = Mutex(value) }

    package func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        lock.withLock { value in
            _ = order.load(ordering: .acquiring)
            defer { order.store(true, ordering: .releasing) }
            return body(&value)
        }
    }
    #endif

    /// The current value.
    package var value: Value { withLock { $0 } }

    /// Stores `value` and returns the old value, so that the caller releases the old value outside the lock.
    package func replace(with value: Value) -> Value {
        withLock { current in
            defer { current = value }
            return current
        }
    }
}
