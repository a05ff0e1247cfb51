import Foundation

/// The files of an ``OfflineArchive``.
///
/// Other files in the folder are left alone.
struct ArchiveFolder {
    let url: URL
    /// How many bytes the copies may take together.
    let capacity: Int

    /// Makes the folder, if it is missing.
    func make() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // There are no backups to be excluded from elsewhere.
        #if canImport(Darwin)
        var url = url
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
        #endif
    }

    private static let suffix = ".offlinecopy"
    /// What a process that ended while it wrote has left.
    private static let unfinishedSuffix = ".offlinepart"

    /// Where the copy of a URL lies.
    ///
    /// Two URLs may have one file, but not one copy: the URL in the file decides.
    func file(for identity: URLIdentity) -> URL {
        var name = FNV1a()
        name.combine(Data(identity.description.utf8))
        return url.appendingPathComponent(name.description + Self.suffix)
    }

    /// Reads a copy; removes what is none.
    func copy(in file: URL) -> ArchivedCopy? {
        do throws(FileProblem) {
            let opened = try OpenedFile(path: file.path, followsLink: false)
            if opened.size <= capacity {
                let data = try FileContents(of: opened, reading: .copied).data
                if let copy = ArchivedCopy(decoding: data) { return copy }
            }
        } catch {
            switch error {
            case .isLink, .notRegular: break
            // Such as a file that cannot be read just now, or a folder that is none of ours.
            default: return nil
            }
        }
        unlink(file.path)
        return nil
    }

    /// Writes a file aside, and puts it in its place at once; on a full disk nothing changes.
    func write(_ data: Data, to file: URL) {
        let unfinished = url.appendingPathComponent(UUID().uuidString + Self.unfinishedSuffix)
        do {
            do {
                try data.write(to: unfinished)
            } catch CocoaError.fileNoSuchFile {
                // The system may clear its folder for caches at any time.
                try make()
                try data.write(to: unfinished)
            }
            // For nobody else on a machine with several people.
            guard chmod(unfinished.path, 0o600) == 0, rename(unfinished.path, file.path) == 0 else {
                throw POSIXError(.EIO)
            }
        } catch {
            unlink(unfinished.path)
        }
    }

    /// The files of copies.
    func files() -> [(url: URL, size: Int, used: Date)] { files(Self.suffix) }

    private func files(_ suffix: String) -> [(url: URL, size: Int, used: Date)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        return names.filter { $0.hasSuffix(suffix) }.compactMap { name in
            let file = url.appendingPathComponent(name)
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
            guard let size = attributes?[.size] as? Int, let used = attributes?[.modificationDate] as? Date else {
                return nil
            }
            return (file, size, used)
        }
    }

    /// Makes room, beginning with what was used least recently; what is left takes so many bytes.
    func trim() -> Int {
        let files = files()
        var total = files.reduce(0) { $0 + $1.size }
        for file in files.sorted(by: { $0.used < $1.used }) where total > capacity {
            unlink(file.url.path)
            total -= file.size
        }
        for file in self.files(Self.unfinishedSuffix) where file.used < Date(timeIntervalSinceNow: -3600) {
            unlink(file.url.path)
        }
        return total
    }
}
