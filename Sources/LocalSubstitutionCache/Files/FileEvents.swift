import Foundation

// Darwin has no inotify, and Linux no sources for files.
#if canImport(Darwin)
/// Tells that something happened in directories, and to files in them.
///
/// A file that is written in place is no event of its directory here, so each file is open, too: as many as the process
/// may have open. Of the others only what makes, moves or removes them is told.
/// https://developer.apple.com/documentation/dispatch/dispatchsource/2300040-makefilesystemobjectsource
// Only accessed on the queue, until it is cancelled.
final class FileEvents {
    private let queue: DispatchQueue
    private let happened: @Sendable () -> Void
    private var sources: [String: (number: ino_t, source: any DispatchSourceFileSystemObject)] = [:]

    init(on queue: DispatchQueue, _ happened: @escaping @Sendable () -> Void) throws {
        (self.queue, self.happened) = (queue, happened)
    }

    /// Watches these, and nothing else any more.
    func watch(directories: [String], files: [String]) throws {
        let wanted = Set(directories).union(files)
        for (path, watched) in sources where !wanted.contains(path) {
            watched.source.cancel()
            sources[path] = nil
        }
        for path in directories + files { watch(path) }
        if let folder = directories.first, sources[folder] == nil, access(folder, F_OK) == 0 {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE)
        }
    }

    private func watch(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        // The same name may lead to another file now.
        if let watched = sources[path] {
            if watched.number == status.st_ino { return }
            watched.source.cancel()
        }
        let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        let source = DispatchSource.makeFileSystemObjectSource(
            fileDescriptor: descriptor,
            eventMask: [.write, .extend, .delete, .rename, .revoke, .link],
            queue: queue
        )
        source.setEventHandler(handler: happened)
        source.setCancelHandler { close(descriptor) }
        source.resume()
        sources[path] = (status.st_ino, source)
    }

    func cancel() {
        for watched in sources.values { watched.source.cancel() }
    }
}
#else
/// Tells that something happened in directories (inotify(7)).
// Only accessed on the queue, until it is cancelled.
final class FileEvents {
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    /// Watched directories, by what inotify calls them.
    private var directories: [Int32: String] = [:]

    /// A file is told when it is closed, not with each part that is written to it.
    private static let mask = UInt32(
        IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
    )

    init(on queue: DispatchQueue, _ happened: @escaping @Sendable () -> Void) throws {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { throw Self.lastError() }
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in if self?.drain() == true { happened() } }
        source.setCancelHandler { close(descriptor) }
        source.resume()
    }

    /// Watches these directories, and no others any more.
    func watch(directories: [String], files: [String]) throws {
        var wanted: [Int32: String] = [:]
        for path in directories {
            let number = inotify_add_watch(descriptor, path, Self.mask)
            if number >= 0 {
                wanted[number] = path
            } else if errno != ENOENT, errno != ENOTDIR {
                throw Self.lastError()
            }
        }
        for number in self.directories.keys where wanted[number] == nil { inotify_rm_watch(descriptor, number) }
        self.directories = wanted
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
                let isMade = event.mask & UInt32(IN_CREATE) != 0 && event.mask & UInt32(IN_ISDIR) == 0
                if !isMade || isWhole(name, in: event.wd) { isTold = true }
                offset = end
            }
        }
    }

    /// Whether a name that was made leads to something that is not written now: a link.
    private func isWhole(_ name: String, in directory: Int32) -> Bool {
        var status = stat()
        guard let folder = directories[directory], lstat("\(folder)/\(name)", &status) == 0 else { return true }
        return status.st_mode & S_IFMT != S_IFREG || status.st_nlink > 1
    }

    private static func lastError() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
#endif
