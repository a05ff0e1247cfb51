import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Holds the answers to 200,000 URLs, so that another way of matching can be compared with today's.
@Suite("The same answers as before")
struct SameAnswersTests {
    private static let (blocks, length) = (200, 1000)

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in AskedURLs.files + ["single"] { try folder.write("d/\(name)", to: "d/\(name)") }
        for name in ["x@2x.png", "a!b.txt", "index.html"] { try folder.write("e/\(name)", to: "e/\(name)") }
    }

    /// Compares each answer, by entry and file, with the recorded one.
    ///
    /// The fixture has two kinds of lines. `m 0 name` gives the name of an answer to requests with manifest `m`. A line
    /// without spaces holds the answers of a block of 1,000 URLs: a letter or digit is the number of the answer, and
    /// any other character is a number of URLs without an answer. One of ten blocks is compared; with `LONG_TESTS`, all
    /// are. `UPDATE_GOLDEN_FILES=1` records the answers anew.
    ///
    /// On Linux only, because Foundation reads invalid URLs differently on other systems.
    @Test("Each URL has the answer that was recorded", Platform.measuredOnLinux)
    func recorded() throws {
        let caches = try AskedURLs.manifests.map { try folder.cache(Self.numbered($0)) }
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN_FILES"] != nil {
            var record = Record(manifests: caches.count)
            for block in 0..<Self.blocks {
                let number = block % caches.count
                record.append(AskedURLs.block(block, Self.length).map { Self.answer(caches[number], $0) }, number)
            }
            return try compare(record.text, withFixture: "SameAnswers.txt")
        }
        let fixture = Fixtures.folder.appendingPathComponent("SameAnswers.txt")
        let record = try Record(String(contentsOf: fixture, encoding: .utf8), manifests: caches.count)
        try #require(record.blocks.count == Self.blocks)
        var differences: [String] = []
        // One of ten blocks, so that each manifest has a fourth of them.
        for block in 0..<Self.blocks where Program.isLongRun || block % 10 == block / 10 % caches.count {
            let expected = record.answers(block)
            let urls = AskedURLs.block(block, Self.length)
            try #require(expected.count == urls.count)
            for (url, expected) in zip(urls, expected) {
                let answer = Self.answer(caches[block % caches.count], url)
                guard answer != expected else { continue }
                differences.append(
                    "\(url): now \(answer ?? "none"), was \(expected ?? "none") (manifest \(block % caches.count))"
                )
            }
        }
        #expect(differences.isEmpty, "\(differences.count) differ: \(differences.prefix(20).joined(separator: "\n"))")
    }

    /// Returns the manifest with each entry's number in a header field, so that an answer shows its entry.
    private static func numbered(_ entries: [(key: String, fields: String)]) -> String {
        let entries = entries.enumerated().map {
            "\"\($1.key)\": { \"headers\": { \"X-Entry\": \"\($0)\" }, \($1.fields) }"
        }
        return "{" + entries.joined(separator: ",\n") + "}"
    }

    private static func answer(_ cache: SubstitutionCache, _ url: String) -> String? {
        guard let url = URL(string: url), let cached = cache.cachedResponse(for: URLRequest(url: url)),
            let response = cached.response as? HTTPURLResponse
        else { return nil }
        return "\(response.value(forHTTPHeaderField: "X-Entry") ?? "") \(String(decoding: cached.data, as: UTF8.self))"
    }
}

/// The recorded answers.
private struct Record {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    /// The characters for 1, 2, 3 and more URLs without an answer.
    private static let runs = Array(".,:;!?-+*/=<>()[]{}@#$%&~^|_")

    private var names: [[String]]
    private(set) var blocks: [(manifest: Int, text: String)] = []

    init(manifests: Int) {
        names = Array(repeating: [], count: manifests)
    }

    init(_ text: String, manifests: Int) {
        self.init(manifests: manifests)
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
            if parts.count == 3, let manifest = Int(parts[0]) {
                names[manifest].append(parts[2])
            } else {
                blocks.append((blocks.count % manifests, String(line)))
            }
        }
    }

    var text: String {
        let legends = names.enumerated().flatMap { manifest, names in
            names.enumerated().map { "\(manifest) \($0) \($1)\n" }
        }
        return (legends + blocks.map { $0.text + "\n" }).joined()
    }

    mutating func append(_ answers: [String?], _ manifest: Int) {
        var text = ""
        var run = 0
        func end() -> String {
            defer { run = 0 }
            return run == 0 ? "" : String(Self.runs[run - 1])
        }
        for answer in answers {
            guard let answer else {
                run += 1
                if run == Self.runs.count { text += end() }
                continue
            }
            if !names[manifest].contains(answer) { names[manifest].append(answer) }
            text += end() + String(Self.digits[names[manifest].firstIndex(of: answer) ?? 0])
        }
        blocks.append((manifest, text + end()))
    }

    func answers(_ block: Int) -> [String?] {
        let (manifest, text) = blocks[block]
        return text.flatMap { character -> [String?] in
            if let run = Self.runs.firstIndex(of: character) { return Array(repeating: nil, count: run + 1) }
            return [Self.digits.firstIndex(of: character).map { names[manifest][$0] }]
        }
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
    static func block(_ block: Int, _ count: Int) -> [String] {
        var urls = AskedURLs(numbers: Numbers(state: UInt64(block)))
        let keys = manifests[block % manifests.count].map(\.key)
        return (0..<count).map { _ in urls.next(keys) }
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
