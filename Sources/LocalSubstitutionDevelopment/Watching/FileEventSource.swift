import Foundation

/// A source of events that report that something changed, but not what; ``FolderWatcher`` finds out.
protocol FileEventSource: AnyObject {
    /// Watches these paths, and stops watching all others.
    ///
    /// - Parameters:
    ///   - directories: The directories to watch, with all that they contain.
    ///   - extraPaths: Paths in other directories; nothing else in those directories has to be reported.
    /// - Throws: ``WatchProblem`` if the system refuses to watch more.
    func watch(_ directories: [String], extraPaths: [String]) throws

    /// Stops watching.
    func cancel()
}

/// Creates the event source of this system, which calls `onEvent` on `queue`.
func systemEvents(on queue: DispatchQueue, _ onEvent: @escaping @Sendable () -> Void) throws -> any FileEventSource {
    // Darwin has no inotify, and Linux has no dispatch sources for files.
    #if os(Linux)
    try InotifyEvents(on: queue, onEvent)
    #else
    DirectoryEvents(on: queue, onEvent)
    #endif
}
