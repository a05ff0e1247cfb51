import Foundation

// Only Darwin has sources for files.
#if canImport(Darwin)
/// Tells at once what is made, moved or removed in directories, and within a second what is written in place.
///
/// A directory tells nothing of a file that is written in place, and a source for each file would keep each open.
/// https://developer.apple.com/documentation/dispatch/dispatchsource/2300040-makefilesystemobjectsource
// Only accessed on the queue, until it is cancelled.
final class DirectoryEvents: FileEvents {
    private let queue: DispatchQueue
    private let happened: @Sendable () -> Void
    private let polled: PolledEvents
    private var sources: [String: (number: ino_t, source: any DispatchSourceFileSystemObject)] = [:]

    init(on queue: DispatchQueue, _ happened: @escaping @Sendable () -> Void) {
        (self.queue, self.happened) = (queue, happened)
        polled = PolledEvents(on: queue, happened)
    }

    /// Watches these; one that cannot be opened is only looked at once a second.
    func watch(_ directories: [String], places: [String]) {
        let wanted = Set(directories + places.map { ($0 as NSString).deletingLastPathComponent })
        for (path, watched) in sources where !wanted.contains(path) {
            watched.source.cancel()
            sources[path] = nil
        }
        for path in wanted { watch(path) }
    }

    private func watch(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        // The same name may lead to another directory now.
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
        source.setEventHandler(handler: happened)
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
