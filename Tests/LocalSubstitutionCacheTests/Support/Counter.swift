import Foundation

// What is counted is only touched inside the lock.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    func increment(by step: Int = 1) {
        lock.withLock { count += step }
    }

    func reset() {
        lock.withLock { count = 0 }
    }

    var value: Int { lock.withLock { count } }
}

/// Something that happens once.
final class Flag: Sendable {
    private let counter = Counter()

    func set() { counter.increment() }

    var isSet: Bool { counter.value > 0 }
}
