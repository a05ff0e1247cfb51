/// The part of a query that an entry ignores.
enum IgnoredQuery: Equatable {
    case nothing
    case everything
    /// The parameters with these names, spelled as in the URL.
    case parameters([String])
}
