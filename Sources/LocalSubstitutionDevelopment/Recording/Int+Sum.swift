extension Int {
    /// Adds a number that a server or a file states; the sum stops at the largest integer.
    package mutating func add(stated number: Int) {
        let (sum, isTooLarge) = addingReportingOverflow(number)
        self = isTooLarge ? .max : sum
    }
}
