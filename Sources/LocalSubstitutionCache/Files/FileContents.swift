package import Foundation

/// The bytes of one file, read or mapped once.
package struct FileContents: Sendable {
    /// The minimum size in bytes of a file that is mapped.
    static let mappingThreshold = 4 * 1024

    package let data: Data
    /// A strong entity tag (RFC 9110 §8.8.3) made of size and modification time; requests may send it in `If-Range`.
    let entityTag: String
    /// The mapped file; nil if the file was read.
    private let mapped: MappedFile?

    /// Reads or maps an open file.
    ///
    /// If the system has no mapping left, the file is read.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - reading: The way to bring the file into memory.
    ///   - path: The file's absolute path without symbolic links; nil to read the file even if `reading` is `.mapped`.
    /// - Throws: ``FileProblem`` when the file cannot be read.
    package init(of file: borrowing OpenedFile, reading: ReadingMode, path: FilePath? = nil) throws(FileProblem) {
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

    /// Returns the bytes in `range` as data with indices from 0.
    ///
    /// A slice, `data[range]`, would keep the indices of the whole data, so `[0]` would trap. If the file is mapped, a
    /// large range is mapped, not copied.
    func data(in range: Range<Int>) -> Data {
        mapped?.part(range) ?? Data(data[range])
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
