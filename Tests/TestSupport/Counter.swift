import Foundation

// Mutable state is only accessed inside the lock.
package final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    package init() {}

    package func increment(by step: Int = 1) {
        lock.withLock { count += step }
    }

    package func reset() {
        lock.withLock { count = 0 }
    }

    package var value: Int { lock.withLock { count } }
}

/// A flag that any thread can set, and that stays set.
package final class Flag: Sendable {
    private let counter = Counter()

    package init() {}

    package func set() { counter.increment() }

    package var isSet: Bool { counter.value > 0 }
}
