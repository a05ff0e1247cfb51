import Foundation
import LocalSubstitutionCache

/// The loads of one visit to a page.
// Mutable state is only accessed inside the lock.
final class LoadList: @unchecked Sendable {
    private let lock = NSLock()
    private var begun: Set<String> = []
    private var ended: [LiveTable.FinishedLoad] = []
    private var count: Int?

    /// The URLs of all requests, including those that have no response yet.
    var asked: Set<String> { lock.withLock { begun } }

    /// All loads that have ended.
    var all: [LiveTable.FinishedLoad] { lock.withLock { ended } }

    /// The loads that had ended when the screenshot of the whole page began, which may itself cause loads.
    var counted: [LiveTable.FinishedLoad] { lock.withLock { Array(ended.prefix(count ?? ended.count)) } }

    /// True once the screenshot of the whole page has begun.
    var isCut: Bool { lock.withLock { count != nil } }

    func begin(_ held: HeldRequest) { lock.withLock { _ = begun.insert(held.request.url) } }

    func append(_ load: LiveTable.FinishedLoad) { lock.withLock { ended.append(load) } }

    /// Marks the beginning of the screenshot of the whole page.
    func cut() { lock.withLock { count = count ?? ended.count } }
}
