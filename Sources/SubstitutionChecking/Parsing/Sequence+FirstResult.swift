extension Sequence {
    /// Returns the first result that is not nil; nil if there is none.
    ///
    /// `lazy.compactMap(_:).first` would call the closure twice for the element that has the result.
    package func firstResult<Result>(_ result: (Element) throws -> Result?) rethrows -> Result? {
        for element in self {
            if let result = try result(element) { return result }
        }
        return nil
    }
}
