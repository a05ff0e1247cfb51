import Foundation

/// How the files of a manifest are brought into memory.
public enum ReadingMode: Sendable {
    /// Small files are read and large ones mapped: for files that never change, as in an app bundle.
    ///
    /// The system reads pages of a mapped file when they are needed and may drop them again. Deleting or replacing such
    /// a file is harmless; shortening it in place ends the process when the missing part is read.
    case mapped
    /// Every file is read whole: for files that are being edited or downloaded.
    case copied
}

/// The bytes of one file, read or mapped once.
final class FileContents: Sendable {
    /// Files of this size and above are mapped, in bytes.
    static let mappingThreshold = 32 * 1024
    /// How many ranges of a file are handed out without a copy.
    static let maximumRetainedRanges = 1024

    let data: Data
    /// Nanoseconds since 1970.
    let modified: Int
    let isMapped: Bool
    private let ranges = RetainedRanges()

    /// Reads or maps an open file.
    ///
    /// Falls back to reading when the system has no mapping left.
    init(of file: borrowing OpenedFile, reading: ReadingMode) throws(FileProblem) {
        modified = file.modified
        if reading == .mapped, file.size >= Self.mappingThreshold, let mapped = Self.map(file) {
            data = mapped
            isMapped = true
        } else {
            data = try Self.bytes(of: file)
            isMapped = false
        }
    }

    /// A part of the bytes, with indices from 0.
    ///
    /// Not a copy: `Data(data[range])` would be one, and `data[range]` alone keeps the indices of the whole, which makes
    /// `[0]` trap. The same range is the same value each time. It is kept, because whoever owns the only reference to
    /// a `Data` may write into its bytes, and these bytes are shared; so that requests cannot fill the memory by asking
    /// for ever other ranges, more than ``maximumRetainedRanges`` of one file are copied.
    func data(in range: Range<Int>) -> Data {
        // The smallest values are stored inside `Data` itself, where no pointer stays valid.
        guard data.count > 64 else { return Data(data[range]) }
        return ranges.data(for: range, of: data)
    }

    /// A private mapping, writable so that the sole owner of a `Data` may change its own copy of a page.
    private static func map(_ file: borrowing OpenedFile) -> Data? {
        guard let start = mmap(nil, file.size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.descriptor, 0),
            start != MAP_FAILED
        else { return nil }
        return Data(bytesNoCopy: start, count: file.size, deallocator: .custom { start, count in munmap(start, count) })
    }

    private static func bytes(of file: borrowing OpenedFile) throws(FileProblem) -> Data {
        guard file.size > 0 else { return Data() }
        guard let buffer = malloc(file.size) else { throw .unreadable("there is not enough memory") }
        var count = 0
        while count < file.size {
            let result = read(file.descriptor, buffer + count, file.size - count)
            if result == 0 { break }
            if result < 0 {
                if errno == EINTR { continue }
                let reason = String(cString: strerror(errno))
                free(buffer)
                throw .unreadable(reason)
            }
            count += result
        }
        return Data(bytesNoCopy: buffer, count: count, deallocator: .free)
    }
}

/// The ranges of one file that were handed out.
// The dictionary is only touched inside the lock.
private final class RetainedRanges: @unchecked Sendable {
    private let lock = NSLock()
    private var known: [Range<Int>: Data] = [:]

    func data(for range: Range<Int>, of whole: Data) -> Data {
        lock.lock()
        defer { lock.unlock() }
        if let data = known[range] { return data }
        guard known.count < FileContents.maximumRetainedRanges else { return Data(whole[range]) }
        let data = whole.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return Data() }
            // Holding `whole` keeps the bytes alive and in their place.
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start + range.lowerBound),
                count: range.count,
                deallocator: .custom { _, _ in withExtendedLifetime(whole) {} }
            )
        }
        known[range] = data
        return data
    }
}

/// Reads each file once, however many URLs name it.
struct ContentsLoader {
    /// A process may hold 65,530 mappings on Linux, and a second table is loaded while the first is in use.
    static let maximumMappings = 16_384

    let reading: ReadingMode
    private var known: [String: FileContents] = [:]
    private(set) var mappings = 0

    init(reading: ReadingMode) {
        self.reading = reading
    }

    mutating func contents(of reference: FileReference) throws(FileProblem) -> FileContents {
        if let contents = known[reference.realPath] { return contents }
        let contents = try FileContents(
            of: OpenedFile(path: reference.realPath, followsLink: false),
            reading: mappings < Self.maximumMappings ? reading : .copied
        )
        if contents.isMapped { mappings += 1 }
        known[reference.realPath] = contents
        return contents
    }
}
