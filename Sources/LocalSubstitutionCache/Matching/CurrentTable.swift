import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The current ``SubstitutionTable``, and the background pass that builds its responses.
///
/// The pass builds the responses of a few rows at a time. If a request needs a row that the pass has not reached, the
/// request builds that row's response itself. Between two steps, the pass holds no table, and only a weak reference to
/// this object. So after a reload the pass continues with the new table, and it ends when the cache is deallocated.
final class CurrentTable: Sendable {
    /// The queue on which the background passes of all caches run.
    // DispatchQueue is thread-safe, but older SDKs do not declare it Sendable.
    struct Preparation: @unchecked Sendable {
        static let shared = Preparation()
        let queue = DispatchQueue(label: "LocalSubstitutionCache.preparation", qos: .background)
    }

    /// The number of responses that one step builds; a step takes a fraction of a millisecond.
    private static let step = 16
    /// The pause between two steps of the background pass.
    ///
    /// On systems where a queue's priority has no effect, the pause leaves the processors to the app.
    private static var pause: DispatchTimeInterval { .milliseconds(2) }

    private struct State {
        let table: SubstitutionTable
        /// The indices of the rows whose responses the background pass has not built yet.
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
        // Keep the replaced table until the lock is released, because deallocating a table takes time.
        let previous = state.withLock { state in
            defer { state = State(table, isObserved: state.isObserved) }
            return state
        }
        // If a pass is still running, it continues with the new table, so no second pass is started.
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

    /// True if a ``RequestObserver`` is set.
    ///
    /// The flag is kept together with the table, so that a lookup reads both under one lock.
    var isObserved: Bool {
        get { state.value.isObserved }
        set { state.withLock { $0.isObserved = newValue } }
    }

    private func prepare() {
        Preparation.shared.queue.async { [weak self] in self?.prepareStep() }
    }

    /// Builds a few responses; if any are left, schedules the next step after a pause.
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
