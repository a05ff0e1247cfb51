extension Int {
    /// Returns the sum with a number from outside; `Int.max` if the sum is larger.
    package func plus(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
