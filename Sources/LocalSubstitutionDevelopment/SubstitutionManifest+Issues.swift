public import Foundation
public import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionStandards

extension SubstitutionManifest {
    /// Returns all issues of the manifest and its files, with remedies and warnings, in the order of the manifest.
    ///
    /// This method reads the manifest's text again, and continues after each mistake. If there is any error, the method
    /// does not search for entries that never answer, and adds at most one warning about unused files. (A file may seem
    /// unused because its entry has an error.) Cost: reads every text file whole.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files.
    ///   - date: The date to compare `until` with.
    /// - Returns: The issues, whose messages show no password of a URL; empty if there are none.
    public func issues(in folder: URL, on date: Date = Date()) -> [ManifestIssue] {
        checked.check(in: folder, on: date).issues.map { issue in
            issue.with(message: UserInformation.hidden(in: issue.message))
        }
    }
}
