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
    /// The queries differ; were parameters of these names ignored, they would not. Empty when that would not help.
    case query(ignoring: [String])
}
