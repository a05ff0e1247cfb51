/// One way in which a request's URL differs from the URL of an entry.
public enum URLDifference: Hashable, Sendable {
    /// One is http and the other https.
    case scheme
    /// One host begins with `www.` and the other does not.
    case www
    /// The ports differ.
    case port
    /// Letters of the path differ in case.
    case letterCase
    /// One path ends in `/` and the other does not.
    case trailingSlash
    /// The queries differ, but not if parameters of these names were ignored; empty when that would not help.
    case query(ignoring: [String])
}
