import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache

@Suite("The error of a refused manifest")
struct ManifestErrorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

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
        "A day is a year from 2000 to 9999, a month and a day that exist",
        arguments: [
            "20277-03-01", "10001-01-01", "0000-01-01", "0100-02-28", "1582-10-15", "1999-12-31", "2027-02-29",
            "2027-3-1", " 2027-3-01", "+027-03-01", "2027/03/01", "2027-03-1T", "٢٠٢٧-٠٣-٠١",
        ]
    )
    func noDay(text: String) {
        #expect(CalendarDay(text) == nil)
        for day in ["2000-01-01", "2028-02-29", "9999-12-31"] { #expect(CalendarDay(day)?.description == day) }
    }

    @Test(
        "A version is whole by its text, however it is spelled and however a computer would round it",
        arguments: [
            ("12.0", 12), ("1.2e1", 12), ("120E-1", 12), ("-0", 0), ("0.00e99999999999999999999", 0),
            ("9007199254740991.0", 9_007_199_254_740_991), ("9007199254740991.5", nil), ("9007199254740990.9", nil),
            ("9007199254740992", nil), ("0.99999999999999999999", nil), ("12.00000000000000000001", nil),
            ("1e-400", nil), ("1e400", nil), ("-1", nil),
        ] as [(String, Int64?)]
    )
    func version(text: String, number: Int64?) {
        let manifest = SubstitutionManifest(Data("{ \"$version\": \(text) }".utf8), name: "m.json")
        #expect((manifest.findings.isEmpty ? manifest.version : nil) == number)
    }
}
