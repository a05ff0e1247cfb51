// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Testing

@testable import SubstituteKit

@Suite("Words of other tools")
struct OtherToolsTests {
    @Test("Each command line that is proposed for a verb of another tool exists")
    func verbs() throws {
        for (line, purpose) in OtherTools.verbs.flatMap(\.purposes) where !line.isEmpty && !line.hasPrefix("--") {
            let words = line.split(separator: " ").map(String.init)
            let command = try #require(Command.all.first { $0.name == words[0] }, "\(line): \(purpose)")
            #expect(throws: Never.self, "\(line)") { _ = try Arguments(words.dropFirst(), command.options) }
        }
    }

    @Test("No verb of another tool is a command of this one, and no verb is listed twice")
    func distinct() {
        var seen: Set<String> = []
        for word in OtherTools.verbs.flatMap(\.words) {
            #expect(!Command.all.contains { $0.name == word }, "\(word)")
            #expect(seen.insert(word).inserted, "\(word)")
        }
    }

    @Test("Each option that is proposed for an option of another tool exists")
    func options() {
        let known = Set(Command.all.flatMap(\.options).map(\.name))
        for name in OtherTools.synonyms.flatMap(\.meant) { #expect(known.contains(name), "\(name)") }
    }

    @Test(
        "A quantity of another language is written as this tool reads it",
        arguments: [
            ("5,5MB", "5.5MB"), ("1.5 Mo", "1.5MB"), ("1,000kB", "1000kB"), ("0,5%", "0.5%"), ("90 Prozent", "90%"),
            ("５ＭＢ", "5MB"), ("1'000 kB", "1000kB"), ("2s", "2"), ("1.234.567", "1.234.567"), ("0,125MB", "0.125MB"),
        ]
    )
    func quantities(written: String, meant: String) { #expect(Quantity.repaired(written) == meant) }
}
#endif
