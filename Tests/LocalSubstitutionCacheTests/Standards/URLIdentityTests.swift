import TestSupport
import Testing

@testable import LocalSubstitutionCache

@Suite("URL identity")
struct URLIdentityTests {
    /// Pairs of URLs; comments name the sections of the standards that say whether they are equal.
    static let equal: [(String, String)] = [
        // RFC 3986 §6.2.2.1
        ("HTTP://example.com/a", "http://example.com/a"), ("https://EXAMPLE.Com/a", "https://example.com/a"),
        ("https://example.com/?q=%c3%a9", "https://example.com/?q=%C3%A9"),
        // RFC 3986 §6.2.2.2; RFC 3986 §6.2.2.1 and §6.2.2.2
        ("https://example.com/%61%7Eb", "https://example.com/a~b"), ("https://ex%41mple.com/", "https://example.com/"),
        // RFC 3986 §6.2.2.3
        ("https://example.com/a/../b", "https://example.com/b"),
        // RFC 3986 §6.2.2.2 and §6.2.2.3
        ("https://example.com/a/%2e%2E/b", "https://example.com/b"),
        // RFC 3986 §5.2.4
        ("https://example.com/a/b/..", "https://example.com/a/"),
        ("https://example.com/a/b/.", "https://example.com/a/b/"),
        ("https://example.com/../../a", "https://example.com/a"), ("https://example.com/..", "https://example.com/"),
        // RFC 3986 §5.2.4; RFC 9110 §4.2.3
        ("https://example.com/a//../b", "https://example.com/a/b"), ("https://example.com", "https://example.com/"),
        // RFC 9110 §4.2.3
        ("https://example.com?q", "https://example.com/?q"), ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443/", "https://example.com/"), ("https://example.com:0443/", "https://example.com/"),
        // RFC 3986 §6.2.3; RFC 9110 §4.2.3
        ("https://example.com:/", "https://example.com/"), ("https://[::1]:443/", "https://[::1]/"),
        // RFC 9110 §4.2.5; RFC 3986 §3.5
        ("https://example.com/a#top", "https://example.com/a"), ("https://example.com/a#?b", "https://example.com/a"),
        // RFC 3987 §3.1
        ("https://example.com/\u{E9}", "https://example.com/%C3%A9"),
        // RFC 3987 §3.1 (NFC)
        ("https://example.com/e\u{301}", "https://example.com/%C3%A9"),
        // RFC 3986 §2.1
        ("https://example.com/%2C\u{301}", "https://example.com/%2C%CC%81"),
        // RFC 3986 §2.4
        ("https://example.com/a?x=[1]|2", "https://example.com/a?x=%5B1%5D%7C2"),
        // URL Standard §4.4
        ("https://example.com/a?x\\y", "https://example.com/a?x%5Cy"),
        ("https://example.com/a?%%411%", "https://example.com/a?%25A1%25"),
    ]

    static let different: [(String, String)] = [
        // RFC 9110 §4.2.2; RFC 3986 §6.2.2.1
        ("http://example.com/", "https://example.com/"), ("https://example.com/A", "https://example.com/a"),
        // RFC 3986 §6.2.2.1; RFC 3986 §6.2.4
        ("https://example.com/?A", "https://example.com/?a"), ("https://example.com/a/", "https://example.com/a"),
        // RFC 3986 §2.2
        ("https://example.com/a%2Fb", "https://example.com/a/b"),
        ("https://example.com/a+b", "https://example.com/a%2Bb"),
        // RFC 3986 §3.4
        ("https://example.com/?a=1&b=2", "https://example.com/?b=2&a=1"),
        // RFC 3986 §6.2.3; RFC 3986 §3.3
        ("https://example.com/a?", "https://example.com/a"), ("https://example.com//a", "https://example.com/a"),
        // RFC 3986 §3.2.2; RFC 9110 §4.2.3
        ("https://example.com./", "https://example.com/"), ("https://example.com:80/", "https://example.com/"),
        // RFC 3986 §2.4
        ("https://example.com/%25", "https://example.com/%2525"),
        // RFC 3986 §2.2
        ("https://example.com/a%3Fb", "https://example.com/a?b"),
        ("https://example.com/a%23b", "https://example.com/a#b"),
        // RFC 3986 §6.2.2
        ("https://example.com/e%CC%81", "https://example.com/%C3%A9"),
        // RFC 3986 §3.4
        ("https://example.com/?a=.&b=..", "https://example.com/?a=&b="),
    ]

    static let refused: [(String, URLProblem)] = [
        ("", .notAbsolute), ("/a", .notAbsolute), ("//example.com/", .notAbsolute),
        ("https:/example.com", .notAbsolute), ("data:,x", .scheme("data")), ("localhost:8080/x", .notAbsolute),
        ("https:example.com", .notAbsolute), ("://example.com", .notAbsolute), ("file:///etc/passwd", .scheme("file")),
        ("https://user@example.com/", .userInfo), ("https://@example.com/", .userInfo), ("https:///a", .noHost),
        ("https://:80/", .noHost), ("https://a b/", .host("a b")), ("https://[zz]/", .host("[zz]")),
        ("https://[::1", .host("[::1")), ("https://é.com/", .nonASCIIHost("é.com")),
        ("https://a:b/", .port("b")), ("https://a:65536/", .port("65536")),
        ("https://a:99999999999999999999/", .port("99999999999999999999")),
        ("https://a/%", .percent), ("https://a/%4", .percent), ("https://a/%zz", .percent),
        ("https://%/", .percent), ("https://a/ ", .space), ("https://a/\\b", .backslash), ("https://a/\n", .control),
        ("https://a/\u{7F}", .control), ("https://a/\0", .control),
    ]

    /// Returns the identity of a URL, which must be the identity of its normal form, too.
    private func identity(_ url: String) throws -> URLIdentity {
        let identity = try URLIdentity(url)
        #expect(try URLIdentity(identity.description) == identity)
        return identity
    }

    @Test("Equal URLs have equal identities", arguments: equal)
    func equalIdentities(first: String, second: String) throws {
        let identities = try (identity(first), identity(second))
        #expect(identities.0 == identities.1 && identities.0.hashValue == identities.1.hashValue)
    }

    @Test("Different URLs have different identities", arguments: different)
    func differentIdentities(first: String, second: String) throws {
        #expect(try identity(first) != identity(second))
    }

    @Test("A text that is not an absolute http or https URL has no identity", arguments: refused)
    func noIdentity(text: String, problem: URLProblem) {
        #expect(throws: problem) { try URLIdentity(text) }
    }

    @Test(
        "A URL of many dot segments or combining marks is read in linear time",
        arguments: [
            (4000, "a/../", "example.com/"), (1000, "\u{301}\u{316}", "%CC%81%CC%96"),
            (1000, "%CC%81%CC%96", "%CC%81%CC%96"),
        ]
    )
    func long(count: Int, part: String, end: String) throws {
        let growth = try Growth.whenEightfold(count) { count in
            let identity = try URLIdentity("https://example.com/" + String(repeating: part, count: count))
            #expect(identity.decodedBase.hasSuffix(end))
        }
        #expect(growth < Growth.limit)
    }

    @Test("A long text is composed in linear time, or not at all", arguments: ["e\u{301}", "\u{9C7}\u{9BE}"])
    func composed(part: String) {
        let growth = Growth.whenEightfold(10_000) { count in
            let text = String(repeating: part, count: count).composed
            #expect((text.unicodeScalars.count == count) == (part.utf8.count * count <= 1 << 16))
        }
        #expect(growth < Growth.limit)
    }
}
