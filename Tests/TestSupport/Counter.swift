import Foundation
package import LocalSubstitutionCache

// Mutable state is only accessed inside the lock.
package final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    package init() {}

    package func increment(by step: Int = 1) { lock.withLock { count += step } }

    package func reset() { lock.withLock { count = 0 } }

    package var value: Int { lock.withLock { count } }
}

/// A value that closures share: `Locked` cannot be copied into them.
package final class Shared<Value: Sendable>: Sendable {
    package let locked: Locked<Value>

    package init(_ value: Value) { locked = Locked(value) }
}

/// A flag that any thread can set, and that stays set.
package final class Flag: Sendable {
    private let counter = Counter()

    package init() {}

    package func set() { counter.increment() }

    package var isSet: Bool { counter.value > 0 }
}
