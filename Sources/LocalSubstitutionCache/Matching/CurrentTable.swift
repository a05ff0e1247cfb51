import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The current ``SubstitutionTable``, and the background pass that builds its responses.
///
/// If a request needs a row that the pass has not reached, the request builds that row's response itself.
final class CurrentTable: Sendable {
    /// The queue on which the background passes of all caches run.
    // DispatchQueue is thread-safe, but older SDKs do not declare it Sendable.
    struct Preparation: @unchecked Sendable {
        static let shared = Preparation()
        let queue = DispatchQueue(label: "LocalSubstitutionCache.preparation", qos: .background)
    }

    private struct State {
        let table: SubstitutionTable
        /// The number of rows with which the background pass has finished.
        var done = 0
        /// The observers of the requests; nil for none.
        ///
        /// They are kept together with the table, so that a lookup reads both under one lock.
        var observers: RequestObservers?
    }

    private let state: Locked<State>

    init(_ table: SubstitutionTable) {
        state = Locked(State(table: table))
        prepare()
    }

    // A load that is in progress still holds its observers.
    deinit { for reporter in observers?.events ?? [] { reporter.end() } }

    var value: SubstitutionTable { state.value.table }

    func replace(with table: SubstitutionTable) {
        // Keep the replaced table until the lock is released, because deallocating a table takes time.
        let previous = state.withLock { state in
            defer { state = State(table: table, observers: state.observers) }
            return state
        }
        prepare()
        withExtendedLifetime(previous) {}
    }

    /// True once every response of the table is built; for tests.
    var isPrepared: Bool { state.withLock { $0.done == $0.table.rows.count } }

    /// Returns the decision about a request.
    func decision(on request: URLRequest) -> Decision { observedDecision(on: request).decision }

    /// Returns the decision about a request, and the observers.
    func observedDecision(on request: URLRequest) -> (decision: Decision, observers: RequestObservers?) {
        let state = state.value
        return (state.table.decision(on: request), state.observers)
    }

    var observers: RequestObservers? { state.value.observers }

    func changeObservers(_ change: @Sendable (RequestObservers?) -> RequestObservers?) {
        // The replaced observers may release objects of the app, so keep them until the lock is released.
        let previous = state.withLock { state in
            defer { state.observers = change(state.observers) }
            return state.observers
        }
        withExtendedLifetime(previous) {}
    }

    /// Changes the list of those that report to the app; also for tests.
    func changeReporters(_ change: @Sendable ([EventReporter]) -> [EventReporter]) {
        changeObservers { RequestObservers(change($0?.events ?? []), $0?.recording) }
    }

    /// Builds the responses in the background, while the cache exists.
    ///
    /// No weak reference to the table is made, because every later use of the table would take longer.
    private func prepare() { Preparation.shared.queue.async { [weak self] in while self?.prepareRow() == true {} } }

    /// Builds the response of the next row; returns false if none is left.
    private func prepareRow() -> Bool {
        let (table, index) = state.withLock { ($0.table, $0.done) }
        guard index < table.rows.count else { return false }
        if !table.rows[index].isNetworkFirst { _ = table.rows[index].prepare() }
        // After a reload, the pass continues with the new table.
        state.withLock { if $0.table === table { $0.done += 1 } }
        return true
    }
}
