package import Foundation

/// The 64-bit FNV-1a hash (RFC 9923), which detects damage and names files.
///
/// It gives no protection against forgery. Foundation has no hash that is available on every platform, and the values
/// of `Hasher` differ from one process to the next.
package struct FNV1a: CustomStringConvertible {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    private static let prime: UInt64 = 0x100_0000_01B3

    package init() {}

    /// The hash of a text.
    package init(of text: some StringProtocol) { combine(Data(text.utf8)) }

    package mutating func combine(_ data: Data) {
        // Local variables keep this loop fast in debug builds, too: it runs over millions of bytes.
        let prime = Self.prime
        var value = value
        data.withUnsafeBytes { bytes in
            for byte in bytes { value = (value ^ UInt64(byte)) &* prime }
        }
        self.value = value
    }

    /// The hash in sixteen hexadecimal digits.
    package var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
