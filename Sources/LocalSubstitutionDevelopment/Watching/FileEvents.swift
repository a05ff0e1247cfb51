import Foundation

/// Tells that something happened in directories, without saying what; ``FolderWatcher`` looks.
protocol FileEvents: AnyObject {
    /// Watches these, and nothing else any more.
    ///
    /// - Parameters:
    ///   - directories: With all that is in them.
    ///   - places: Paths in other directories, of which nothing else need be told.
    /// - Throws: ``WatchProblem`` when the system watches no more.
    func watch(_ directories: [String], places: [String]) throws

    /// Ends it.
    func cancel()
}

/// Makes the events of this system; `happened` is called on `queue`.
func systemEvents(on queue: DispatchQueue, _ happened: @escaping @Sendable () -> Void) throws -> any FileEvents {
    // Darwin has no inotify, and Linux no sources for files.
    #if os(Linux)
    try InotifyEvents(on: queue, happened)
    #else
    DirectoryEvents(on: queue, happened)
    #endif
}
