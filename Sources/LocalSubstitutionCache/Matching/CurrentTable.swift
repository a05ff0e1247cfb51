import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The table that answers now, whose responses are built in the background.
///
/// A request that comes first builds its own. A single pass goes through the rows, a few at a time. Between them it
/// refers to no table, and weakly to this object: it goes on with the next table after a reload, and ends when the
/// cache is released.
final class CurrentTable: Sendable {
    /// The queue of all passes.
    // A queue is safe to share, which older SDKs do not declare.
    struct Preparation: @unchecked Sendable {
        static let shared = Preparation()
        let queue = DispatchQueue(label: "LocalSubstitutionCache.preparation", qos: .background)
    }

    /// The number of rows in a step, which takes a fraction of a millisecond.
    private static let step = 16
    /// The pause between two steps, which leaves the processors to the app where a queue's priority does not.
    private static var pause: DispatchTimeInterval { .milliseconds(2) }

    private struct State {
        let table: SubstitutionTable
        /// The rows that the pass has not reached.
        var rest: Range<Int>
        /// Whether somebody takes note of the requests.
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
        // What is replaced is released outside the lock.
        let previous = state.withLock { state in
            defer { state = State(table, isObserved: state.isObserved) }
            return state
        }
        // A pass that has not reached its end goes on with this table.
        if previous.rest.isEmpty, table.count > 0 { prepare() }
    }

    /// True once no response of the table is left to be built.
    var isPrepared: Bool { state.value.rest.isEmpty }

    /// Decides on a request.
    func verdict(on request: URLRequest) -> Verdict { judge(request).verdict }

    /// Decides on a request, and tells whether that is to be noted.
    func judge(_ request: URLRequest) -> (verdict: Verdict, isObserved: Bool) {
        let state = state.value
        return (state.table.verdict(on: request, isPrepared: state.rest.isEmpty), state.isObserved)
    }

    /// Whether somebody takes note of the requests; kept here, so that an unobserved look-up costs no second lock.
    var isObserved: Bool {
        get { state.value.isObserved }
        set { state.withLock { $0.isObserved = newValue } }
    }

    private func prepare() {
        Preparation.shared.queue.async { [weak self] in self?.prepareStep() }
    }

    /// Builds a few responses, and goes on after a pause while any are left.
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
