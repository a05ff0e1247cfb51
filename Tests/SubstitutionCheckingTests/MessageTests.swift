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

    @Test("Every valid manifest is accepted, and the sample without a warning")
    func accepted() throws {
        for name in Fixtures.names(in: "Valid") {
            let text = try Data(contentsOf: Fixtures.folder.appendingPathComponent("Valid/\(name).json"))
            #expect(issuesOf(text, named: name, in: Fixtures.files).filter { $0.severity == .error } == [])
        }
        let sample = Repository.folder.appendingPathComponent("Resources/Substitutions")
        let text = try Data(contentsOf: sample.appendingPathComponent("manifest.json"))
        #expect(issuesOf(text, named: "manifest.json", in: sample) == [])
    }

    @Test("Every kind of error and warning has a fixture")
    func complete() throws {
        var seen: Set<ManifestIssue.Code> = []
        for name in Fixtures.names(in: "Invalid") {
            let (data, folder) = try Self.invalid(name)
            seen.formUnion(issuesOf(data, named: name, in: folder).map(\.code))
        }
        // The first codes need files that a repository cannot hold; HostileFolderTests and RowLimitTests create such
        // files. The last codes are about folders that did not come with an app, or cannot be watched.
        let elsewhere: Set<ManifestIssue.Code> = [
            .unreadableManifest, .unreadableFile, .outsideFolder, .endlessFolder, .tooManyURLs, .tooLong, .wrongContent,
            .notAdopted, .notWatched,
        ]
        #expect(seen.isDisjoint(with: elsewhere))
        #expect(Fixtures.names(in: "Valid").count >= 5)
        // The codes that the library and `SubstitutionChecking` declare.
        let sources = ["LocalSubstitutionCache/Manifest/", "SubstitutionChecking/Warnings/"]
        let declared = try zip(sources, ["ManifestIssue", "ManifestIssue+Warnings"]).flatMap { folder, name in
            let file = Repository.folder.appendingPathComponent("Sources/\(folder)\(name).swift")
            return try String(contentsOf: file, encoding: .utf8)
                .matches(of: /static let \w+ = Self\(rawValue: "([a-z0-9-]+)"\)/).map { String($0.output.1) }
        }
        #expect(seen.union(elsewhere).map(\.rawValue).sorted() == declared.sorted())
    }

    @Test("Of the files with a name, one that shares the longest end of the path is meant, and of these the shortest")
    func namesake() {
        let files = ["a/img/logo.png", "img/logo.png", "b/logo.png", "logo.png"]
        #expect(NearestFile(files).path(meantBy: "Substitutions/img/logo.png") == "img/logo.png")
        #expect(NearestFile(["a/img/logo.png", "logo.png"]).path(meantBy: "c/img/logo.png") == "a/img/logo.png")
    }

    private static let limits: [([LoadBudget.Limit: Int], ManifestIssue.Code)] = [
        ([.urls: 2], .tooManyURLs), ([.bytes: 40], .tooLong), ([.names: 2], .endlessFolder),
    ]

    @Test("Folders beyond a limit are reported neither as empty nor as unused", arguments: limits)
    func beyondTheLimit(amounts: [LoadBudget.Limit: Int], code: ManifestIssue.Code) throws {
        let folder = try TemporaryFolder()
        try folder.write("a", to: "a.txt")
        for name in ["1", "2", "3"] { try folder.write(name, to: "d/\(name).txt") }
        let text = #"{ "https://h/1": "a.txt", "https://h/2/": "d/", "https://h/5/": "d/" }"#
        let manifest = SubstitutionManifest(Data(text.utf8), name: "m.json")
        var resolver = ManifestResolver(manifest, folder: folder.url, budget: LoadBudget(amounts))
        resolver.resolve()
        let errors = resolver.findings
        #expect(errors.map(\.code) == [code])
        resolver.warn(on: CalendarDay(Date()), listsUnused: false)
        #expect(resolver.findings == errors)
    }

    @Test("The beginning of a large text is UTF-8 if it ends inside a character", arguments: [0, 1, 2, 3])
    func largeText(offset: Int) throws {
        let text = Data((String(repeating: "a", count: offset) + String(repeating: "😀", count: 70_000)).utf8)
        #expect(Encoding.name(of: text.prefix(Encoding.length)) == "UTF-8")
        #expect(Encoding.name(of: text.prefix(1001 + offset)) == "not UTF-8")
        #expect(Encoding.name(of: Data("inside".utf8)) == "ASCII")
    }
}
