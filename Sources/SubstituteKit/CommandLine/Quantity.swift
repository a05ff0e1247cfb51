import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Numbers with units.
enum Quantity {
    /// Parses a number of bytes.
    @Sendable static func size(_ text: String) throws(UsageError) -> ByteCount {
        if let size = ByteCount(text) { return size }
        throw UsageError("\(quoted(text)) is not a size; write a number and its unit, such as 5MB or 800kB")
    }

    /// Returns a function that parses a number of seconds from `least` to 3600.
    static func seconds(from least: Int) -> @Sendable (String) throws -> Double {
        { text in
            if let seconds = Double(text), (Double(least)...3600).contains(seconds) { return seconds }
            throw UsageError("\(quoted(text)) is not a number of seconds; write a number from \(least) to 3600")
        }
    }
}
