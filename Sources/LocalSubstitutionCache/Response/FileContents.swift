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
struct FileContents: Sendable {
    /// Files of this size and above are mapped, in bytes.
    static let mappingThreshold = 32 * 1024

    let data: Data
    /// A strong validator (RFC 9110 §8.8.3) of size and modification time, for `If-Range`.
    let entityTag: String
    let isMapped: Bool

    /// Reads or maps a file that was found before.
    init(of file: FileReference, reading: ReadingMode) throws(FileProblem) {
        try self.init(of: OpenedFile(path: file.realPath.text, followsLink: false), reading: reading)
    }

    /// Reads or maps an open file.
    ///
    /// Falls back to reading when the system has no mapping left.
    init(of file: borrowing OpenedFile, reading: ReadingMode) throws(FileProblem) {
        if reading == .mapped, file.size >= Self.mappingThreshold, let mapped = Self.map(file) {
            data = mapped
            isMapped = true
        } else {
            data = try Self.bytes(of: file)
            isMapped = false
        }
        entityTag = "\"\(String(data.count, radix: 16))-\(String(file.modified, radix: 16))\""
    }

    /// A part of the bytes, with indices from 0: `data[range]` alone would keep those of the whole, and `[0]` would trap.
    ///
    /// Not a copy when the file is mapped, as large files are.
    func data(in range: Range<Int>) -> Data {
        isMapped ? MappedRanges.shared.data(in: range, of: data) : Data(data[range])
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

/// Reads each file once, however many URLs name it.
struct ContentsLoader {
    /// A process may hold 65,530 mappings on Linux, and a second table is loaded while the first is in use.
    static let maximumMappings = 16_384

    let reading: ReadingMode
    private var known: [FilePath: FileContents] = [:]
    private var mappings = 0

    init(reading: ReadingMode) {
        self.reading = reading
    }

    mutating func contents(of reference: FileReference) throws(FileProblem) -> FileContents {
        if let contents = known[reference.realPath] { return contents }
        let contents = try FileContents(
            of: reference,
            reading: mappings < Self.maximumMappings ? reading : .copied
        )
        if contents.isMapped { mappings += 1 }
        known[reference.realPath] = contents
        return contents
    }
}
