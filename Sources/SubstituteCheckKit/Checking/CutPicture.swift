import Foundation
import LocalSubstitutionCache

/// Images that end too early, for example because a download was interrupted.
enum CutPicture {
    /// True for a PNG, a JPEG or a WebP whose end is missing.
    static func isCut(_ file: FileSample) -> Bool {
        let size = file.size
        guard size <= FileSample.textSize, let bytes = file.bytes(upTo: size) else { return false }
        func has(_ end: [UInt8], behind start: [UInt8]) -> Bool? {
            bytes.range(of: Data(start)).map { bytes.range(of: Data(end), in: $0.upperBound..<bytes.endIndex) != nil }
        }
        switch file.format {
        // Portable Network Graphics §5.6: IDAT is followed by IEND, which is last.
        case .png: return has(Array("IEND".utf8), behind: Array("IDAT".utf8)) == false
        // ITU T.81 §B.1.1.3: the image data is followed by the marker EOI, which never occurs in the data.
        case .jpeg: return has([0xFF, 0xD9], behind: [0xFF, 0xDA]) == false
        // RFC 9649 §2.4: bytes 4 to 7 hold the size of all data after the first eight bytes.
        case .webp: return file.head.count > 7 && file.head[4...7].reversed().reduce(0) { $0 << 8 | Int($1) } + 8 > size
        default: return false
        }
    }
}
