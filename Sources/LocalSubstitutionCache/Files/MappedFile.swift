import Foundation

/// A file that is mapped, and what proves that its path still leads to it.
///
/// Foundation lets the sole owner of a `Data` write into its bytes, also when it did not allocate them. So two answers
/// never share memory unless they share a `Data`: a large part of a file gets a mapping of its own, and a small one is
/// a copy.
final class MappedFile: Sendable {
    /// Parts of this size and above are mapped, in bytes: from there on a mapping costs less than a copy.
    static let partThreshold = 256 * 1024

    private let path: FilePath
    private let identity: FileIdentity

    init(_ path: FilePath, _ identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }

    /// The bytes in `range`, mapped; nil when that does not pay, or the path leads to something else by now.
    func part(_ range: Range<Int>) -> Data? {
        guard range.count >= Self.partThreshold, let file = try? OpenedFile(path.text), file.identity == identity else {
            return nil
        }
        return Self.map(range, of: file)
    }

    /// A private mapping, writable so that the sole owner of a `Data` may change its own copy of a page.
    static func map(_ range: Range<Int>, of file: borrowing OpenedFile) -> Data? {
        // A mapping begins at the beginning of a page.
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
