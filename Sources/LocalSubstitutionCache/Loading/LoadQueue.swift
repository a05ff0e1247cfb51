// Only on Apple's systems do the events of a load come from a second task: see BackingLoad.swift.
#if !canImport(FoundationNetworking) || APPLE_LOADING
import Foundation

/// Runs the events of one load, one after the other, where URL loading has called the protocol.
///
/// Apple's systems have two loaders. The classic one calls a protocol on a thread that runs its run loop. The newer one
/// (`usesClassicLoadingMode` is false) calls a protocol on the session's delegate queue, whose threads run none.
// The events are only accessed inside a lock, and a run loop takes blocks from any thread.
final class LoadQueue: @unchecked Sendable {
    private let runLoop = RunLoop.current
    /// The mode in which the run loop runs; nil if it does not run.
    private let mode = RunLoop.current.currentMode
    private let queue: OperationQueue
    /// The events that wait for an operation of ``queue``.
    private let events = Locked<[@Sendable () -> Void]>([])
    /// Held while an event runs, because an app's queue may run several operations at the same time.
    private let turn = NSRecursiveLock()

    /// Creates the queue of a load; called where URL loading calls the protocol.
    init(_ delegateQueue: OperationQueue?) { queue = delegateQueue ?? OperationQueue() }

    /// Runs `event` later, after the events that were added before it.
    func add(_ event: @escaping () -> Void) {
        // The event only runs in its turn.
        nonisolated(unsafe) let event = event
        if let mode {
            runLoop.perform(inModes: [.common, mode], block: { [self] in perform(event) })
            return CFRunLoopWakeUp(runLoop.getCFRunLoop())
        }
        events.withLock { $0.append { event() } }
        queue.addOperation { [self] in perform { events.withLock { $0.removeFirst() }() } }
    }

    /// Runs `body` now, while no event runs on another thread; an event may call this method, too.
    func perform(_ body: () -> Void) { turn.withLock(body) }
}
#endif
