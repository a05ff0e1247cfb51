import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Numbers with units.
enum Quantity {
    /// Parses a quantity.
    ///
    /// `cause` is the predicate of the error's message, such as "is not a size", and `otherwise` is the remedy. `parse`
    /// returns nil for a text that is no such quantity.
    static func parsed<Value>(
        _ text: String,
        _ cause: String,
        otherwise: String,
        _ parse: (String) -> Value?
    ) throws(UsageError) -> Value {
        if let value = parse(text) { return value }
        throw UsageError("\(quoted(text)) \(cause); \(otherwise)")
    }

    /// Parses a number of bytes.
    @Sendable static func size(_ text: String) throws(UsageError) -> ByteCount {
        let remedy = "write a number and its unit, such as 5MB or 800kB"
        return try parsed(text, "is not a size", otherwise: remedy) { ByteCount($0) }
    }

    /// Returns a function that parses a number of seconds from `least` to 3600.
    static func seconds(from least: Int) -> @Sendable (String) throws -> Double {
        { text in
            let remedy = "write a number from \(least) to 3600"
            return try parsed(text, "is not a number of seconds", otherwise: remedy) { text in
                Double(text).flatMap { (Double(least)...3600).contains($0) ? $0 : nil }
            }
        }
    }

    /// True for a word that is only a number.
    static func isNumber(_ word: String) -> Bool {
        word.contains(where: \.isNumber) && word.allSatisfy { $0.isNumber || ".,".contains($0) }
    }

    /// True for a word that is only a unit, such as `MB` or `%`.
    static func isUnit(_ word: String) -> Bool { word == "%" || ByteCount("1\(word)") != nil }
}
