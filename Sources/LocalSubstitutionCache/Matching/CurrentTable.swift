import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The current table, and the background pass that builds its responses.
///
/// A single pass goes through the rows, a few at a time. If a request needs a row that the pass has not reached, the
/// request builds that row's response itself. Between two steps, the pass holds no table, and refers to this object
/// only weakly: after a reload it continues with the new table, and it ends when the cache is deallocated.
final class CurrentTable: Sendable {
    /// The queue of all passes.
    // DispatchQueue is thread-safe, but older SDKs do not declare it Sendable.
    struct Preparation: @unchecked Sendable {
        static let shared = Preparation()
        let queue = DispatchQueue(label: "LocalSubstitutionCache.preparation", qos: .background)
    }

    /// The number of rows in a step; a step takes a fraction of a millisecond.
    private static let step = 16
    /// The pause between two steps.
    ///
    /// On systems where a queue's priority has no effect, the pause leaves the processors to the app.
    private static var pause: DispatchTimeInterval { .milliseconds(2) }

    private struct State {
        let table: SubstitutionTable
        /// The rows that the pass has not reached.
        var rest: Range<Int>
        /// True if a ``RequestObserver`` is set.
        var isObserved: Bool

        init(_ table: SubstitutionTable, isObserved: Bool = false) {
            (self.table, rest, self.isObserved) = (table, 0..<table.count, isObserved)
        }
    }

    private let state: Locked<State>

    init(_ table: SubstitutionTable) {
        state = Locked(State(table))
        if table.count > 0 { prepare() }
    }

    var value: SubstitutionTable { state.value.table }

    func replace(with table: SubstitutionTable) {
        // The replaced table is released outside the lock.
        let previous = state.withLock { state in
            defer { state = State(table, isObserved: state.isObserved) }
            return state
        }
        // A pass that is still running continues with the new table.
        if previous.rest.isEmpty, table.count > 0 { prepare() }
    }

    /// True once every response of the table is built.
    var isPrepared: Bool { state.value.rest.isEmpty }

    /// Returns the decision about a request.
    func verdict(on request: URLRequest) -> Verdict { verdictAndObservation(request).verdict }

    /// Returns the decision about a request, and whether an observer is set.
    func verdictAndObservation(_ request: URLRequest) -> (verdict: Verdict, isObserved: Bool) {
        let state = state.value
        return (state.table.verdict(on: request, isPrepared: state.rest.isEmpty), state.isObserved)
    }

    /// True if a ``RequestObserver`` is set; kept here so that an unobserved lookup needs no second lock.
    var isObserved: Bool {
        get { state.value.isObserved }
        set { state.withLock { $0.isObserved = newValue } }
    }

    private func prepare() {
        Preparation.shared.queue.async { [weak self] in self?.prepareStep() }
    }

    /// Builds a few responses, and schedules the next step after a pause if any are left.
    private func prepareStep() {
        let before = state.value
        let rows = before.rest.prefix(Self.step)
        before.table.prepare(rows)
        let isLast = state.withLock { state in
            if state.table === before.table { state.rest = rows.upperBound..<state.rest.upperBound }
            return state.rest.isEmpty
        }
        if isLast { return }
        Preparation.shared.queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.prepareStep() }
    }
}
