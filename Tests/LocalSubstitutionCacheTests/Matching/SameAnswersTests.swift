import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Holds the answers to 80,000 URLs, so that another way of matching can be compared with today's.
@Suite("The same answers as before")
struct SameAnswersTests {
    private static let blocks = 80

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let paths = (AskedURLs.files + ["single"]).map { "d/\($0)" } + ["e/x@2x.png", "e/a!b.txt", "e/index.html"]
        for (letter, path) in zip("abcdefghijklmno", paths) { try folder.write(String(letter), to: path) }
    }

    /// Compares each answer, by entry and file, with the recorded one.
    ///
    /// A line of the fixture holds the answers of a block of 1,000 URLs: a capital letter for the entry and a small one
    /// for the file, or a full stop for no answer. One of four blocks is compared; with `LONG_TESTS`, all are.
    /// `UPDATE_GOLDEN_FILES=1` records the answers anew.
    ///
    /// On Linux only, because Foundation reads invalid URLs differently on other systems.
    @Test("Each URL has the answer that was recorded", Platform.measuredOnLinux)
    func recorded() throws {
        let caches = try AskedURLs.manifests.map { try folder.cache(Self.lettered($0)) }
        func answers(_ block: Int) -> [String] {
            AskedURLs.block(block).map { Self.answer(caches[block % caches.count], $0) }
        }
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN_FILES"] != nil {
            let text = (0..<Self.blocks).map { answers($0).joined() + "\n" }.joined()
            return try compare(text, withFixture: "SameAnswers.txt")
        }
        let fixture = Fixtures.folder.appendingPathComponent("SameAnswers.txt")
        let lines = try String(contentsOf: fixture, encoding: .utf8).split(separator: "\n")
        try #require(lines.count == Self.blocks)
        var differences: [String] = []
        // One of four blocks, so that each manifest has a fourth of them.
        for (block, line) in lines.enumerated() where Program.isLongRun || block % 4 == block / 4 % 4 {
            let expected: [String] = line.reduce(into: []) { answers, letter in
                let start = letter.isLowercase ? answers.removeLast() : ""
                answers.append(start + "\(letter)")
            }
            let (urls, now) = (AskedURLs.block(block), answers(block))
            try #require(expected.count == urls.count)
            for index in urls.indices where now[index] != expected[index] {
                differences.append("\(urls[index]): now \(now[index]), was \(expected[index]) (manifest \(block % 4))")
            }
        }
        #expect(differences.isEmpty, "\(differences.count) differ: \(differences.prefix(20).joined(separator: "\n"))")
    }

    /// Returns the manifest with each entry's letter in a header field, so that an answer shows its entry.
    private static func lettered(_ entries: [(key: String, fields: String)]) -> String {
        let entries = zip("ABCDEFGHIJKLMNOPQ", entries).map {
            "\"\($1.key)\": { \"headers\": { \"X-Entry\": \"\($0)\" }, \($1.fields) }"
        }
        return "{" + entries.joined(separator: ",\n") + "}"
    }

    private static func answer(_ cache: SubstitutionCache, _ url: String) -> String {
        guard let url = URL(string: url), let cached = cache.cachedResponse(for: URLRequest(url: url)) else {
            return "."
        }
        let head = cached.response as? HTTPURLResponse
        return (head?.value(forHTTPHeaderField: "X-Entry") ?? "") + String(decoding: cached.data, as: UTF8.self)
    }
}

/// URLs such as pages, apps and attackers write, and manifests that some of them match.
///
/// The parts are those of the tests of RFC 3986 §5.4 and §6 and of the URL Standard: dot segments, escapes of every
/// kind, ports, user information, hosts in several spellings, and queries in several orders.
private struct AskedURLs {
    static let files = [
        "plain.css", "a!b.txt", "x@2x.png", "\u{E9}.css", "index.html", "a b.txt", "100%.txt", "s/index.html",
        "s/a+b.js", "s/t/c,d;e=f.txt", "か\u{3099}.txt",
    ]

