import Foundation

// Only Linux has inotify.
#if os(Linux)
/// An event source that watches directories with inotify(7).
// Only accessed on the queue until the source is cancelled.
final class InotifyEvents: FileEventSource {
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    /// The watched directories, keyed by watch descriptor: the path, and the names to report; nil for all names.
    private var directories: [Int32: (path: String, names: Set<String>?)] = [:]

    /// The events to watch.
    ///
    /// A file that is written is reported when it is closed, and not after each write.
    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ATTRIB
    )

    init(on queue: DispatchQueue, _ onEvent: @escaping @Sendable () -> Void) throws {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else {
            let code = errno
            throw WatchProblem(instance: code, hasDescriptors: Self.hasDescriptors)
        }
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in if self?.readEvents() == true { onEvent() } }
        source.setCancelHandler { close(descriptor) }
        source.resume()
    }

    /// Watches these paths, and stops watching all others.
    ///
    /// Call this method on the queue that calls `onEvent`.
    ///
    /// - Parameters:
    ///   - directories: The directories in which every change is reported. A subdirectory is watched only if it is
    ///     listed, too.
    ///   - extraPaths: Single paths in other directories. Changes of other items there are not reported.
    /// - Throws: ``WatchProblem`` if the system refuses to watch more. The directories that it has accepted stay
    ///   watched.
    func watch(_ directories: [String], extraPaths: [String]) throws {
        var wanted: [Int32: (path: String, names: Set<String>?)] = [:]
        // This also runs after an error. The directories in `wanted` then stay watched: the system has accepted these.
        defer {
            for number in self.directories.keys where wanted[number] == nil { inotify_rm_watch(descriptor, number) }
            self.directories = wanted
        }
        for path in directories {
            if let number = try addWatch(path) { wanted[number] = (path, nil) }
        }
        for place in extraPaths.map({ $0 as NSString }) {
            let directory = place.deletingLastPathComponent
            guard let number = try addWatch(directory) else { continue }
            let names = wanted[number].map { $0.names?.union([place.lastPathComponent]) } ?? [place.lastPathComponent]
            wanted[number] = (directory, names)
        }
    }

    /// Watches a directory.
    ///
    /// - Returns: The watch descriptor; nil if there is no such directory, or if it may not be read.
    private func addWatch(_ directory: String) throws -> Int32? {
        let number = inotify_add_watch(descriptor, directory, Self.mask)
        guard number < 0 else { return number }
        // No change can be reported in a directory that is missing or unreadable.
        if [ENOENT, ENOTDIR, EACCES].contains(errno) { return nil }
        throw WatchProblem(directory: errno)
    }

    func cancel() { source.cancel() }

    /// Reads all events that have occurred.
    ///
    /// - Returns: True if any event must be reported. A new file is not reported before it has been written and closed.
    private func readEvents() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        var shouldReport = false
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return shouldReport }
            var offset = 0
            // wd, mask, cookie, len: four numbers of four bytes; then a name of `len` bytes.
            while offset + 16 <= count {
                let event = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
                let end = min(offset + 16 + Int(event.len), count)
                let name = String(decoding: buffer[(offset + 16)..<end].prefix { $0 != 0 }, as: UTF8.self)
                if isRelevant(event, name) { shouldReport = true }
                offset = end
            }
        }
    }

    private func isRelevant(_ event: inotify_event, _ name: String) -> Bool {
        // No directory has this descriptor: either the watch was removed, or the event says that the queue overflowed.
        guard let directory = directories[event.wd] else { return event.mask & UInt32(IN_Q_OVERFLOW) != 0 }
        if let names = directory.names, !names.contains(name) { return false }
        let isMade = event.mask & UInt32(IN_CREATE) != 0 && event.mask & UInt32(IN_ISDIR) == 0
        var status = stat()
        guard isMade, lstat("\(directory.path)/\(name)", &status) == 0 else { return true }
        // Only a new regular file is written after its creation. A symbolic or hard link is complete when it is
        // created.
        return status.st_mode & S_IFMT != S_IFREG || status.st_nlink > 1
    }

    /// True if the process can open one more file.
    private static var hasDescriptors: Bool {
        let descriptor = open("/", O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }
}
#endif
