import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache

@Suite("The error of a refused manifest")
struct ManifestErrorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(
        "The error of a refused manifest prints 100 issues and the number of the others, and holds them all",
        arguments: [(1, 1), (100, 100), (101, 101), (5000, 101)]
    )
    func description(mistakes: Int, lines: Int) throws {
        let entries = (0..<mistakes).map { "\"https://h/\($0)\": \"gone\($0).txt\"" }
        let error = try #require(throws: ManifestError.self) {
            try folder.cache("{" + entries.joined(separator: ",\n") + "}")
        }
        #expect(error.issues.count == mistakes)
        let text = error.description.split(separator: "\n")
        #expect(text.count == lines)
        #expect(text.first?.hasPrefix("manifest.json:1:") == true)
        let others = "and \(mistakes - 100) more; ManifestError.issues has all, and substitute check prints them"
        #expect(mistakes <= 100 || text.last.map(String.init) == others)
        #expect(error.localizedDescription == error.description)
    }

    @Test(
        "A day is a year of four digits, a month and a day that exist",
        arguments: [
            "20277-03-01", "10001-01-01", "0000-01-01", "2027-02-29", "2027-3-1", " 2027-3-01", "+027-03-01",
            "-027-03-01", "2027/03/01", "2027-03-1T", "٢٠٢٧-٠٣-٠١",
        ]
    )
    func noDay(text: String) {
        #expect(CalendarDay(text) == nil)
        for day in ["0001-01-01", "1582-10-15", "2028-02-29", "9999-12-31"] {
            #expect(CalendarDay(day)?.description == day)
        }
    }
}
