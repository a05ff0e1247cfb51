package import Foundation

/// The bytes of one file, read or mapped once.
///
/// Foundation lets the sole owner of a `Data` write into its bytes, even if Foundation did not allocate these bytes. So
/// two separate `Data` values must never share memory. A large part of a mapped file gets a separate mapping, and a
/// small part is copied.
package final class FileContents: Sendable {
    /// The minimum size in bytes of a file that is mapped.
    static let mappingThreshold = 4 * 1024
    /// The size in bytes from which a part is mapped; from this size on, a mapping costs less than a copy.
    static let partThreshold = 256 * 1024
    /// The maximum number of files to map; further files are read.
    ///
    /// On Linux, a process can have at most 65,530 mappings. While a folder is adopted, the files of three tables are
    /// mapped: the one in use, and the new one at its old path and at its new one.
    static let maximumMappings = 16_384

    package let data: Data
    /// The identity of the file; it shows whether the path of a mapped file still leads to this file.
    let identity: FileIdentity
    /// The path of the mapped file; nil if the file was read.
    private let path: FilePath?

    /// Reads or maps an open file.
    ///
    /// If the system has no mapping left, the file is read.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - reading: The way to bring the file into memory.
    ///   - path: The file's absolute path without symbolic links; nil to read the file even if `reading` is `.mapped`.
    ///   - budget: The budget from which the bytes are spent if the file is read; nil for no limit.
    /// - Throws: ``FileProblem`` when the file cannot be read.
    package init(
        of file: borrowing OpenedFile,
        reading: ReadingMode,
        path: FilePath? = nil,
        _ budget: LoadBudget? = nil
    ) throws(FileProblem) {
        identity = file.identity
        if reading == .mapped, file.size >= Self.mappingThreshold, let path,
            let data = Self.map(0..<file.size, of: file)
        {
            (self.data, self.path) = (data, path)
        } else {
            try budget?.spend(file.size, of: .copies)
            (data, self.path) = (try Self.bytes(of: file), nil)
        }
    }

    var isMapped: Bool { path != nil }

    /// True if the file begins as a page of HTML does.
    var isPage: Bool {
        // Skip white space and a byte-order mark.
        let start = data.prefix(256).drop { $0 <= 0x20 || $0 > 0x7E }
        return ["<!doctype html", "<html", "<head", "<meta", "<title", "<body"].contains { tag in
            start.prefix(tag.utf8.count).elementsEqual(tag.utf8) { $0 | 0x20 == $1 }
        }
    }

    /// A strong entity tag (RFC 9110 §8.8.3) made of size and modification time; requests may send it in `If-Range`.
    var entityTag: String { "\"\(String(data.count, radix: 16))-\(String(identity.modified, radix: 16))\"" }

    /// Returns the bytes in `range` as data with indices from 0.
    ///
    /// A slice, `data[range]`, would keep the indices of the whole data, so `[0]` would trap.
    func data(in range: Range<Int>) -> Data {
        if range.count >= Self.partThreshold, let path, let file = try? OpenedFile(path.text),
            file.identity == identity, let part = Self.map(range, of: file)
        {
            return part
        }
        return Data(data[range])
    }

    /// Maps a range of a file as private, writable memory.
    ///
    /// If the sole owner of the `Data` writes into it, the system copies the page, and the file stays unchanged.
    private static func map(_ range: Range<Int>, of file: borrowing OpenedFile) -> Data? {
        // A mapping must begin at a page boundary.
        let skipped = range.lowerBound % Int(getpagesize())
        let length = skipped + range.count
        let offset = off_t(range.lowerBound - skipped)
        guard let start = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.descriptor, offset),
            start != MAP_FAILED
        else { return nil }
        return Data(
            bytesNoCopy: start + skipped,
            count: range.count,
            deallocator: .custom { _, _ in munmap(start, length) }
        )
    }

    private static func bytes(of file: borrowing OpenedFile) throws(FileProblem) -> Data {
        guard file.size > 0 else { return Data() }
        guard let buffer = malloc(file.size) else { throw .unreadable("there is not enough memory") }
        var count = 0
        while count < file.size {
            let result = uninterrupted { read(file.descriptor, buffer + count, file.size - count) }
            if result == 0 { break }
            if result < 0 {
                let problem = FileProblem(errno: errno)
                free(buffer)
                throw problem
            }
            count += result
        }
        return Data(bytesNoCopy: buffer, count: count, deallocator: .free)
    }
}

/// The way to bring the files of a manifest into memory.
public enum ReadingMode: Sendable {
    /// Maps files of 4 KB and above into memory, 16,384 at most, and reads the others.
    ///
    /// This is meant for files that never change, such as those of an app bundle. The system reads the pages of a
    /// mapped file when they are needed, and may drop them again. Deleting or replacing a mapped file is harmless. If a
    /// mapped file is shortened in place, reading the missing part kills the process with SIGBUS.
    case mapped
    /// Reads every file completely.
    ///
    /// This is meant for files that are being edited or downloaded.
    case copied
}
