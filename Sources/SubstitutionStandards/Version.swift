/// The version that the library and its tools write into their output.
package let libraryVersion = "unreleased"

/// The commit that `git archive` wrote here; nil in a clone, which can have changes.
///
/// See `export-subst` in gitattributes(5).
package let libraryCommit: String? = {
    let commit = "$Format:%H$"
    return commit.hasPrefix("$") ? nil : String(commit.prefix(10))
}()
