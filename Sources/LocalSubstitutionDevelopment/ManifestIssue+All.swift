public import Foundation
public import LocalSubstitutionCache
import SubstitutionChecking

extension ManifestIssue {
    /// Returns all issues of a manifest and the files beside it, with remedies and warnings, in the manifest's order.
    ///
    /// This method continues after each mistake. If there is any error, it does not search for entries that never
    /// answer, and adds at most one warning about unused files. (A file may seem unused because its entry has an
    /// error.) Cost: reads every text file whole.
    ///
    /// - Parameters:
    ///   - manifest: The manifest, a file URL. Messages show its path as given.
    ///   - date: The date to compare `until` with.
    /// - Returns: The issues, whose messages show no password of a URL; empty if there are none.
    /// - Throws: ``LocalSubstitutionCache/ManifestError`` if the manifest cannot be read.
    public static func all(in manifest: URL, on date: Date = Date()) throws(ManifestError) -> [ManifestIssue] {
        let text = try SubstitutionManifest.text(of: manifest, name: manifest.path)
        return SubstitutionManifest(checking: text, name: manifest.path, url: manifest)
            .check(in: manifest.deletingLastPathComponent(), on: date).issues
    }
}
