import Foundation

/// A day of the Gregorian calendar, as `until` names one.
struct CalendarDay: Comparable, Hashable, Sendable, CustomStringConvertible {
    let year: Int
    let month: Int
    let day: Int

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }

    /// The day that `date` falls on in UTC.
    init(_ date: Date) {
        let parts = Self.calendar.dateComponents([.year, .month, .day], from: date)
        (year, month, day) = (parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
    }

    /// Reads `YYYY-MM-DD` (RFC 3339 §5.6, `full-date`); nil for anything else and for days that do not exist.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], parts.joined().allSatisfy({ $0.isASCIIDigit }) else { return nil }
        let numbers = parts.compactMap { Int(Substring($0)) }
        guard numbers.count == 3 else { return nil }
        (year, month, day) = (numbers[0], numbers[1], numbers[2])
        guard DateComponents(year: year, month: month, day: day).isValidDate(in: Self.calendar) else { return nil }
    }

    /// The days that somebody may mean who writes one in another order or with other marks: `2027/3/31`, `31.3.2027`,
    /// `3/31/2027`, `20270331`.
    static func days(meantBy text: String) -> [CalendarDay] {
        if text.utf8.count == 8, text.utf8.allSatisfy(\.isASCIIDigit) {
            let month = text.index(text.startIndex, offsetBy: 4)
            let day = text.index(month, offsetBy: 2)
            return [CalendarDay("\(text[..<month])-\(text[month..<day])-\(text[day...])")].compactMap(\.self)
        }
        let numbers = text.split { !$0.isASCII || !$0.isNumber }.map { $0.count == 1 ? "0\($0)" : String($0) }
        guard numbers.count == 3 else { return [] }
        let orders =
            numbers[0].count == 4 ? [[0, 1, 2]] : text.contains(".") ? [[2, 1, 0]] : [[2, 0, 1], [2, 1, 0]]
        let days = orders.compactMap { order in CalendarDay(order.map { numbers[$0] }.joined(separator: "-")) }
        return days.count == 2 && days[0] == days[1] ? [days[0]] : days
    }

    static func < (first: Self, second: Self) -> Bool {
        (first.year, first.month, first.day) < (second.year, second.month, second.day)
    }

    var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}
