import Foundation

/// A source of events about possible changes of files.
///
/// An event reports that something may have changed, but not what. ``FolderWatcher`` then lists the folder again, and
/// compares. So an event without a change does no harm.
protocol FileEventSource: AnyObject {
    /// Watches these paths, and stops watching all others.
    ///
    /// This method must be called on the queue that calls `onEvent`.
    ///
    /// - Parameters:
    ///   - directories: The directories in which every change is reported. A subdirectory is watched only if it is
    ///     listed, too.
    ///   - extraPaths: Single paths in other directories. Changes of other items there may be reported, but need not
    ///     be.
    /// - Throws: ``WatchProblem`` if the system refuses to watch more. The directories that it has accepted stay
    ///   watched.
    func watch(_ directories: [String], extraPaths: [String]) throws

    /// Stops watching; may be called on any thread.
    ///
    /// `onEvent` is no longer called. A call in progress is not interrupted.
    func cancel()
}

/// Creates the event source of this system, which calls `onEvent` on `queue`.
///
/// On Linux this throws a ``WatchProblem`` if the system refuses another inotify instance.
func systemEvents(on queue: DispatchQueue, _ onEvent: @escaping @Sendable () -> Void) throws -> any FileEventSource {
    // Darwin has no inotify, and Linux has no dispatch sources for files.
    #if os(Linux)
    try InotifyEvents(on: queue, onEvent)
    #else
    DirectoryEvents(on: queue, onEvent)
    #endif
}
