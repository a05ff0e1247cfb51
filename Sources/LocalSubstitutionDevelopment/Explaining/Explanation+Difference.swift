extension Explanation {
    /// One way in which a request's URL differs from the URL of an entry.
    public enum Difference: Hashable, Sendable {
        /// One scheme is http, and the other is https.
        case scheme
        /// One host begins with `www.` and the other does not.
        case www
        /// The ports differ.
        case port
        /// The hosts differ in a typo.
        case host
        /// The last path segments differ in a typo.
        case fileName
        /// A character of the path is percent-encoded in one URL and literal in the other.
        case percentEncoding
        /// Letters of the path differ in case.
        case letterCase
        /// One path ends in `/` and the other does not.
        case trailingSlash
        /// The queries differ, but they match if the parameters with these names are ignored; `*` means all.
        ///
        /// The list is empty if a query was forgotten, or its parameters have another order. Ignoring parameters might
        /// then let a wrong file answer.
        case query(ignoring: [String])
    }
}
