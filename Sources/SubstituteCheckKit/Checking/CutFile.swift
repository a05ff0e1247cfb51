import Foundation
import LocalSubstitutionCache

/// Pictures, films, sounds, fonts and documents that end too early, as after an interrupted download.
///
/// The formats' own lengths show that a part is missing. A format without lengths is not judged.
enum CutFile {
    /// True for a file whose end is missing.
    static func isCut(_ file: FileSample) -> Bool {
        // A text may begin like another format.
        guard let format = file.format, file.expected != nil else { return false }
        return switch format {
        // Portable Network Graphics §5.6: IDAT is followed by IEND, which is last.
        case .png: isEndMissing(file, Array("IEND".utf8), behind: Array("IDAT".utf8))
        // ITU T.81 §B.1.1.3: the image data is followed by the marker EOI, which never occurs in the data.
        case .jpeg: isEndMissing(file, [0xFF, 0xD9], behind: [0xFF, 0xDA])
        // RFC 9649 §2.4: bytes 4 to 7 hold the size of all data after the first eight bytes.
        case .webp: file.head.count > 7 && little(file.head, 4, 4) + 8 > file.size
        // WOFF 1.0 §4 and WOFF 2.0 §4.1: the length of the whole file follows the signature and the flavor.
        case .woff, .woff2: file.head.count >= 12 && big(file.head, 8, 4) > file.size
        case .mp4, .avif, .heif: areBoxesCut(file)
        case .matroska: isSegmentCut(file)
        case .wav: isRIFFCut(file)
        case .mp3: isCountedSoundCut(file)
        case .ogg: arePagesCut(file)
        case .pdf: file.size > 256 && !hasEnd(file, "%%EOF", within: 64 * 1024)
        // The end of central directory record and its comment (APPNOTE.TXT §4.3.16).
        case .zip: file.size > 256 && !hasEnd(file, "PK\u{5}\u{6}", within: 66_000)
        case .gif: file.size > 30 && areBlocksCut(file)
        case .icon: areIconsCut(file)
        case .outlines: areTablesCut(file)
        // The length of the whole file (glTF 2.0 §4.4.2).
        case .glTF: file.head.count >= 12 && little(file.head, 8, 4) > file.size
        case .webAssembly: areSectionsCut(file)
        default: false
        }
    }

    // MARK: - Numbers

    private static func big(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
        bytes[offset..<offset + count].reduce(0) { ($0 & 0xFF_FFFF_FFFF_FFFF) << 8 | Int($1) } & Int.max
    }

