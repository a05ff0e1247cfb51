package import Foundation

/// FNV-1a with 64 bits (RFC 9923): filters hosts, tells damage and names files; not made against forgery.
///
/// Foundation has none on every platform, and `Hasher` differs from one process to the next.
package struct FNV1a: CustomStringConvertible {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    private static let prime: UInt64 = 0x100_0000_01B3

    mutating func combine(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* Self.prime
    }

    package init() {}

    package mutating func combine(_ data: Data) {
        // Local, as these are bytes by the million, also in debug builds.
        let prime = Self.prime
        var value = value
        data.withUnsafeBytes { bytes in
            for byte in bytes { value = (value ^ UInt64(byte)) &* prime }
        }
        self.value = value
    }

    /// Sixteen hexadecimal digits.
    package var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
