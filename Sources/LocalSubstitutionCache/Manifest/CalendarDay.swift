package import Foundation

/// A day of the Gregorian calendar, such as the value of `until`.
package struct CalendarDay: Comparable, Hashable, Sendable, CustomStringConvertible {
    /// The day as `YYYY-MM-DD`; in alphabetical order, an earlier day comes first.
    package let description: String

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }

    /// Creates the day that `date` falls on in UTC.
    package init(_ date: Date) {
        let parts = Self.calendar.dateComponents([.year, .month, .day], from: date)
        description = String(format: "%04d-%02d-%02d", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
    }

    /// Reads `YYYY-MM-DD` (RFC 3339 §5.6, `full-date`); nil for anything else and for days that do not exist.
    package init?(_ text: String) {
        let numbers = text.utf8.count == 10 ? text.split(separator: "-").compactMap { Int($0) } : []
        guard numbers.count == 3 else { return nil }
        let parts = DateComponents(year: numbers[0], month: numbers[1], day: numbers[2])
        guard let date = Self.calendar.date(from: parts) else { return nil }
        self.init(date)
        // For a day that does not exist, the calendar returns a later day.
        if description != text { return nil }
    }

    package static func < (first: Self, second: Self) -> Bool { first.description < second.description }
}
