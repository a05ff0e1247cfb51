public import Foundation
public import LocalSubstitutionCache
import SubstitutionChecking

extension SubstitutionManifest {
    /// Everything that is wrong with the manifest and its files, with remedies and warnings, in the order of the file.
    ///
    /// Reads the manifest's text again, going on after each mistake in it. Unused files and entries that never answer
    /// are looked for only when there is no error: the file that a wrong entry means would seem unused. Cost: reads
    /// every text file whole.
    ///
    /// - Parameters:
    ///   - folder: The folder that the files lie in.
    ///   - date: The moment that `until` is compared with.
    /// - Returns: The issues; empty when the manifest is as it should be.
    public func issues(in folder: URL, on date: Date = Date()) -> [ManifestIssue] {
        read(with: Advice()).check(in: folder, on: date).issues
    }
}
