import Foundation

/// A timer that fires once a second, for systems that do not report when a file is written in place.
///
/// Each time it fires, ``FolderWatcher`` looks at the date of every file in the folder. This takes some milliseconds
/// for a thousand files.
// Only accessed on the queue.
final class PolledEvents: FileEventSource {
    private let timer: any DispatchSourceTimer

    init(on queue: DispatchQueue, _ onEvent: @escaping @Sendable () -> Void) {
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
        timer.setEventHandler(handler: onEvent)
        timer.resume()
    }

    func watch(_ directories: [String], extraPaths: [String]) {}

    func cancel() { timer.cancel() }
}
