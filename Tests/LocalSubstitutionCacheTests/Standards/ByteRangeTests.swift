import Testing

@testable import LocalSubstitutionCache

@Suite("Byte ranges")
struct ByteRangeTests {
    static let nines = String(repeating: "9", count: 40)

    static let rows: [(String, Int, ByteRange)] = [
        // RFC 9110 §14.1.2
        ("bytes=0-4", 10, .part(0..<5)), ("bytes=5-", 10, .part(5..<10)), ("bytes=-3", 10, .part(7..<10)),
        ("bytes=0-0", 10, .part(0..<1)), ("bytes=9-9", 10, .part(9..<10)), ("bytes=0-99", 10, .part(0..<10)),
        ("bytes=-99", 10, .part(0..<10)), ("bytes=0-\(nines)", 10, .part(0..<10)),
        ("bytes=-\(nines)", 10, .part(0..<10)), ("bytes=000-004", 10, .part(0..<5)),
        // Units are case-insensitive (§14.1); a list may have empty elements (§5.6.1.2).
        ("BYTES=0-4", 10, .part(0..<5)), ("bytes= 0-4 ", 10, .part(0..<5)), ("bytes=,\t0-4,,", 10, .part(0..<5)),
        // Ranges beyond the end (§14.1.2). A request for the last byte of an empty file gets the whole, empty file.
        ("bytes=10-", 10, .unsatisfiable), ("bytes=10-20", 10, .unsatisfiable), ("bytes=-0", 10, .unsatisfiable),
        ("bytes=\(nines)-\(nines)", 10, .unsatisfiable), ("bytes=0-", 0, .unsatisfiable),
        ("bytes=-0", 0, .unsatisfiable), ("bytes=-1", 0, .whole),
        // Several ranges, other units, and text that is not a range.
        ("bytes=0-1,3-4", 10, .whole), ("lines=0-4", 10, .whole), ("bytes", 10, .whole), ("bytes=", 10, .whole),
        ("", 10, .whole), ("bytes=-", 10, .whole), ("bytes=4-2", 10, .whole), ("bytes=a-b", 10, .whole),
        ("bytes=0-4x", 10, .whole), ("bytes=+0-4", 10, .whole), ("bytes=0--4", 10, .whole), ("bytes 0-4", 10, .whole),
        ("bytes=٠-٤", 10, .whole), ("bytes = 0-4", 10, .whole), ("bytes=0 -4", 10, .whole),
    ]

    @Test("A header asks for one range, for the whole body, or for an unsatisfiable range", arguments: rows)
    func range(header: String, length: Int, expected: ByteRange) {
        #expect(ByteRange(header, length: length) == expected)
    }
}
