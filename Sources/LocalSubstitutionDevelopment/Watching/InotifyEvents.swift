import Foundation

// Only Linux has inotify.
#if os(Linux)
/// Tells that something happened in directories (inotify(7)).
// Only accessed on the queue, until it is cancelled.
final class InotifyEvents: FileEvents {
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    /// By what inotify calls a directory: its path, and the names that are told; nil for all.
    private var directories: [Int32: (path: String, names: Set<String>?)] = [:]

    /// A file is told when it is closed, not with each part that is written to it.
    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ATTRIB
    )

    init(on queue: DispatchQueue, _ happened: @escaping @Sendable () -> Void) throws {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else {
            let code = errno
            throw WatchProblem(instance: code, hasDescriptors: Self.hasDescriptors)
        }
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in if self?.drain() == true { happened() } }
        source.setCancelHandler { close(descriptor) }
        source.resume()
    }

    /// Watches these, and nothing else any more.
    ///
    /// - Parameters:
    ///   - directories: With all that is in them.
    ///   - places: Paths in other directories, of which nothing else is told.
    /// - Throws: ``WatchProblem`` when the system watches no more.
    func watch(_ directories: [String], places: [String]) throws {
        var wanted: [Int32: (path: String, names: Set<String>?)] = [:]
        // Also of those that could be watched before there were too many.
        defer {
            for number in self.directories.keys where wanted[number] == nil { inotify_rm_watch(descriptor, number) }
            self.directories = wanted
        }
        for path in directories {
            if let number = try add(path) { wanted[number] = (path, nil) }
        }
        for place in places.map({ $0 as NSString }) {
            let directory = place.deletingLastPathComponent
            guard let number = try add(directory) else { continue }
            let names = wanted[number].map { $0.names?.union([place.lastPathComponent]) } ?? [place.lastPathComponent]
            wanted[number] = (directory, names)
        }
    }

    /// Watches a directory.
    ///
    /// - Returns: What inotify calls it; nil when there is none.
    private func add(_ directory: String) throws -> Int32? {
        let number = inotify_add_watch(descriptor, directory, Self.mask)
        guard number < 0 else { return number }
        // What nobody may look into tells nothing.
        if [ENOENT, ENOTDIR, EACCES].contains(errno) { return nil }
        throw WatchProblem(directory: errno)
    }

    func cancel() { source.cancel() }

    /// Reads what happened.
    ///
    /// - Returns: Whether there was more than files that were made and are still to be written: those are told when
    ///   they are closed.
    private func drain() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        var isTold = false
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return isTold }
            var offset = 0
            // wd, mask, cookie, len: four numbers of four bytes; then a name of `len` bytes.
            while offset + 16 <= count {
                let event = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: inotify_event.self) }
                let end = min(offset + 16 + Int(event.len), count)
                let name = String(decoding: buffer[(offset + 16)..<end].prefix { $0 != 0 }, as: UTF8.self)
                if isTelling(event, name) { isTold = true }
                offset = end
            }
        }
    }

    private func isTelling(_ event: inotify_event, _ name: String) -> Bool {
        // A watch that was removed, or events that were too many to be kept.
        guard let directory = directories[event.wd] else { return event.mask & UInt32(IN_Q_OVERFLOW) != 0 }
        if let names = directory.names, !names.contains(name) { return false }
        let isMade = event.mask & UInt32(IN_CREATE) != 0 && event.mask & UInt32(IN_ISDIR) == 0
        var status = stat()
        guard isMade, lstat("\(directory.path)/\(name)", &status) == 0 else { return true }
        // A link, also one that is not symbolic, is not written now.
        return status.st_mode & S_IFMT != S_IFREG || status.st_nlink > 1
    }

    /// True while the process may open files.
    private static var hasDescriptors: Bool {
        let descriptor = open("/", O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }
}
#endif
