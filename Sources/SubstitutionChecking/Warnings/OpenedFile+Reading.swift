import Foundation
import LocalSubstitutionCache

/// The parts of an open file that only the designers' tool reads.
extension OpenedFile {
    /// Returns the first `count` bytes, or the whole file if it is shorter.
    func head(_ count: Int) throws(FileProblem) -> Data { try part(0..<count) }

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

    /// The encoding of a text.
    enum Encoding {
        case ascii
        /// UTF-8 with characters beyond ASCII.
        case utf8
        /// UTF-16, recognised by its byte-order mark.
        case utf16
        case unknown
    }

    /// Returns the encoding of the content, which is read in pieces.
    func encoding() throws(FileProblem) -> Encoding {
        var isASCII = true
        var isFirst = true
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        // A piece may end inside a character. So up to three bytes at the end of a piece are moved to the next piece;
        // `carried` is their number.
        var carried = 0
        while true {
            let count = buffer.withUnsafeMutableBytes { bytes in
                uninterrupted { read(descriptor, bytes.baseAddress.map { $0 + carried }, bytes.count - carried) }
            }
            guard count >= 0 else { throw FileProblem(errno: errno) }
            let piece = buffer[..<(carried + count)]
            if isFirst, piece.starts(with: [0xFE, 0xFF]) || piece.starts(with: [0xFF, 0xFE]) { return .utf16 }
            isFirst = false
            if isASCII { isASCII = piece.allSatisfy { $0 < 0x80 } }
            if count == 0 { return piece.firstInvalidUTF8() != nil ? .unknown : isASCII ? .ascii : .utf8 }
            // If the piece ends inside a character, at most the last three bytes belong to that character.
            let cut = piece.indices.suffix(3).last { piece[$0] >= 0xC0 } ?? piece.endIndex
            guard piece[..<cut].firstInvalidUTF8() == nil else { return .unknown }
            carried = piece.endIndex - cut
            for offset in 0..<carried { buffer[offset] = buffer[cut + offset] }
        }
    }
}
