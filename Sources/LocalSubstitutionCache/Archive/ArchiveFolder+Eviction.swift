import Foundation

extension ArchiveFolder {
    /// Deletes the least recently used copies until the rest fits, and returns how many bytes the rest takes.
    func trim() -> Int {
        let files = copyFiles()
        var total = files.reduce(unfinishedSize()) { $0 + $1.size }
        for file in files.sorted(by: { $0.used < $1.used }) where total > capacity {
            unlink(file.url.path)
            total -= file.size
        }
        return total
    }

    /// Deletes files that terminated processes left unfinished; returns how many bytes the files in progress take.
    private func unfinishedSize() -> Int {
        files(Self.unfinishedSuffix).reduce(0) { total, file in
            let descriptor = open(file.url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { return total }
            defer { close(descriptor) }
            // The system releases a process's lock when the process ends, so a file that can be locked has no writer.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return total + file.size }
            unlink(file.url.path)
            return total
        }
    }
}
