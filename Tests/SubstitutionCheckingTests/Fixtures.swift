import Foundation
import LocalSubstitutionCache
import SubstitutionChecking
import TestSupport

/// The manifests that tests read, and the files for them.
enum Fixtures {
    static let folder = Repository.folder.appendingPathComponent("Tests/SubstitutionCheckingTests/Fixtures")

    /// A few well-formed files, which the tests' manifests may name.
    static let files = folder.appendingPathComponent("Files")

    /// Returns the names, without extension, of the `.json` files in a folder of fixtures.
    static func names(in subfolder: String) -> [String] {
        let files =
            (try? FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent(subfolder).path))
        return (files ?? []).filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }
}

/// Returns all issues of a manifest, even if it is not JSON.
func issuesOf(_ data: Data, named name: String, in folder: URL, on date: Date = Date()) -> [ManifestIssue] {
    SubstitutionManifest(checking: data, name: name, url: nil).check(in: folder, on: date).issues
}
