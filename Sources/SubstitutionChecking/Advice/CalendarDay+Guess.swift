import LocalSubstitutionCache

extension CalendarDay {
    /// True for a text in the form `YYYY-MM-DD`, even if there is no such day.
    static func isWritten(as text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.enumerated().allSatisfy { $0 == 4 || $0 == 7 ? $1 == UInt8(ascii: "-") : $1.isASCIIDigit }
    }

    /// Returns the days that a date may mean if it is not written as `YYYY-MM-DD`.
    ///
    /// Examples are `2027/3/31`, `31.3.2027`, `3/31/2027` and `20270331`. Two days are returned for `3/4/2027`, in
    /// which either number may be the month.
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
}
