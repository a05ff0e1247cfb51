import Foundation

/// The name of a manifest and the offsets of its lines.
///
/// With these, an offset in the manifest is converted to a line and a column.
package struct SourceText: Sendable {
    package let name: String
    private let lineStarts: [Int]

    /// Finds the lines of the text.
    ///
    /// Cost: one pass over the text.
    init(name: String, bytes: Data) {
        self.name = name
        var starts = [0]
        bytes.withUnsafeBytes { bytes in
            for offset in bytes.indices where bytes[offset] == UInt8(ascii: "\n") { starts.append(offset + 1) }
        }
        lineStarts = starts
    }

    /// Returns the line and column of an offset, both from 1.
    ///
    /// As in the messages of the Swift compiler, columns are counted in UTF-8 bytes. A byte-order mark counts, too.
    package func position(of offset: Int) -> (line: Int, column: Int) {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return (low + 1, offset - lineStarts[low] + 1)
    }
}
