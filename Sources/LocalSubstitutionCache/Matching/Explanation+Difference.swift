extension Explanation {
    /// One way in which a request's URL differs from the URL of an entry.
    public enum Difference: Hashable, Sendable {
        /// One is http and the other https.
        case scheme
        /// One host begins with `www.` and the other does not.
        case www
        /// The ports differ.
        case port
        /// The hosts differ in a few letters.
        case host
        /// The last parts of the paths differ in a few letters, or in what tells a picture's resolution, as `@2x`.
        case fileName
        /// A character of the path is percent-encoded in one, and stands for itself in the other.
        case percentEncoding
        /// Letters of the path differ in case.
        case letterCase
        /// One path ends in `/` and the other does not.
        case trailingSlash
        /// The queries differ, but not if parameters of these names were ignored; empty when only ignoring
        /// all of it would help.
        case query(ignoring: [String])
    }
}
