package import Foundation

/// A day of the Gregorian calendar, such as the value of `until`.
package struct CalendarDay: Comparable, Hashable, Sendable, CustomStringConvertible {
    let year: Int
    let month: Int
    let day: Int

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }

    /// Creates the day that `date` falls on in UTC.
    package init(_ date: Date) {
        let parts = Self.calendar.dateComponents([.year, .month, .day], from: date)
        (year, month, day) = (parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
    }

    /// Reads `YYYY-MM-DD` (RFC 3339 §5.6, `full-date`); nil for anything else and for days that do not exist.
    package init?(_ text: String) {
        guard Self.isWritten(as: text) else { return nil }
        let numbers = text.utf8.split(separator: UInt8(ascii: "-")).compactMap { Int(Substring($0)) }
        guard numbers.count == 3 else { return nil }
        (year, month, day) = (numbers[0], numbers[1], numbers[2])
        guard DateComponents(year: year, month: month, day: day).isValidDate(in: Self.calendar) else { return nil }
    }

    /// True for a text in the form `YYYY-MM-DD`, even if there is no such day.
    static func isWritten(as text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.enumerated().allSatisfy { $0 == 4 || $0 == 7 ? $1 == UInt8(ascii: "-") : $1.isASCIIDigit }
    }

    package static func < (first: Self, second: Self) -> Bool {
        (first.year, first.month, first.day) < (second.year, second.month, second.day)
    }

    package var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}
