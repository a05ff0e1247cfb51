import Testing

@testable import LocalSubstitutionCache

@Suite("Byte ranges")
struct ByteRangeTests {
    static let nines = String(repeating: "9", count: 40)

    static let rows: [(String, Int, Range<Int>?)] = [
        // RFC 9110 §14.1.2
        ("bytes=0-4", 10, 0..<5), ("bytes=5-", 10, 5..<10), ("bytes=-3", 10, 7..<10), ("bytes=0-0", 10, 0..<1),
        ("bytes=9-9", 10, 9..<10), ("bytes=0-99", 10, 0..<10), ("bytes=-99", 10, 0..<10),
        ("bytes=0-\(nines)", 10, 0..<10), ("bytes=-\(nines)", 10, 0..<10), ("bytes=000-004", 10, 0..<5),
        // Units are case-insensitive (§14.1); a list may have empty elements (§5.6.1.2).
        ("BYTES=0-4", 10, 0..<5), ("bytes= 0-4 ", 10, 0..<5), ("bytes=,0-4,,", 10, 0..<5), ("bytes=\t0-4", 10, 0..<5),
        // Unsatisfiable, so the whole is sent (§14.2).
        ("bytes=10-", 10, nil), ("bytes=10-20", 10, nil), ("bytes=-0", 10, nil), ("bytes=\(nines)-", 10, nil),
        ("bytes=\(nines)-\(nines)", 10, nil), ("bytes=0-", 0, nil), ("bytes=-1", 0, nil),
        // Several ranges, other units, and what is no range.
        ("bytes=0-1,3-4", 10, nil), ("lines=0-4", 10, nil), ("bytes", 10, nil), ("bytes=", 10, nil), ("", 10, nil),
        ("bytes=-", 10, nil), ("bytes=4-2", 10, nil), ("bytes=a-b", 10, nil), ("bytes=0-4x", 10, nil),
        ("bytes=+0-4", 10, nil), ("bytes=0--4", 10, nil), ("bytes 0-4", 10, nil), ("bytes=٠-٤", 10, nil),
        ("bytes = 0-4", 10, nil), ("bytes=0 -4", 10, nil),
    ]

    @Test("A header asks for one range or for the whole", arguments: rows)
    func range(header: String, length: Int, expected: Range<Int>?) {
        #expect(ByteRange.requested(by: header, length: length) == expected)
    }
}
