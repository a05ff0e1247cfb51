import Foundation
import LocalSubstitutionCache

/// The parts of an open file that only the designers' tool reads.
extension OpenedFile {
    /// Returns the bytes in `range`, without those that lie beyond the end of the file.
    func part(_ range: Range<Int>) throws(FileProblem) -> Data {
        let range = range.clamped(to: 0..<size)
        var data = Data(count: range.count)
        var filled = 0
        while filled < data.count {
            let result = data.withUnsafeMutableBytes { bytes in
                let offset = off_t(range.lowerBound + filled)
                return uninterrupted {
                    pread(descriptor, bytes.baseAddress.map { $0 + filled }, bytes.count - filled, offset)
                }
            }
            guard result >= 0 else { throw FileProblem(errno: errno) }
            if result == 0 { break }
            filled += result
        }
        return data.prefix(filled)
    }
}
