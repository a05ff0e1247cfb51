import Foundation
import Testing

@testable import SubstituteKit

@Suite("Differences between texts")
struct TextDifferenceTests {
    private func lines(_ here: String, _ there: String) -> [TextDifference.Line]? {
        TextDifference(Data(here.utf8), Data(there.utf8))?.lines
    }

    @Test("Differing lines are shown with two equal lines around them")
    func context() {
        let here = (1...20).map { "line \($0)" }
        var there = here
        there[9] = "changed"
        there.append("added")
        #expect(
            lines(here.joined(separator: "\n"), there.joined(separator: "\n")) == [
                .gap(7), .same("line 8"), .same("line 9"), .here("line 10"), .there("changed"), .same("line 11"),
                .same("line 12"), .gap(6), .same("line 19"), .same("line 20"), .there("added"),
            ]
        )
        #expect(lines("a\r\nb", "a\nb") == [.here("a\r"), .there("a"), .same("b")])
        #expect(lines("", "a") == [.here(""), .there("a")])
        #expect(lines("a\n\n\nb", "a\nb") == [.same("a"), .here(""), .here(""), .same("b")])
    }

    @Test("Of a long line, the part that differs is shown")
    func longLine() throws {
        let start = String(repeating: "a{b:c}", count: 5000)
        let found = try #require(lines(start + "color:red" + start, start + "color:blue" + start))
        #expect(found.count == 2)
        guard case .here(let here) = found[0], case .there(let there) = found[1] else {
            Issue.record("\(found)")
            return
        }
        #expect(here.contains("color:red") && there.contains("color:blue") && here.count < 200, "\(found)")
    }

    @Test("Binary and large files have no lines, and texts in Latin-1 do")
    func kinds() {
        #expect(TextDifference(Data([1, 0, 2]), Data("a".utf8)) == nil)
        #expect(TextDifference(Data(repeating: 97, count: 2_000_001), Data("a".utf8)) == nil)
        #expect(TextDifference(Data([0xE9]), Data([0xE8]))?.lines == [.here("é"), .there("è")])
    }

    @Test("Very different texts are compared quickly, and the lines beyond 200 are counted", .timeLimit(.minutes(1)))
    func limits() throws {
        for count in [1900, 50_000] {
            let here = (0..<count).map { "a\($0)" }.joined(separator: "\n")
            let there = (0..<count).map { "b\($0)" }.joined(separator: "\n")
            let difference = try #require(TextDifference(Data(here.utf8), Data(there.utf8)))
            #expect(difference.lines.count == 200 && difference.leftOut == 2 * count - 200)
        }
    }
}