    private static func little(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
        bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns `count` bytes at `offset`; nil if the file has fewer.
    private static func bytes(_ file: FileSample, _ offset: Int, _ count: Int) -> [UInt8]? {
        guard offset >= 0, offset <= file.size - count, let data = file.bytes(in: offset..<offset + count),
            data.count == count
        else { return nil }
        return Array(data)
    }

    private static func hasEnd(_ file: FileSample, _ mark: String, within length: Int) -> Bool {
        guard let data = file.bytes(in: max(0, file.size - length)..<file.size) else { return true }
        return data.range(of: Data(mark.utf8)) != nil
    }

    /// True if no end mark follows the start of the data; a large file is not judged.
    private static func isEndMissing(_ file: FileSample, _ end: [UInt8], behind start: [UInt8]) -> Bool {
        guard file.size <= FileSample.textSize, let bytes = file.bytes(upTo: file.size),
            let found = bytes.range(of: Data(start))
        else { return false }
        return bytes.range(of: Data(end), in: found.upperBound..<bytes.endIndex) == nil
    }

    // MARK: - Films and sounds

    /// Reads the boxes of the top level, each of which begins with its length (ISO/IEC 14496-12 §4.2).
    private static func areBoxesCut(_ file: FileSample) -> Bool {
        var (offset, names): (Int, Set<String>) = (0, [])
        for _ in 0..<10_000 where offset < file.size {
            guard let head = bytes(file, offset, 8) else {
                // A few zeros may follow the last box.
                return bytes(file, offset, file.size - offset)?.contains { $0 != 0 } ?? false
            }
            guard head[4...7].allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0xA9 }) else { return false }
            var length = big(head, 0, 4)
            // The last box may extend to the end.
            if length == 0 { return false }
            if length == 1 {
                guard let long = bytes(file, offset + 8, 8) else { return true }
                length = big(long, 0, 8)
            }
            guard length >= 8 else { return false }
            guard length <= file.size - offset else { return true }
            // A box of eight bytes is empty.
            if length > 8 { names.insert(String(decoding: head[4...7], as: UTF8.self)) }
            offset += length
        }
        // A film that was cut exactly between two boxes lacks the index.
        return file.format == .mp4 && names.contains("mdat") && names.isDisjoint(with: ["moov", "moof"])
    }

    /// Compares the length of the segment, which holds everything, with the file (RFC 8794 §4, RFC 9559 §5.1).
    private static func isSegmentCut(_ file: FileSample) -> Bool {
        guard file.head.count > 32, let header = variableSize(file.head, 4) else { return false }
        let segment = header.end + header.value
        guard segment + 12 <= file.head.count, Array(file.head[segment..<segment + 4]) == [0x18, 0x53, 0x80, 0x67],
            let size = variableSize(file.head, segment + 4)
        else { return false }
        return size.value > file.size - size.end
    }

    /// Returns a number of variable length, and the offset after it; nil if the number is unknown.
    private static func variableSize(_ bytes: [UInt8], _ offset: Int) -> (value: Int, end: Int)? {
        guard offset < bytes.count, bytes[offset] != 0 else { return nil }
        let count = bytes[offset].leadingZeroBitCount + 1
        guard offset + count <= bytes.count else { return nil }
        var value = Int(bytes[offset]) & (0xFF >> count)
        for byte in bytes[offset + 1..<offset + count] { value = value << 8 | Int(byte) }
        // All ones stand for an unknown size.
        return value == (1 << (7 * count)) - 1 || value > 1 << 55 ? nil : (value, offset + count)
    }

    /// Compares the length of the data after the first eight bytes with the file.
    private static func isRIFFCut(_ file: FileSample) -> Bool {
        guard file.head.count > 12 else { return false }
        let isBig = file.head.starts(with: "RIFX".utf8)
        let length = isBig ? big(file.head, 4, 4) : little(file.head, 4, 4)
        // Programs that write a stream leave the length open.
        return file.head.starts(with: "RF64".utf8) || length >= 0xFFFF_FF00 ? false : length + 8 > file.size
    }

    /// Compares the number of bytes in the first frame of an MP3 with the file.
    ///
    /// Encoders write it behind "Xing" or "Info".
    private static func isCountedSoundCut(_ file: FileSample) -> Bool {
        var start = 0
        if file.head.starts(with: "ID3".utf8), file.head.count > 10 {
            // Each byte of the tag's size has seven bits (ID3v2.4 §3.1).
            start = 10 + file.head[6...9].reduce(0) { $0 << 7 | Int($1 & 0x7F) }
            if start > file.size { return true }
        }
        guard let frame = bytes(file, start, min(200, file.size - start)) else { return false }
        let marks = ["Xing", "Info"].map { Array($0.utf8) }
        guard let mark = marks.lazy.compactMap({ frame.firstRange(of: $0)?.lowerBound }).first, mark + 16 <= frame.count
        else { return false }
        let flags = frame[mark + 7]
        guard flags & 2 != 0 else { return false }
        let total = big(frame, mark + (flags & 1 == 0 ? 8 : 12), 4)
        // Programs that edit tags may leave a wrong number, so a small difference does not count.
        return total > 0 && start + total - total / 50 > file.size
    }

    /// Reads the pages, each of which gives the lengths of its segments (RFC 3533 §6).
    private static func arePagesCut(_ file: FileSample) -> Bool {
        guard file.size <= FileSample.textSize, let data = file.bytes(upTo: file.size) else { return false }
        let bytes = Array(data)
        var offset = 0
        while offset < bytes.count {
            guard offset + 27 <= bytes.count, bytes[offset...].starts(with: "OggS".utf8) else {
                // What follows the last page may be a tag.
                return offset + 4 <= bytes.count ? false : bytes[offset...].starts(with: "Ogg".utf8)
            }
            let table = offset + 27..<offset + 27 + Int(bytes[offset + 26])
            guard table.upperBound <= bytes.count else { return true }
            offset = bytes[table].reduce(table.upperBound) { $0 + Int($1) }
        }
        return offset > bytes.count
    }

    // MARK: - Pictures

    /// Reads the blocks of a GIF up to its trailer (GIF89a §12).
    private static func areBlocksCut(_ file: FileSample) -> Bool {
        guard file.size <= FileSample.textSize, let data = file.bytes(upTo: file.size), data.count > 13 else {
            return false
        }
        let bytes = Array(data)
        func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        func afterBlocks(_ start: Int) -> Int {
            var offset = start
            while offset < bytes.count, bytes[offset] != 0 { offset += Int(bytes[offset]) + 1 }
            return offset + 1
        }
        var offset = 13 + table(bytes[10])
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x3B: return false
            case 0x21: offset = afterBlocks(offset + 2)
            case 0x2C where offset + 10 < bytes.count: offset = afterBlocks(offset + 11 + table(bytes[offset + 9]))
            case 0x2C: return true
            // Other bytes belong to no block, so the file is odd, but perhaps whole.
            default: return false
            }
        }
        return true
    }

    // MARK: - Icons, fonts and programs

    private static func areIconsCut(_ file: FileSample) -> Bool { isCut(file, after: 6, 1...64, little) }

    /// Compares the places of a font's tables with the file (OpenType, "Table Directory").
    private static func areTablesCut(_ file: FileSample) -> Bool { isCut(file, after: 12, 1...200, big) }

    /// Compares the places and lengths in a table of rows with 16 bytes with the file.
    private static func isCut(
        _ file: FileSample,
        after start: Int,
        _ counts: ClosedRange<Int>,
        _ number: ([UInt8], Int, Int) -> Int
    ) -> Bool {
        let count = file.head.count > start + 16 ? number(file.head, 4, 2) : 0
        guard counts.contains(count), start + 16 * count <= file.head.count else { return false }
        return (0..<count).map { start + 8 + 16 * $0 }.contains { place in
            number(file.head, place, 4) + number(file.head, place + 4, 4) > file.size
        }
    }

    /// Reads the sections of a WebAssembly module, each of which gives its length (WebAssembly Core §5.5.2).
    private static func areSectionsCut(_ file: FileSample) -> Bool {
        var offset = 8
        for _ in 0..<1000 where offset < file.size {
            guard let head = bytes(file, offset, min(6, file.size - offset)), head.count > 1, head[0] < 20 else {
                return false
            }
            var (length, shift, index) = (0, 0, 1)
            while index < head.count {
                length |= Int(head[index] & 0x7F) << shift
                shift += 7
                index += 1
                if head[index - 1] & 0x80 == 0 { break }
            }
            if length > file.size - offset - index { return true }
            offset += index + length
        }
        return false
    }
}
