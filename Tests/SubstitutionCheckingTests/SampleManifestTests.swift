import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

@Suite("The sample manifest")
struct SampleManifestTests {
    @Test("The sample manifest has no errors and no warnings")
    func clean() throws {
        let folder = Repository.folder.appendingPathComponent("Resources/Substitutions")
        let text = try Data(contentsOf: folder.appendingPathComponent("manifest.json"))
        #expect(issuesOf(text, named: "manifest.json", in: folder) == [])
    }
}