    static let manifests: [[(key: String, fields: String)]] = [
        [
            ("https://example.com/a/b/c", single), ("http://example.com/a/b/c", single), ("//example.com/a/b", single),
            ("https://example.com:8443/a/b/c", single), ("https://example.com/a/b/c?q=1&r=2", single),
            ("https://example.com/a/b/c?", single), ("https://example.com/", single), ("http://[::1]/a/b", single),
            ("https://xn--bcher-kva.example/a/%C3%A9", single), ("https://example.com/A/%7Eb/%2F%2e", single),
            ("https://example.com/a//b/", single), ("https://example.com./a/b", single),
            ("https://127.0.0.1:80/a/b", single), ("http://example.com/a;p=1/b:c@d", single),
            ("https://example.com/\(String(repeating: "long/", count: 200))", single),
            ("https://example.com/a%25b/100%25", single),
            ("https://example.com/old", single + ", \"until\": \"2020-01-01\""),
        ],
        [
            ("https://example.com/a/b", single + any), ("https://example.com/a/b?q=1", single),
            ("//example.com/a/b?q=2&v=3", single + list(["v"])),
            ("https://example.com/a/b?r=2", single + list(["v", "utm_*"])),
            ("https://example.com/c?x=%20y&x=+", single + list(["_"])), ("//example.com/c", single + any),
            ("https://example.com/d?a&b=&=c", single), ("https://example.com/d", single + list(["a", "b%5B%5D"])),
            ("https://example.com/e?q=1", single + ", \"when\": \"offline\""), ("//example.com/e", single + any),
            ("https://example.com/\u{E9}?\u{E9}=\u{E9}", single + list(["\u{FC}*"])),
        ],
        [
            ("https://example.com/d/", folder), ("//example.com/d/s/", "\"file\": \"d/s/\"" + any),
            ("https://example.com/%21d/", "\"file\": \"e/\""), ("https://example.com/!d/a!b.txt", single),
            ("https://example.com/d/a%21b.txt", single), ("http://example.com:8080/", folder + list(["v"])),
        ],
        [
            ("https://example.com/", folder + any), ("https://example.com/d/", "\"file\": \"e/\""),
            ("//example.com/d/s/t/", "\"file\": \"d/s/t/\"" + list(["v"])),
            ("https://example.com/d/x%402x.png?v=1", single),
            ("//example.com/\u{E9}/", "\"file\": \"e/\"" + any),
            ("https://example.com/s/", "\"file\": \"d/s/\", \"when\": [404, \"5xx\"]"),
            ("http://example.com/plain.css", single + any),
        ],
    ]

    private static let single = "\"file\": \"d/single\""
    private static let folder = "\"file\": \"d/\""
    private static let any = ", \"ignoreQuery\": true"

    private static func list(_ names: [String]) -> String {
        ", \"ignoreQuery\": [" + names.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
    }

    private var numbers: Numbers

    /// Returns the URLs of a block, which are the same in every run.
    static func block(_ block: Int) -> [String] {
        var urls = AskedURLs(numbers: Numbers(state: UInt64(block)))
        let keys = manifests[block % manifests.count].map(\.key)
        return (0..<1000).map { _ in urls.next(keys) }
    }

    /// Returns a number below `count`: the same one with every version of Swift, unlike `Int.random(in:using:)`.
    private mutating func number(_ count: Int) -> Int { Int(numbers.next() % UInt64(count)) }

    private mutating func pick(_ texts: [String]) -> String { texts[number(texts.count)] }

    private mutating func next(_ keys: [String]) -> String {
        var url = number(4) == 0 ? anyURL() : key(keys)
        for _ in 0..<[0, 1, 1, 2, 3][number(5)] { url = changed(url) }
        return url
    }

    /// Returns a URL that the key may answer.
    private mutating func key(_ keys: [String]) -> String {
        var url = pick(keys)
        if url.hasPrefix("//") { url = pick(["http:", "https:"]) + url }
        if url.hasSuffix("/"), number(8) > 0 {
            let path = pick(Self.files)
            url += number(2) == 0 ? path : escaped(path)
        }
        return url
    }

    private mutating func anyURL() -> String {
        let path = (0..<number(5)).map { _ in pick(Self.segments) }
        return pick(["http", "https", "HTTP", "hTTps", "ftp", "file", "", "data"])
            + pick([":", "://", "://", "://", "//"])
            + pick(["", "", "", "", "user@", "u:p@", "@", ":@"]) + pick(Self.hosts) + pick(Self.ports)
            + (path.isEmpty ? "" : "/") + path.joined(separator: "/") + pick(["", "", "/"])
            + pick([
                "", "", "?", "?q=1", "?v=3&q=2", "?q=2&v=3", "?utm_a=1&r=2", "?a&b=&=c", "?%71=1", "?q=1?q", "?é=é",
            ])
            + pick(["", "", "", "#f", "#?q=1", "#/.."])
    }

