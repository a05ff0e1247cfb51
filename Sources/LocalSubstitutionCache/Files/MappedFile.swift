import Foundation

/// The path and the identity of a mapped file; the identity shows whether the path still leads to this file.
///
/// Foundation lets the sole owner of a `Data` write into its bytes, even if Foundation did not allocate these bytes. So
/// two separate `Data` values must never share memory. A large part of a file gets a separate mapping, and a small part
/// is copied.
final class MappedFile: Sendable {
    /// The size in bytes from which a part is mapped; from this size on, a mapping costs less than a copy.
    static let partThreshold = 256 * 1024

    private let path: FilePath
    private let identity: FileIdentity

    init(_ path: FilePath, _ identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }

    /// Returns the bytes in `range`, mapped; nil if a copy costs less, or if the path now leads to a different file.
    func part(_ range: Range<Int>) -> Data? {
        guard range.count >= Self.partThreshold, let file = try? OpenedFile(path.text), file.identity == identity else {
            return nil
        }
        return Self.map(range, of: file)
    }

    /// Maps a range of a file as private, writable memory.
    ///
    /// If the sole owner of the `Data` writes into it, the system copies the page, and the file stays unchanged.
    static func map(_ range: Range<Int>, of file: borrowing OpenedFile) -> Data? {
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
}
