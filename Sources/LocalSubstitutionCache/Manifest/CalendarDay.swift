package import Foundation

/// A day of the Gregorian calendar, such as the value of `until`.
package struct CalendarDay: Comparable, Hashable, Sendable, CustomStringConvertible {
    /// The day as `YYYY-MM-DD`; in alphabetical order, an earlier day comes first.
    package let description: String

    private static let style = Date.ISO8601FormatStyle().year().month().day()

    /// Creates the day that `date` falls on in UTC.
    package init(_ date: Date) { description = Self.style.format(date) }

    /// Reads `YYYY-MM-DD` (RFC 3339 §5.6, `full-date`), from 2000 on; nil for anything else.
    package init?(_ text: String) {
        // Foundation also reads years of five digits. Its days before 1582-10-15 are not those of RFC 3339.
        guard text.utf8.count == 10, text >= "2000", let date = try? Self.style.parse(text) else { return nil }
        self.init(date)
        // It also accepts other spellings, and takes a day that does not exist for a later day.
        if description != text { return nil }
    }

    package static func < (first: Self, second: Self) -> Bool { first.description < second.description }
}
