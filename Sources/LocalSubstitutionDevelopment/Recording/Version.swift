/// The version that the library and its tools write into their output.
package let libraryVersion = "unreleased"

/// The version, and the commit that `git archive` wrote here; a clone has none, because it can have changes.
///
/// See `export-subst` in gitattributes(5).
package let libraryVersionAndCommit: String = {
    let commit = "$Format:%H$"
    if commit.hasPrefix("$") { return "\(libraryVersion), built from a clone of LocalSubstitutionCache" }
    return "\(libraryVersion) (commit \(commit.prefix(10)))"
}()
