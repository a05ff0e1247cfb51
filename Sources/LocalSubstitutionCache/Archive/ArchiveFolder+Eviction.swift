import Foundation

extension ArchiveFolder {
    /// Deletes the least recently used copies until the remaining files fit.
    ///
    /// Returns the size of the remaining files in bytes.
    func trim() -> Int {
        let files = copyFiles()
        var total = files.reduce(unfinishedSize()) { $0 + $1.size }
        for file in files.sorted(by: { $0.used < $1.used }) where total > capacity {
            unlink(file.url.path)
            total -= file.size
        }
        return total
    }

    /// Deletes the unfinished files of terminated processes.
    ///
    /// Returns the size in bytes of the unfinished files that other processes are still writing.
    private func unfinishedSize() -> Int {
        files(Self.unfinishedSuffix).reduce(0) { total, file in
            let descriptor = open(file.url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { return total }
            defer { close(descriptor) }
            // A process holds a lock on the file that it writes, and the system releases the lock when the process
            // ends. If this call gets the lock, no process is writing the file.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return total + file.size }
            unlink(file.url.path)
            return total
        }
    }
}
