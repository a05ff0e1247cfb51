import Foundation

extension ArchiveFolder {
    /// Makes room, beginning with the least recently used copies, and returns how many bytes the rest takes.
    func trim() -> Int {
        let files = files()
        var total = files.reduce(unfinishedSize()) { $0 + $1.size }
        for file in files.sorted(by: { $0.used < $1.used }) where total > capacity {
            unlink(file.url.path)
            total -= file.size
        }
        return total
    }

    /// What is being written just now, in bytes; removes what a process left that ended meanwhile.
    private func unfinishedSize() -> Int {
        files(Self.unfinishedSuffix).reduce(0) { total, file in
            let descriptor = open(file.url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { return total }
            defer { close(descriptor) }
            // The lock of a process ends with it.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return total + file.size }
            unlink(file.url.path)
            return total
        }
    }
}
