// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Testing

@testable import SubstituteKit

@Suite("Words of other tools")
struct OtherToolsTests {
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