    private static let segments = [
        "a", "b", "c", "d", "s", "t", "A", ".", "..", "...", "%2e", "%2E%2e", ".%2E", "", "e", "a%2Fb", "%61", "~b",
        "%7Eb",
        "x@2x.png", "x%402x.png", "a!b.txt", "index.html", "é", "e\u{301}", "%C3%A9", "%c3%a9", "e%CC%81", "100%",
        "%zz", "%",
        "a;p=1", "b:c@d", "%00", " ", "+", "%2B", "*", "old", "plain.css", "\u{202E}", "[", "|", "^", "`", "\\", "😀",
    ]
    private static let hosts = [
        "example.com", "example.com", "example.com", "EXAMPLE.com", "example.com.", "ex%61mple.com", "www.example.com",
        "example.org", "[::1]", "[0:0::1]", "[::ffff:1.2.3.4]", "[v1.x]", "[", "127.0.0.1", "0x7f.1", "2130706433", "",
        "xn--bcher-kva.example", "XN--BCHER-KVA.example", "bücher.example", "ｅxample.com", "example。com", "faß.example",
        "ex ample.com", "*.example.com", "a_b.example", "-",
    ]
    private static let ports = ["", "", "", "", ":", ":80", ":443", ":8443", ":8080", ":0443", ":99999", ":x", ":-1"]

    /// Percent-encodes some characters, and those outside ASCII in NFC or NFD.
    private mutating func escaped(_ text: String) -> String {
        text.map { character -> String in
            let form = number(2) == 0 ? String(character) : String(character).decomposedStringWithCanonicalMapping
            if character == "/" || character.isASCII && number(3) > 0 { return String(character) }
            let format = number(2) == 0 ? "%%%02X" : "%%%02x"
            return form.utf8.map { String(format: format, $0) }.joined()
        }.joined()
    }

    /// Returns the URL with one change, which may or may not keep its meaning.
    private mutating func changed(_ url: String) -> String {
        let start = url.range(of: "://")?.upperBound ?? url.startIndex
        let path = url[start...].firstIndex(of: "/") ?? url.endIndex
        let query = url[path...].firstIndex { "?#".contains($0) } ?? url.endIndex
        let (origin, tail, rest) = (String(url[..<path]), String(url[path..<query]), String(url[query...]))
        switch number(20) {
        case 0: return origin.uppercased() + tail + rest
        case 1: return origin + pick(Self.ports) + tail + rest
        case 2: return origin + escaped(tail) + rest
        case 3:
            return origin + tail + pick(["?", "?v=1", "?v=1&v=2", "?utm_source=x&_=1", "?q=1", "?b%5B%5D=1&a"]) + rest
        case 4: return url + pick(["&v=1", "&q=1", "&utm_x", "&", "&b[]=1", "&%76=2"])
        case 5: return url + pick(["#f", "#", "#a?b"])
        case 6:
            return origin
                + tail.replacingOccurrences(of: "/", with: pick(["/./", "//", "/x/../", "/%2e/", "/x/%2E./"])) + rest
        case 7: return origin + "/.." + tail + rest
        case 8:
            return origin + tail + pick(["/", "/.", "/..", "index.html", ".", "%20", " ", "%", "%2", "\u{0}"]) + rest
        case 9: return String(url[..<start]) + pick(["user@", "u:p@", "@", "www."]) + String(url[start...])
        case 10: return url.replacingOccurrences(of: "https:", with: "http:")
        case 11: return url.replacingOccurrences(of: "http:", with: "https:")
        case 12: return origin + pick([".", "%2E", "。", ":"]) + tail + rest
        case 13: return origin + tail.uppercased() + rest
        case 14: return origin + tail.decomposedStringWithCanonicalMapping + rest
        case 15: return origin + tail.replacingOccurrences(of: "%", with: "%25") + rest
        case 16: return origin + (tail.removingPercentEncoding ?? tail) + rest
        case 17: return origin + tail + rest.split(separator: "&").reversed().joined(separator: "&")
        case 18: return origin + tail + rest + String(repeating: pick(["a", "%41", "/..", "&v"]), count: number(300))
        default: return pick([" ", "\n", "\t", ""]) + url
        }
    }
}
