import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache

/// The files that tests read.
enum Fixtures {
    static let folder = resources.appendingPathComponent("Fixtures")

    /// The folder of the tests' resources, which on macOS may be a subfolder of their bundle.
    static let resources = Bundle.module.resourceURL ?? Bundle.module.bundleURL
}

extension TemporaryFolder {
    /// Returns the errors for which an app refuses the manifest in `text`.
    func issues(_ text: String, on date: Date = Date()) -> [ManifestIssue] {
        issuesOf(Data(text.utf8), named: "manifest.json", in: url, on: date)
    }
}

/// Returns the errors for which an app refuses a manifest.
func issuesOf(_ data: Data, named name: String, in folder: URL, on date: Date = Date()) -> [ManifestIssue] {
    do throws(ManifestError) {
        _ = try SubstitutionManifest(data, name: name).resolved(in: folder, on: date)
        return []
    } catch {
        return error.issues
    }
}

/// Compares `text` with a checked-in file.
///
/// If `UPDATE_GOLDEN_FILES` is set in the environment, writes the text to that file instead.
func compare(_ text: String, withFixture path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    try Repository.compare(
        text,
        withFixture: "LocalSubstitutionCacheTests/Fixtures/\(path)",
        sourceLocation: sourceLocation
    )
}
