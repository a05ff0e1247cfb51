import Foundation

// Only Darwin has dispatch sources for files.
#if canImport(Darwin)
/// An event source for directories.
///
/// Most changes are reported immediately. A file that is written in place is reported within a second.
///
/// The dispatch source of a directory reports files that are created, moved or removed, but not files that are written
/// in place. A source for each file would keep every file open. Instead, a check once a second finds the files that are
/// written in place (``PolledEvents``).
///
/// https://developer.apple.com/documentation/dispatch/dispatchsource/2300040-makefilesystemobjectsource
// Until this source is cancelled, it is only accessed on the queue.
final class DirectoryEvents: FileEventSource {
    private let queue: DispatchQueue
    private let onEvent: @Sendable () -> Void
    private let polled: PolledEvents
    private var sources: [String: (number: ino_t, source: any DispatchSourceFileSystemObject)] = [:]

    init(on queue: DispatchQueue, _ onEvent: @escaping @Sendable () -> Void) {
        (self.queue, self.onEvent) = (queue, onEvent)
        polled = PolledEvents(on: queue, onEvent)
    }

    /// Watches these paths.
    ///
    /// Changes in a directory that cannot be opened are noticed only by the check, which runs once a second.
    func watch(_ directories: [String], extraPaths: [String]) {
        let wanted = Set(directories + extraPaths.map { ($0 as NSString).deletingLastPathComponent })
        for (path, watched) in sources where !wanted.contains(path) {
            watched.source.cancel()
            sources[path] = nil
        }
        for path in wanted { watch(path) }
    }

    private func watch(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        // The path may lead to a different directory than the one that is watched.
        if let watched = sources[path] {
            if watched.number == status.st_ino { return }
            watched.source.cancel()
        }
        let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        let source = DispatchSource.makeFileSystemObjectSource(
            fileDescriptor: descriptor,
            eventMask: [.write, .delete, .rename, .revoke, .link, .attrib],
            queue: queue
        )
        source.setEventHandler(handler: onEvent)
        source.setCancelHandler { close(descriptor) }
        source.resume()
        sources[path] = (status.st_ino, source)
    }

    func cancel() {
        polled.cancel()
        for watched in sources.values { watched.source.cancel() }
    }
}
#endif
