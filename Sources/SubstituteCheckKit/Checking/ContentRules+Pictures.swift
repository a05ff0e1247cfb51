import Foundation
import LocalSubstitutionCache

/// The rules about pictures that are too large, say more than they show, or look right on one computer only.
extension ContentRules {
    /// The size above which a picture gets a warning, in bytes.
    ///
    /// A picture above this size is larger than a whole page should be. Lighthouse warns if a page's files add up to
    /// more than 5,000 KiB ("Avoid enormous network payloads").
    private static let pictureSize = 5_000 * 1024

    /// The number of pixels above which a picture needs too much memory: 100 MB with four bytes for each pixel.
    private static let mostPixels = 25_000_000

    static func large(_ file: FileSample) -> Fact? {
        file.type.kind == "image" && file.size > pictureSize ? Fact("\(ByteCount(file.size))") : nil
    }

    static func pixels(_ file: FileSample) -> Fact? {
        guard let picture = file.picture, picture.width * picture.height > mostPixels else { return nil }
        let memory = ByteCount(min(picture.width * picture.height, .max / 4) * 4)
        return Fact("\(picture.width) × \(picture.height) pixels, which take \(memory) of memory")
    }
}

/// The facts in the header of a PNG or a JPEG.
struct Picture {
    private(set) var (width, height, components) = (0, 0, 0)
    private(set) var hasPosition = false
    private let bytes: [UInt8]

    init?(_ file: FileSample) {
        // A JPEG may have several segments of 64 KB before its size.
        bytes = file.format == .jpeg ? file.bytes(upTo: 500_000).map(Array.init) ?? [] : file.head
        switch file.format {
        // Portable Network Graphics §11.2.1: IHDR is first.
        case .png: (width, height) = (number(16, 4), number(20, 4))
        case .jpeg: readSegments()
        default: return nil
        }
        // Portable Network Graphics §7.1: a size is at most 2³¹ − 1.
        guard max(width, height) <= Int32.max else { return nil }
    }

    private func number(_ start: Int, _ count: Int, isLittle: Bool = false) -> Int {
        guard start >= 0, start + count <= bytes.count else { return 0 }
        let part = bytes[start..<start + count]
        return (isLittle ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads the segments up to the frame's header (ITU T.81 §B.2.2).
    private mutating func readSegments() {
        var place = 2
        while number(place, 1) == 0xFF, number(place + 1, 1) != 0xDA {
            let marker = number(place + 1, 1)
            if 0xC0...0xCF ~= marker, ![0xC4, 0xC8, 0xCC].contains(marker) {
                (height, width, components) = (number(place + 5, 2), number(place + 7, 2), number(place + 9, 1))
                return
            }
            if marker == 0xE1, bytes.dropFirst(place + 4).starts(with: "Exif\0\0".utf8) {
                hasPosition = hasPosition || hasPosition(at: place + 10)
            }
            place += 2 + max(2, number(place + 2, 2))
        }
    }

    /// True if the directory of Exif has a directory with a latitude (Exif 3.0 §4.6.6).
    private func hasPosition(at start: Int) -> Bool {
        let isLittle = number(start, 2) == 0x4949
        func entry(_ tag: Int, in directory: Int) -> Int? {
            (0..<number(directory, 2, isLittle: isLittle)).map { directory + 2 + 12 * $0 }.first {
                number($0, 2, isLittle: isLittle) == tag
            }
        }
        guard let pointer = entry(0x8825, in: start + number(start + 4, 4, isLittle: isLittle)) else {
            return false
        }
        return entry(2, in: start + number(pointer + 8, 4, isLittle: isLittle)) != nil
    }
}
