import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import SubstitutionChecking

@Suite("Warnings beyond the limit on URLs")
struct WarningLimitTests {
    @Test(
        "Folders that were not expanded because of a limit are reported neither as empty nor as unused",
        arguments: [
            ([.urls: 2], .tooManyURLs), ([.bytes: 40], .tooLong), ([.names: 2], .endlessFolder),
        ] as [([LoadBudget.Limit: Int], ManifestIssue.Code)]
    )
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
}
