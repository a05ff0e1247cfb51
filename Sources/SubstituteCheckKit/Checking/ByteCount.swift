import Foundation
import LocalSubstitutionCache

/// A number of bytes that is shown with a unit, in powers of 1000.
package struct ByteCount: CustomStringConvertible {
    package let bytes: Int

    private static let units = ["kB", "MB", "GB", "TB"]

    package init(_ bytes: Int) {
        self.bytes = bytes
    }

    /// Parses a number with a unit, such as `5MB` or `1.5 kB`; nil for anything else.
    ///
    /// A number without a unit is in bytes. `KiB`, `MiB` and `GiB` are powers of 1024.
    package init?(_ text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(number.count).drop { $0 == " " }.lowercased()
        guard let value = Double(number), value >= 0 else { return nil }
        let powers = ["": 0, "b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "kib": 1, "mib": 2, "gib": 3]
        guard let power = powers[unit] else { return nil }
        let bytes = value * pow(unit.hasSuffix("ib") ? 1024 : 1000, Double(power))
        guard bytes < 1e18 else { return nil }
        self.bytes = Int(bytes)
    }

    package var description: String {
        if bytes < 1000 { return counted(bytes, "byte") }
        var (value, unit) = (Double(bytes) / 1000, 0)
        while value >= 999.5, unit < Self.units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        return String(format: value < 9.95 ? "%.1f " : "%.0f ", value) + Self.units[unit]
    }
}
