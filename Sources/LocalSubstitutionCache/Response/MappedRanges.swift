import Foundation

/// Parts of mapped files that were handed out without a copy.
///
/// Foundation lets the sole owner of a `Data` write into its bytes, also when it did not allocate them. These bytes are
/// shared with the whole and with other ranges, so each range is kept here, and its mapping with it, for as long as the
/// process runs: then it never has a sole owner, and whoever changes it gets a copy. The same range of the same mapping
/// is the same value each time.
// The dictionary is only touched inside the lock.
final class MappedRanges: @unchecked Sendable {
    static let shared = MappedRanges(maximumCount: 4096)

    /// Requests cannot fill the memory by asking for ever other ranges: after so many, new ones are copied.
    private let maximumCount: Int

    private struct Key: Hashable {
        let start: UnsafeRawPointer
        let count: Int
    }

    private let lock = NSLock()
    private var known: [Key: Data] = [:]

    init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    func data(in range: Range<Int>, of mapping: Data) -> Data {
        mapping.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return Data() }
            let key = Key(start: base + range.lowerBound, count: range.count)
            lock.lock()
            defer { lock.unlock() }
            if let data = known[key] { return data }
            guard known.count < maximumCount else { return Data(mapping[range]) }
            let data = Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: key.start),
                count: key.count,
                deallocator: .custom { _, _ in withExtendedLifetime(mapping) {} }
            )
            known[key] = data
            return data
        }
    }
}
