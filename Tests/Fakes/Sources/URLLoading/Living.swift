/// The tasks, protocols and loads that still exist.
package enum Living {
    // Only the reference is passed between threads.
    private struct Reference: @unchecked Sendable {
        weak let object: AnyObject?
    }

    private static let references = Locked<[Reference]>([])

    static func add(_ object: AnyObject?) {
        let reference = Reference(object: object)
        references.withLock { $0.append(reference) }
    }

    /// The number of objects by kind, of those added since the last `reset()`.
    package static var objects: [String: Int] {
        references.value.compactMap(\.object).reduce(into: [:]) { $0["\(type(of: $1))", default: 0] += 1 }
    }

    package static func reset() { _ = references.replace(with: []) }
}
