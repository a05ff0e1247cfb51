import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A ZIP archive without compression (PKWARE's APPNOTE 6.3.3).
///
/// Browsers can load an extension from a ZIP archive, but Foundation on Linux cannot write ZIP files.
///
/// The same files always result in the same bytes, because every entry has the earliest date that the format allows.
struct ZIPArchive {
    private var bytes = Data()
    private var directory = Data()
    private var count = 0

    /// The date of every entry, 1980-01-01; the time of every entry is 0, which is midnight (§4.4.6).
    private static let day: UInt16 = 1 << 5 | 1

    /// Appends a file.
    ///
    /// - Throws: ``ToolError`` if the archive would exceed 65,535 files or 4 GB, the limits of the format's first
    ///   version.
    mutating func append(_ data: Data, as path: String) throws(ToolError) {
        let name = Data(path.utf8)
        guard count < 0xFFFF, bytes.count + directory.count + data.count + 4 * name.count + 1024 < Int(UInt32.max)
        else {
            throw ToolError("a ZIP file holds at most 65,535 files and 4 GB; pass on the folder instead")
        }
        let offset = UInt32(bytes.count)
        var head = Data()
        // Version 2.0, names in UTF-8 (bit 11), stored without compression.
        head.append(20 as UInt16, 1 << 11, 0, 0, Self.day)
        head.append(Self.checksum(data), UInt32(data.count), UInt32(data.count))
        head.append(UInt16(name.count), 0)
        bytes.append(0x0403_4B50 as UInt32)
        bytes += head + name + data
        directory.append(0x0201_4B50 as UInt32)
        // Declare Unix as the host system, so that readers apply the permissions. The permissions below are for a
        // regular file that every user may read.
        directory.append(3 << 8 | 20 as UInt16)
        directory += head
        directory.append(0 as UInt16, 0, 0)
        directory.append(0o100644 << 16 as UInt32, offset)
        directory += name
        count += 1
    }

    /// The whole archive.
    var data: Data {
        var end = Data()
        end.append(0x0605_4B50 as UInt32)
        end.append(0 as UInt16, 0, UInt16(count), UInt16(count))
        end.append(UInt32(directory.count), UInt32(bytes.count))
        let count = bytes.count + directory.count + end.count + 2
        end.append(UInt16(Seal.length(count: count)))
        let whole = bytes + directory + end
        // The archive's comment (§4.4.26) is the seal.
        return whole + Data(Seal.text(of: whole).utf8)
    }

    /// CRC-32 (§4.4.7, with the polynomial of ISO 3309).
    private static func checksum(_ data: Data) -> UInt32 {
        ~data.reduce(~0) { sum, byte in table[Int(truncatingIfNeeded: sum ^ UInt32(byte)) & 0xFF] ^ sum >> 8 }
    }

    private static let table = (0..<256 as Range<UInt32>).map { number in
        (0..<8).reduce(number) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
    }
}

extension Data {
    /// Appends numbers in little-endian byte order.
    fileprivate mutating func append<Number: FixedWidthInteger>(_ numbers: Number...) {
        for number in numbers { Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) } }
    }
}
