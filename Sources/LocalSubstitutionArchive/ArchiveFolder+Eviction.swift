import Foundation
import LocalSubstitutionCache
import SubstitutionStandards

extension ArchiveFolder {
    /// Deletes the least recently used copies if the files do not fit; `new`, which was just written, is the last.
    ///
    /// Listing the folder takes time for each copy. So once the files do not fit, at least a tenth of the copies is
    /// deleted, and the folder need not be listed again soon.
    ///
    /// Returns the size of the remaining files in bytes; nil if the folder cannot be listed.
    func trim(sparing new: URL) -> Int? {
        guard var files = try? filesByUse(newest: new), let unfinished = try? unfinishedSize() else { return nil }
        // A file that is longer than the capacity is no copy, and its size may be any number.
        files.removeAll { $0.size > capacity && (try? delete($0.url)) != nil }
        var total = files.reduce(into: unfinished) { $0.add(stated: $1.size) }
        guard total > capacity else { return total }
        for (index, file) in files.enumerated() where total > capacity || index < files.count / 10 {
            if (try? delete(file.url)) != nil { total -= file.size }
        }
        return total
    }

    /// Marks a copy as used now.
    func markAsUsed(_ file: URL) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        guard let used = attributes?[.modificationDate] as? Date else { return }
        if used > Date() { _ = try? filesByUse(newest: file) }
        setUse(of: file, Date())
    }

    /// Returns the files of all copies, the least recently used first and `newest` last.
    ///
    /// A date after now is from a clock that was wrong then or is wrong now. Copies with such dates count as the most
    /// recently used ones. They get dates just before now, in the same order, so that later uses have later dates.
    private func filesByUse(newest: URL) throws(FileProblem) -> [(url: URL, size: Int, used: Date)] {
        var files = try copyFiles().sorted { $0.used < $1.used }
        if let place = files.firstIndex(where: { $0.url == newest }) { files.append(files.remove(at: place)) }
        let now = Date()
        guard files.contains(where: { $0.used > now }) else { return files }
        for (index, file) in files.enumerated() where file.used > now || file.url == newest {
            setUse(of: file.url, now - 0.00001 * Double(files.count - 1 - index))
        }
        return files
    }

    func setUse(of file: URL, _ date: Date) {
        try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    }

    /// Deletes the unfinished files of terminated processes.
    ///
    /// Returns the size in bytes of the remaining unfinished files, which other processes are still writing.
    private func unfinishedSize() throws(FileProblem) -> Int {
        try files(Self.unfinishedSuffix).reduce(into: 0) { total, file in
            let descriptor = open(file.url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { return total.add(stated: file.size) }
            defer { close(descriptor) }
            // A process holds a lock on the file that it writes, and the system releases the lock when the process
            // ends. If this call gets the lock, no process is writing the file.
            let isAbandoned = flock(descriptor, LOCK_EX | LOCK_NB) == 0
            if !isAbandoned || (try? delete(file.url)) == nil { total.add(stated: file.size) }
        }
    }
}
