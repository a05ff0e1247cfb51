import Foundation

/// The bytes of one file, read or mapped once.
struct FileContents: Sendable {
    /// Files of this size and above are mapped, in bytes.
    static let mappingThreshold = 4 * 1024

    let data: Data
    /// A strong validator (RFC 9110 §8.8.3) of size and modification time, for `If-Range`.
    let entityTag: String
    /// Nil when the file was read.
    private let mapped: MappedFile?

    /// Reads or maps an open file.
    ///
    /// Falls back to reading when the system has no mapping left.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - reading: How it is brought into memory.
    ///   - path: Where it lies, absolute and without symbolic links; nil where nobody will ask for parts of it.
    /// - Throws: ``FileProblem`` when it cannot be read.
    init(of file: borrowing OpenedFile, reading: ReadingMode, path: FilePath? = nil) throws(FileProblem) {
        if reading == .mapped, file.size >= Self.mappingThreshold, let path,
            let data = MappedFile.map(0..<file.size, of: file)
        {
            self.data = data
            mapped = MappedFile(path, file.identity)
        } else {
            data = try Self.bytes(of: file)
            mapped = nil
        }
        entityTag = "\"\(String(data.count, radix: 16))-\(String(file.identity.modified, radix: 16))\""
    }

    var isMapped: Bool { mapped != nil }

    /// A part of the bytes, with indices from 0: `data[range]` alone would keep those of the whole, and `[0]` would
    /// trap.
    ///
    /// Not a copy when the part is large and the file is mapped.
    func data(in range: Range<Int>) -> Data {
        mapped?.part(range) ?? Data(data[range])
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
                let problem = FileProblem(errno: errno)
                free(buffer)
                throw problem
            }
            count += result
        }
        return Data(bytesNoCopy: buffer, count: count, deallocator: .free)
    }
}
