import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import SubstitutionChecking

/// Tests that compare the messages for each `Fixtures/Invalid/name.json` with `name.txt`.
///
/// The manifest's files are in `Fixtures/Invalid/name` if this folder exists, otherwise in `Fixtures/Files`. To update
/// the `.txt` files, run the tests with `UPDATE_GOLDEN_FILES=1`, and review the difference before you keep it.
@Suite("Messages about manifests")
struct MessageTests {
    @Test("Every invalid manifest gets the expected messages", arguments: Fixtures.names(in: "Invalid"))
    func messages(name: String) throws {
        let (data, folder) = try Self.invalid(name)
        let text = issuesOf(data, named: "\(name).json", in: folder).map { "\($0)\n" }.joined()
        try Repository.compare(text, withFixture: "SubstitutionCheckingTests/Fixtures/Invalid/\(name).txt")
        #expect(!text.isEmpty)
    }

    /// Returns an invalid manifest, and the folder of its files.
    private static func invalid(_ name: String) throws -> (Data, folder: URL) {
        let invalid = Fixtures.folder.appendingPathComponent("Invalid")
        let own = invalid.appendingPathComponent(name)
        let folder = FileManager.default.fileExists(atPath: own.path) ? own : Fixtures.files
        return (try Data(contentsOf: invalid.appendingPathComponent("\(name).json")), folder)
    }

    /// Reads each manifest as a released app does, without `SubstitutionChecking`, the module that adds remedies.
    ///
    /// Without it, an app reports only the first mistake in the JSON, and gives no warnings.
    @Test("An app refuses each manifest that has errors, and reports their positions and causes")
    func app() throws {
        var text = ""
        for name in Fixtures.names(in: "Invalid") {
            let (data, folder) = try Self.invalid(name)
            let advised = issuesOf(data, named: "\(name).json", in: folder).filter { $0.severity == .error }
            do throws(ManifestError) {
                let manifest = SubstitutionManifest(data, name: "\(name).json")
                _ = try manifest.resolved(in: folder, on: Date())
                #expect(advised == [], "\(name).json is refused only by the tool")
            } catch {
                #expect(!advised.isEmpty, "\(name).json is refused only by an app")
                text += error.issues.map { "\($0)\n" }.joined()
            }
        }
        try Repository.compare(text, withFixture: "SubstitutionCheckingTests/Fixtures/AppMessages.txt")
    }

    @Test("Every valid manifest is accepted", arguments: Fixtures.names(in: "Valid"))
    func accepted(name: String) throws {
        let url = Fixtures.folder.appendingPathComponent("Valid/\(name).json")
        let issues = issuesOf(try Data(contentsOf: url), named: name, in: Fixtures.files)
        #expect(issues.filter { $0.severity == .error } == [])
    }

    @Test("Every kind of error and warning has a fixture")
    func complete() throws {
        let texts = try Fixtures.names(in: "Invalid").map { name in
            let (data, folder) = try Self.invalid(name)
            return Set(issuesOf(data, named: name, in: folder).map(\.code))
        }
        let seen = texts.reduce(into: Set()) { $0.formUnion($1) }
        // The first codes need files that a repository cannot hold; HostileFolderTests and RowLimitTests create such
        // files. The last codes are about folders that did not come with an app, or cannot be watched.
        let elsewhere: Set<ManifestIssue.Code> = [
            .unreadableManifest, .unreadableFile, .outsideFolder, .endlessFolder, .tooManyURLs, .tooLong, .wrongContent,
            .notAdopted, .notWatched,
        ]
        #expect(seen.isDisjoint(with: elsewhere))
        #expect(Fixtures.names(in: "Valid").count >= 5)
        #expect(seen.union(elsewhere).map(\.rawValue).sorted() == (try declaredCodes()).sorted())
    }

    /// Returns the codes that the library and `SubstitutionChecking` declare, read from their source files.
    private func declaredCodes() throws -> [String] {
        try ["LocalSubstitutionCache/Manifest/ManifestIssue", "SubstitutionChecking/Warnings/ManifestIssue+Warnings"]
            .flatMap { name in
                let file = Repository.folder.appendingPathComponent("Sources/\(name).swift")
                return try String(contentsOf: file, encoding: .utf8)
                    .matches(of: /static let \w+ = Self\(rawValue: "([a-z0-9-]+)"\)/).map { String($0.1) }
            }
    }

    @Test("Of the files with a name, one that shares the longest end of the path is meant, and of these the shortest")
    func namesake() {
        let files = ["a/img/logo.png", "img/logo.png", "b/logo.png", "logo.png"]
        #expect(NearestFile(files).path(meantBy: "Substitutions/img/logo.png") == "img/logo.png")
        #expect(NearestFile(["a/img/logo.png", "logo.png"]).path(meantBy: "c/img/logo.png") == "a/img/logo.png")
    }
}
