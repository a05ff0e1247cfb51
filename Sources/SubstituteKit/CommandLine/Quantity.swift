import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Numbers with units, as users of other languages and programs write them.
enum Quantity {
    /// Parses a quantity.
    ///
    /// `cause` is the predicate of the error's message, such as "is not a size", and `otherwise` is the remedy if
    /// nothing can be guessed. `parse` returns nil for a text that is no such quantity.
    static func parsed<Value>(
        _ text: String,
        _ cause: String,
        otherwise: String,
        _ parse: (String) -> Value?
    ) throws(UsageError) -> Value {
        if let value = parse(text) { return value }
        let meant = repaired(text)
        let remedy = meant != text && parse(meant) != nil ? "write \(meant)" : otherwise
        throw UsageError("\(quoted(text)) \(cause); \(remedy)")
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
    static func isUnit(_ word: String) -> Bool {
        let word = word.precomposedStringWithCompatibilityMapping.lowercased()
        return units.keys.contains(word) || units.values.contains { !$0.isEmpty && $0.lowercased() == word }
    }

    /// Returns a quantity in this tool's own form; a text that is no quantity stays as it is.
    static func repaired(_ text: String) -> String {
        // The compatibility mapping makes full-width digits and signs plain (UAX 15).
        let plain = text.precomposedStringWithCompatibilityMapping.filter { !" _'’\"“”".contains($0) }
        let number = plain.prefix { $0.isNumber || ".,".contains($0) }
        let word = plain.dropFirst(number.count).lowercased()
        guard !number.isEmpty else { return text }
        return decimal(number) + (units[word] ?? String(plain.dropFirst(number.count)))
    }

    /// Returns a number with a decimal point, and without marks between thousands.
    private static func decimal(_ number: Substring) -> String {
        let parts = number.split(separator: ",", omittingEmptySubsequences: false)
        let isGrouped = parts.count > 1 && parts.dropFirst().allSatisfy { $0.prefix { $0 != "." }.count == 3 }
        // A single group of three digits may be decimals, except after a whole number such as 1,000.
        if isGrouped, parts.count > 2 || parts[0] != "0" { return parts.joined() }
        if let comma = number.lastIndex(of: ","), number[comma...].contains(".") == false {
            return number[..<comma].filter { $0 != "." } + "." + number[number.index(after: comma)...]
        }
        return number.replacingOccurrences(of: ",", with: "")
    }

    /// The units of other languages and programs, in lower case, each with this tool's own.
    private static let units = [
        "o": "B", "octets": "B", "byte": "B", "bytes": "B", "ko": "kB", "kbyte": "kB", "kbytes": "kB",
        "kilobyte": "kB", "kilobytes": "kB", "mo": "MB", "mbyte": "MB", "mbytes": "MB", "megabyte": "MB",
        "megabytes": "MB", "meg": "MB", "megs": "MB", "go": "GB", "gbyte": "GB", "gigabyte": "GB", "gigabytes": "GB",
        "kb": "kB", "mb": "MB", "gb": "GB", "kib": "KiB", "mib": "MiB", "gib": "GiB", "кб": "kB", "мб": "MB",
        "гб": "GB",
        "%": "%", "percent": "%", "pct": "%", "prozent": "%", "pourcent": "%", "procent": "%",
        "s": "", "sec": "", "secs": "", "second": "", "seconds": "", "sek": "", "sekunden": "", "secondes": "",
    ]
}
