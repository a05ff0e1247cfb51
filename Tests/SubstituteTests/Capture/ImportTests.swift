// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("substitute add with a recording", .serialized)
struct ImportTests {
    private let site: SiteFolder

    init() throws { site = try SiteFolder() }

    private static let png = HAR.png().base64EncodedString()

    /// Returns an exchange whose body is recorded as base64.
    private static func encoded(_ name: String, _ type: String, _ bytes: Data = HAR.png()) -> HAREntry {
        HAREntry(url: "https://h/\(name)", type: type, text: bytes.base64EncodedString(), encoding: "base64")
    }

    // MARK: - Imported exchanges

    @Test("Each complete response becomes a file at host/path and an entry after all others")
    func whole() async throws {
        let result = try await site.take([
            HAREntry(url: "https://h/", type: "text/html", text: "<!DOCTYPE html><p>Hi"),
            HAREntry(url: "https://h/css/a.css?v=1"),
            HAREntry(url: "http://cdn.h:8080/logo", type: "image/png", text: Self.png, encoding: "base64"),
            Self.encoded("a.jpg", "image/png"),
        ])
        #expect(result.status == 0 && result.errors == "" && result.output == "4 entries with 50 bytes\n", "\(result)")
        let manifest = """
            {
              "https://h/": "h/index.html",
              "https://h/css/a.css?v=1": "h/css/a.css",
              "http://cdn.h:8080/logo": "cdn.h_8080/logo.png",
              "https://h/a.jpg": { "file": "h/a.jpg", "type": "image/png" }
            }

            """
        #expect(site.manifest == manifest)
        let files = ["h/index.html", "h/css/a.css", "cdn.h_8080/logo.png"].map(site.bytes)
        #expect(files == [Data("<!DOCTYPE html><p>Hi".utf8), Data("a { }\n".utf8), HAR.png()])
        #expect(try await site.check().status == 0)
        #expect(try !site.listing.keys.contains { $0.hasPrefix(".substitute/") })
    }

    private static let compressed: [HAREntry.Field] = [
        .init("Content-Encoding", "gzip"), .init("Content-Length", "3"), .init("Vary", "*"),
    ]

    /// Exchanges, and the message about each of them.
    private static let harmless: [(String, [HAREntry])] = [
        // Safari writes a size of 0.
        ("", ["0", "-1", "\"x\"", "1e300"].map { HAREntry(size: $0) }),
        ("https://h/a.css: the recording states 2 bytes, but holds 6\n", [HAREntry(size: "2")]),
        // UTF-16 and gzip make more bytes of a short text.
        ("https://h/a.css: the recording states 44 bytes, but holds 6\n", [HAREntry(size: "44")]),
        ("", [HAREntry(encoding: "utf-8"), HAREntry(encoding: "UTF8"), HAREntry(method: "get"), HAREntry(type: nil)]),
        ("", [HAREntry(status: "\"200\""), HAREntry(status: "200.0"), HAREntry(url: "https://h/a.css#part")]),
        ("", [HAREntry(url: "HTTPS://H/a.css")]),
        // The body was compressed, and is decoded.
        (
            "https://h/a.css: varies by * on its server, and ships to everybody as it is\n",
            [HAREntry(size: "6", sent: compressed)]
        ),
        // Pseudo-headers of HTTP/2, line breaks in headers, and headers without sense.
        ("", [HAREntry(asked: [.init(":authority", "h")], sent: [.init(":status", "200")])]),
        ("", [HAREntry(type: nil, sent: [.init("Content-Type", "text/css\r\nA: b"), .init("ETag", "\n\r")])]),
        ("", [HAREntry(sent: [.init("", ""), .init("\u{0}", "\u{1}"), .init("é", "é")])]),
    ]

    @Test("Unusual values in a recording do not prevent the import of an intact body", arguments: harmless)
    func unusual(message: String, entries: [HAREntry]) async throws {
        for entry in entries {
            let site = try SiteFolder()
            let result = try await site.take([entry])
            #expect(result.status == 0 && result.errors == "", "\(result)")
            #expect(result.output == message + "1 entry with 6 bytes\n")
            #expect(site.manifest == "{\n  \"\(entry.url.prefix { $0 != "#" })\": \"h/a.css\"\n}\n")
            #expect(site.bytes("h/a.css") == Data("a { }\n".utf8))
            #expect(try await site.check().status == 0)
        }
    }

    @Test("A base64 body is decoded, even if it spans several lines")
    func base64() async throws {
        let folded = Self.png.prefix(5) + "\r\n " + Self.png.dropFirst(5)
        let result = try await site.take([
            HAREntry(url: "https://h/a.png", type: "image/png", text: String(folded), encoding: "base64"),
            HAREntry(url: "https://h/b.png", type: "image/png", text: Self.png, encoding: "BASE64"),
            Self.encoded("c.css", "text/css; charset=iso-8859-1", Data([0xE9])),
            // Some programs record the size of the base64 text.
            HAREntry(url: "https://h/d.png", type: "image/png", text: Self.png, encoding: "base64", size: "16"),
        ])
        let message = "https://h/d.png: the recording states 16 bytes, but holds 12\n4 entries with 37 bytes\n"
        #expect(result.output == message)
        #expect(["h/a.png", "h/b.png", "h/c.css"].map(site.bytes) == [HAR.png(), HAR.png(), Data([0xE9])])
        let entry = #""https://h/c.css": { "file": "h/c.css", "type": "text/css; charset=iso-8859-1" }"#
        #expect(site.manifest.contains(entry))
    }

    // MARK: - Exchanges that are left out

    private static func binary(_ text: String?, _ encoding: String? = nil, size: String? = nil) -> HAREntry {
        HAREntry(url: "https://h/a.png", type: "image/png", text: text, encoding: encoding, size: size)
    }

    /// The messages, each with the exchanges that cause it.
    private static let bad: [(String, [HAREntry])] = [
        ("its body was not recorded; export the recording with content", [HAREntry(text: nil, size: "6")]),
        ("its body was recorded as base64 that cannot be decoded", ["%%%%", "iVBORw0KG"].map { binary($0, "base64") }),
        ("only 12 of its 500 bytes were recorded", [binary(png, "base64", size: "500")]),
        ("only 200 of its 1000 bytes", [HAREntry(text: String(repeating: "é", count: 100), size: "1000")]),
        ("only 6 of its 45 bytes were recorded", [HAREntry(size: "45")]),
        ("its body was recorded in an unknown encoding, \"quoted-printable\"", [binary(png, "quoted-printable")]),
        ("it is text, not image/png", [binary("(binary data, 1234 bytes)")]),
        ("there was no response: it failed, or was blocked", ["0", "\"OK\"", "1e300"].map { HAREntry(status: $0) }),
        ("its server answered 203", [HAREntry(status: "203")]), ("its server answered 404", [HAREntry(status: "404")]),
        ("its response has no body (204)", [HAREntry(status: "204", text: nil)]),
        ("only a part of it was sent (206); load it with substitute add", [HAREntry(status: "206")]),
        ("it is a redirect (301)", [HAREntry(status: "301")]),
        ("the browser had it already (304); empty its cache, and record again", [HAREntry(status: "304")]),
        ("its method is POST, not GET", [HAREntry(method: "POST")]),
        // It would move the cursor.
        ("its method is \\u{1B}[1A, not GET", [HAREntry(method: "\u{1B}[1a")]),
        ("\"data:\" needs no server", [HAREntry(url: "data:text/css,a%7B%7D")]),
        ("\"file:\" needs no server", [HAREntry(url: "file:///etc/passwd")]),
        ("it is not a complete URL", ["//h/a.css", "/go?to=http://h/", "a.css"].map { HAREntry(url: $0) }),
        ("\"https:///a.css\" names no server", [HAREntry(url: "https:///a.css")]),
        ("\"https://h/\\u{1B}[31m\" has a control character", [HAREntry(url: "https://h/\u{1B}[31m")]),
    ]

    @Test("A bad exchange is left out with its reason, and the others are imported", arguments: bad)
    func leftOut(message: String, entries: [HAREntry]) async throws {
        for entry in entries {
            let site = try SiteFolder()
            let result = try await site.take([entry, HAREntry(url: "https://h/good.css")])
            #expect(result.status == 0 && result.errors == "", "\(result)")
            #expect(result.output.hasPrefix("Left out:\n  1 ") && result.output.contains(": \(message)"), "\(result)")
            #expect(result.output.hasSuffix("\n1 entry with 6 bytes, 1 left out\n"), "\(result.output)")
            #expect(try site.files == ["h/good.css"])
            #expect(site.manifest == "{\n  \"https://h/good.css\": \"h/good.css\"\n}\n")
        }
    }

    @Test("An exchange with a missing or malformed part does not stop the import, and is counted")
    func misshapen() async throws {
        let values = ["null", "true", "1", "-0.5", "\"x\"", "[]", "[null]", "[[]]", "{}", "{\"a\":null}"]
        let header = #"[{"name":"Content-Type","value":"text/css"}]"#
        let content = #"{"mimeType":"text/css","text":"a { }","size":5}"#
        let answer = "{\"status\":200,\"headers\":\(header),\"content\":\(content)}"
        let whole = "{\"request\":{\"method\":\"GET\",\"url\":\"URL\",\"headers\":[]},\"response\":\(answer)}"
        // In each exchange, one JSON value is replaced. The URL is always valid.
        let parts = [
            ("\"GET\"", "VALUE"), ("[]", "VALUE"), ("[]", #"[{"name":VALUE,"value":VALUE}]"#), ("200", "VALUE"),
            (header, "VALUE"), (header, #"[{"name":"ETag","value":VALUE}]"#), (content, "VALUE"),
            (content, #"{"text":VALUE}"#), (content, #"{"text":"a { }","mimeType":VALUE}"#),
            (content, #"{"text":"a { }","encoding":VALUE}"#), (content, #"{"text":"a { }","size":VALUE}"#),
            (answer, "VALUE"),
        ]
        var entries = values.flatMap { [$0, "{\"request\":\($0)}", "{\"request\":{\"url\":\($0)}}"] }
        for (number, value) in values.enumerated() {
            for (index, part) in parts.enumerated() {
                let entry = whole.replacing(part.0, with: part.1).replacing("VALUE", with: value)
                entries.append(entry.replacing("URL", with: "https://h/\(index)/\(number).css"))
            }
        }
        let result = try await site.take(HAR.text(of: entries + [HAREntry(url: "https://h/good.css").json]))
        let taken = try site.entries
        #expect(result.status == 0 && result.errors == "" && taken["https://h/good.css"] == "h/good.css")
        // The tool reads "x" as a URL that is not absolute.
        #expect(result.output.contains("x: it is not a complete URL\n"), "\(result.output)")
        #expect(result.output.contains(", \(entries.count + 1 - taken.count) left out\n"), "\(result.output)")
        #expect(taken.count > values.count * 5)
        #expect(try site.files == Set(taken.values) && taken.values.allSatisfy { site.bytes($0)?.isEmpty == false })
        #expect(try await site.check().status == 0)
    }

    // MARK: - Types

    private static let recorded = [
        ("a.css", "text/css", "\"h/a.css\""), ("a.css", "text/css; charset=UTF-8", "\"h/a.css\""),
        // Other names for the type of the file extension.
        ("a.js", "application/javascript; charset=utf-8", "\"h/a.js\""), ("a", "text/x-javascript", "\"h/a.js\""),
        ("a.json", "application/javascript", #"{ "file": "h/a.json", "type": "application/javascript" }"#),
        ("a.php", "text/css", "\"h/a.php.css\""),
        ("a", "application/x-own", #"{ "file": "h/a", "type": "application/x-own" }"#),
        // Without a type, the bytes show it.
        ("a", "x-unknown", "\"h/a.txt\""), ("a.css", "", "\"h/a.css\""), ("a.css", "css", "\"h/a.css\""),
        ("a.css", "*/*", "\"h/a.css\""), ("a.css", "text/css\r\nX: y", "\"h/a.css\""),
        // A body that is recorded as text is written as UTF-8.
        ("a.css", "text/css; charset=iso-8859-1", "\"h/a.css\""),
        ("a.txt", "application/xml; charset=iso-8859-1", #"{ "file": "h/a.txt", "type": "application/xml" }"#),
        ("a", "application/x-own; a=\"b\\\"c\"", #"{ "file": "h/a", "type": "application/x-own; a=\"b\\\"c\"" }"#),
    ]

    @Test("A recorded type that differs from that of the file extension becomes the entry's type", arguments: recorded)
    func types(name: String, type: String, value: String) async throws {
        let (url, text) = ("https://h/\(name)", name.hasSuffix(".json") ? "f(12)\n" : "a { }\n")
        let result = try await site.take([
            HAREntry(url: url, type: nil, text: text, sent: [.init("Content-Type", type)])
        ])
        #expect(result.output == "1 entry with 6 bytes\n" && site.manifest == "{\n  \"\(url)\": \(value)\n}\n")
        #expect(try await site.check().status == 0)
    }

    // MARK: - Files that are broken

    private static let good = HAR.text(HAREntry())

    @Test("Byte order marks do not prevent an import")
    func around() async throws {
        for encoding in [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian] {
            let site = try SiteFolder()
            let recording = try #require("\u{FEFF}\(Self.good)".data(using: encoding))
            let result = try await site.take(recording)
            #expect(result.output == "1 entry with 6 bytes\n", "\(result.errors)")
            #expect(site.bytes("h/a.css") == Data("a { }\n".utf8))
        }
    }

    private static let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
    private static let noRecording = "is not a recording (HAR): "
    private static let noLog = "it has no \"log\" with \"entries\"; in the browser's developer tools choose Network"

    private static let broken: [(Data, String)] = [
        (Data(), "1:1: the file is empty"), (Data([0xEF, 0xBB, 0xBF]), noRecording), (Data(count: 100), noRecording),
        (Data(good.utf8.prefix(100)), "1:101: a quotation mark is missing here"),
        // Half a UTF-16 file, and UTF-8 that is none.
        (Data([0xFF, 0xFE, 0x7B]), noRecording), (Data([0xFF, 0xC3, 0x28, 0x80]), noRecording),
        (Data("<!DOCTYPE html>".utf8), "is a page or a document"), (Data(deep.utf8), noRecording),
        (Data("{\"log\":{\"x\":\(deep),\"entries\":[]}}".utf8), noRecording), (Data("[]".utf8), noLog),
        (Data("{}".utf8), noLog), (Data("{\"log\":{\"entries\":{}}}".utf8), noLog),
    ]

    @Test("A file that is not a recording is refused with a message, and nothing changes", arguments: broken)
    func refused(recording: Data, message: String) async throws {
        let before = try site.listing
        let result = try await site.take(recording)
        #expect(result.status == 1 && result.output == "" && result.errors.hasPrefix("substitute add: \""), "\(result)")
        #expect(try result.errors.contains(message) && site.listing == before, "\(result.errors)")
    }

    private static let invalid = [
        Data("\\ud800".utf8), Data("\\udc00".utf8), Data("\\uDBFF\\uD800\\uDC00".utf8), Data("\\ud800\\u0041".utf8),
        Data("\\\\\\ud83d".utf8), Data([0xFF]), Data([0xC3]), Data([0xED, 0xA0, 0x80]), Data([0xF0, 0x9F, 0x98]),
        Data([0xC0, 0xAF]),
    ]

    @Test("A body with an invalid character is left out, and the other bodies stay intact", arguments: invalid)
    func brokenCharacters(bytes: Data) async throws {
        let whole = "é \u{1F600} \u{FFFD} \\ud800 \\\\ \" \u{10FFFF}"
        let entries = [("a", "before-CUT-after"), ("b", whole)].map { HAREntry(url: "https://h/\($0).css", text: $1) }
        let parts = HAR.text(entries).replacing("\u{1F600}", with: "\\ud83d\\ude00").components(separatedBy: "CUT")
        let result = try await site.take(Data(parts[0].utf8) + bytes + Data(parts[1].utf8))
        let reason = "Left out:\n  1 https://h/a.css: its body was recorded with broken characters\n"
        #expect(result.output == reason + "1 entry with \(whole.utf8.count) bytes, 1 left out\n", "\(result.errors)")
        #expect(try site.files == ["h/b.css"] && site.bytes("h/b.css") == Data(whole.utf8))
    }

    // MARK: - One URL more than once

    @Test("The last of several responses for a URL is imported, and different content is reported")
    func again() async throws {
        let other = ["https://h/other.css", "https://h/other.css", "HTTPS://H:443/%6fther.css"]
        let entries =
            ["https://h/same.css", "https://h/same.css"].map { HAREntry(url: $0) }
            + zip(other, ["1", "2", "3"]).map { HAREntry(url: $0, text: $1) }
        let (late, url) = (HAREntry(url: "https://h/late.css", text: "4"), "https://h/late.css")
        let empty = [HAREntry(url: url, status: "304"), HAREntry(url: url, text: nil)]
        let result = try await site.take(entries + [late] + empty)
        let expected = """
            HTTPS://H:443/%6fther.css: recorded more than once with different content; this is the last
            Left out:
              3, such as https://h/same.css: it was recorded again later
              1 https://h/late.css: its body was not recorded; export the recording with content
            3 entries with 8 bytes, 4 left out

            """
        #expect(result.output == expected)
        #expect(["h/other.css", "h/late.css"].map(site.bytes) == [Data("3".utf8), Data("4".utf8)])
        #expect(try site.files == ["h/same.css", "h/other.css", "h/late.css"])
        #expect(try await site.check().status == 0)
    }

    @Test("The answer to the request for a page is the page, whatever its script asks for later")
    func page() async throws {
        let page = "<!doctype html><title>A page</title>"
        let result = try await site.take([
            HAREntry(url: "https://h/", type: "text/html", text: page, kind: "document"),
            HAREntry(url: "https://h/", type: "application/json", text: "{}", kind: "fetch"),
        ])
        #expect(result.output.contains("with different content; this is the page"), "\(result)")
        #expect(result.output.contains("it was recorded before, as a page"), "\(result)")
        #expect(site.bytes("h/index.html") == Data(page.utf8))
    }

    @Test("A URL that an entry answers is left out, and a second import changes nothing")
    func present() async throws {
        let site = try SiteFolder("{\n\n  \"//h/a.css\": { \"file\": \"a.css\", \"ignoreQuery\": true }\n}\n")
        try site.folder.write("mine\n", to: "a.css")
        let entries = ["https://h/a.css?v=2", "http://h/a.css", "https://h/b.css"].map { HAREntry(url: $0) }
        let result = try await site.take(entries)
        #expect(result.output.contains("  2, such as https://h/a.css?v=2: the entry in line 3 already answers it\n"))
        #expect(try site.files == ["a.css", "h/b.css"] && site.bytes("a.css") == Data("mine\n".utf8))
        let before = try site.listing
        let second = try await site.take(entries)
        #expect(second.output.hasSuffix("0 entries with 0 bytes, 3 left out\n"))
        #expect(second.output.contains("https://h/b.css: the entry in line 4 already answers it\n"))
        #expect(try site.listing == before)
    }

    // MARK: - Names

    @Test("Files whose names differ only in case or Unicode form get numbers and keep their own bytes")
    func collisions() async throws {
        for (path, text) in [("h/own.css", "mine"), ("h/kept.css", "the same")] {
            try site.folder.write(text, to: path)
        }
        let urls = [
            "https://h/own.css", "https://h/kept.css", "https://h/a.css", "https://h/A.css", "https://h/a.css?1",
            "https://h/caf%C3%A9.css", "https://h/cafe%CC%81.css", "https://h/x.css", "https://h/x.css/y.css",
            "https://h/Dir/1.css", "https://h/dir/2.css", "https://h/../../up.css", "https://manifest.json/a.css",
            "https://.substitute/a.css",
        ]
        let entries = urls.map { HAREntry(url: $0, text: $0 == "https://h/kept.css" ? "the same" : $0) }
        let result = try await site.take(entries)
        #expect(result.status == 0 && result.output.contains("\(urls.count) entries with "), "\(result)")
        let taken = try site.entries
        for entry in entries {
            let file = try #require(taken[entry.url], "\(entry.url)")
            #expect(site.bytes(file) == entry.text.map { Data($0.utf8) }, "\(entry.url): \(file)")
        }
        #expect(taken["https://h/kept.css"] == "h/kept.css" && site.bytes("h/own.css") == Data("mine".utf8))
        let names = try site.listing.keys.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        #expect(Set(names.map { $0.precomposedStringWithCanonicalMapping.lowercased() }).count == names.count)
        #expect(try await site.check().status == 0)
    }

    // MARK: - Options

    private static let kinds: [(String, HAREntry)] = [
        ("document", HAREntry(url: "https://h/", type: "text/html", text: "<!DOCTYPE html>")),
        ("stylesheet", HAREntry(url: "https://h/a.css")),
        ("script", HAREntry(url: "https://h/a.js", type: "application/x-javascript", text: "f()")),
        ("image", encoded("a.png", "image/png")),
        ("font", encoded("a.woff2", "application/octet-stream", Data("wOF2".utf8))),
        ("media", encoded("a.mp3", "audio/mpeg", Data("ID3\u{3}".utf8))),
        ("other", HAREntry(url: "https://h/a.json", type: "application/json", text: "{}")),
    ]

    @Test("--only imports only the kinds that it names, in one or several options, and lists them all after a mistake")
    func only() async throws {
        let entries = Self.kinds.map(\.1)
        for (kind, entry) in Self.kinds {
            let site = try SiteFolder()
            let result = try await site.take(entries, "--only", kind)
            #expect(try site.entries.map(\.key) == [entry.url])
            for (other, _) in Self.kinds where other != kind {
                #expect(result.output.contains(": --only leaves out its kind, \(other)\n"), "\(result.output)")
            }
        }
        _ = try await site.take(entries, "--only", "image, FONT", "--only=script")
        #expect(try Set(site.entries.keys) == ["https://h/a.png", "https://h/a.woff2", "https://h/a.js"])
        let result = try await site.take(entries, "--only", "images")
        #expect(result.status == 2 && result.errors.contains("there is no kind \"images\"; the kinds are document, "))
    }

    @Test("--only-host, --exclude and --max-size leave out other servers, URLs with a text, and larger bodies")
    func filters() async throws {
        let urls = [
            "https://h.example/1.css", "https://a.h.example:8080/2.css", "https://other.example/4.css",
            "https://noth.example/3.css", "https://h.example.evil/5.css", "https://h.example/ads/b.css",
            "https://h.example/c.css?track=1&x=2", "https://h.example/d.css?x=2",
        ]
        let entries = urls.map { HAREntry(url: $0, text: String(repeating: "a", count: 1000)) }
        let large = HAREntry(url: "https://h.example/e.css", text: String(repeating: "b", count: 1001))
        let hosts = ["--only-host", "*.h.example", "--only-host=OTHER.example"]
        let others = ["--exclude", "/ads/", "--exclude", "track=*x=", "--max-size", "1kB"]
        let result = try await site.take(Data(HAR.text(entries + [large]).utf8), hosts + others)
        #expect(try Set(site.entries.keys) == [urls[0], urls[1], urls[2], urls[7]], "\(result)")
        for message in [
            "  2, such as https://noth.example/3.css: --only-host leaves out its server\n",
            "\(urls[5]): --exclude \"/ads/\" leaves it out\n", "\(urls[6]): --exclude \"track=*x=\" leaves it out\n",
            "\(large.url): it has 1.0 kB, more than --max-size\n",
        ] { #expect(result.output.contains(message), "\(result.output)") }
        #expect(try await site.take([large], "--only-host", "a b").status == 2)
    }

    @Test("--strip-query lets one entry answer all versions of a path only if their bytes are the same")
    func queries() async throws {
        let bodies = [("a.css?v=1", "a"), ("a.css?v=2", "a"), ("a.css", "a"), ("b.css?v=1", "1"), ("b.css?v=2", "2")]
        let entries = (bodies + [("c.css", "c")]).map { HAREntry(url: "https://h/\($0)", text: $1) }
        let result = try await site.take(entries, "--strip-query")
        let manifest = """
            {
              "https://h/a.css": { "file": "h/a.css", "ignoreQuery": ["v"] },
              "https://h/b.css?v=1": "h/b.css",
              "https://h/b.css?v=2": "h/b-2.css",
              "https://h/c.css": "h/c.css"
            }

            """
        #expect(site.manifest == manifest)
        #expect(result.output.contains("https://h/b.css?v=1: keeps its query, because the content depends on it\n"))
        #expect(try await site.check().status == 0)
    }

    /// The queries of a URL, and the queries of its entries with the parameters that they ignore.
    private static let busters: [([String], [String: String?])] = [
        (["?w=400&v=9"], ["?w=400": "[\"v\"]"]), (["?v=1.2.3"], ["": "[\"v\"]"]), (["?w=400"], ["?w=400": nil]),
        (["?v=dQw4w9WgXcQ"], ["?v=dQw4w9WgXcQ": nil]), (["?t=30"], ["?t=30": nil]),
        (["?_=1700000000123&ver=6.4"], ["": "[\"_\", \"ver\"]"]), (["?ts=1700000000"], ["": "[\"ts\"]"]),
        (["?hash=0a1b2c3d"], ["": "[\"hash\"]"]), (["?id=0a1b2c3d"], ["?id=0a1b2c3d": nil]),
        (["?cb=0.8275"], ["": "[\"cb\"]"]), (["?12345"], ["?12345": nil]), (["?v=1", ""], ["": "[\"v\"]"]),
        (["?id=1", "?id=2"], ["?id=1": nil, "?id=2": nil]), (["?w=400", ""], ["?w=400": nil, "": nil]),
        (["?v=1", "?ver=2"], ["": "[\"v\", \"ver\"]"]),
    ]

    @Test("--strip-query ignores known cache-busters, and nothing else", arguments: busters)
    func cacheBusters(queries: [String], expected: [String: String?]) async throws {
        let result = try await site.take(queries.map { HAREntry(url: "https://h/a.css\($0)") }, "--strip-query")
        #expect(try site.entries.count == expected.count, "\(result)")
        for (query, rule) in expected {
            let key = "\"https://h/a.css\(query)\": "
            // The second entry of a path has a numbered file.
            let line = rule.map { "\(key){ \"file\": \"h/a.css\", \"ignoreQuery\": \($0) }" } ?? "\(key)\"h/a"
            #expect(site.manifest.contains(line), "\(site.manifest)")
        }
        #expect(try await site.check().status == 0)
    }

    @Test("--dry-run prints what would be imported or left out, and changes nothing")
    func dryRun() async throws {
        let before = try site.listing
        let entries = [
            HAREntry(size: "7"), HAREntry(url: "https://h/long/path.css", status: "404"),
            HAREntry(url: "https://h/A.css"), HAREntry(url: "data:," + String(repeating: "x", count: 1_000_000)),
        ]
        let result = try await site.take(entries, "--dry-run")
        let expected = """
            added    https://h/a.css → h/a.css
                     the recording states 7 bytes, but holds 6
            added    https://h/A.css → h/A-2.css
            Left out:
              1 https://h/long/path.css: its server answered 404
              1 data:,\(String(repeating: "x", count: 113))…: "data:" needs no server
            2 entries with 12 bytes, 2 left out
            Nothing was written.

            """
        #expect(result.status == 0 && result.output == expected, "\(result.output.prefix(1000))")
        #expect(try site.listing == before)
    }

    @Test("A recording can be read from standard input, and the manifest is found in its usual folder")
    func standardInput() async throws {
        try site.folder.write("{}", to: "Substitutions/manifest.json")
        try FileManager.default.removeItem(at: site.url.appendingPathComponent("manifest.json"))
        let result = await Tool.run(["add", "-"], input: Data(Self.good.utf8), in: site.url)
        #expect(result.output == "1 entry with 6 bytes\n", "\(result.errors)")
        #expect(site.bytes("Substitutions/h/a.css") == Data("a { }\n".utf8))
        let missing = await Tool.run(["add", "none.har"], in: site.url)
        #expect(missing.status == 1 && missing.errors.hasPrefix("substitute add: \"none.har\" does not exist"))
        let broken = await Tool.run(["add", "-"], input: Data("{".utf8), in: site.url)
        #expect(broken.errors.hasPrefix("substitute add: \"<stdin>\" is not a recording (HAR): <stdin>:1:2: "))
    }

    @Test("--replace takes the files of a recording, and keeps a file that was edited here")
    func replaces() async throws {
        func take(_ text: String, _ options: String...) async throws -> String {
            try await site.take(Data(HAR.text(HAREntry(text: text)).utf8), options).output
        }
        #expect(try await take("a { }") == "1 entry with 5 bytes\n")
        #expect(try await take("b { }").contains("already answers it"))
        #expect(try await take("b { }", "--replace") == "1 entry with 5 bytes\n")
        #expect(site.bytes("h/a.css") == Data("b { }".utf8))
        try site.folder.write("mine { }", to: "h/a.css")
        let kept = try await take("c { }", "--replace")
        #expect(kept.contains("it was edited here") && kept.contains("; --discard-edits replaces it"), "\(kept)")
        #expect(site.bytes("h/a.css") == Data("mine { }".utf8))
        let discarded = try await take("c { }", "--replace", "--discard-edits")
        #expect(site.bytes("h/a.css") == Data("c { }".utf8), "\(discarded)")
        let copies = try #require(discarded.components(separatedBy: "The edited files are in ").last)
        try FileManager.default.removeItem(atPath: String(copies.dropLast(2)))
    }

    // MARK: - Secrets

    @Test("Cookies, passwords and tokens of a recording are neither written nor printed")
    func secrets() async throws {
        let secrets = (0..<14).map { "Sesame\($0)Sesame" }
        let asked: [HAREntry.Field] = [.init("Cookie", "id=\(secrets[0])"), .init("cookie", secrets[1])]
        let keyed: [HAREntry.Field] = [
            .init("X-Api-Key", secrets[2]), .init("Proxy-Authorization", "Basic \(secrets[3])"),
        ]
        let sent: [HAREntry.Field] = [
            .init("Set-Cookie", "id=\(secrets[4]); HttpOnly"), .init("ETag", "\"v1\"\nSet-Cookie: \(secrets[5])"),
            .init("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT\r\nSet-Cookie: \(secrets[6])"),
            .init("Cache-Control", "no-cache"), .init("Content-Type", "text/css\r\nSet-Cookie: \(secrets[7])"),
            .init("Location", secrets[8]),
        ]
        let server = try RemoteSite()
        server.set("/a.css", "a { }\n", type: "text/css")
        let url = "\(server.url)/a.css"
        let cookies = "\"cookies\":[{\"name\":\"a\",\"value\":\"\(secrets[9])\"}],"
        let extended = HAREntry(url: "https://h/b.css").json
            .replacing("\"request\":{", with: "\"request\":{\"_token\":\"\(secrets[10])\",")
            .replacing("\"response\":{", with: "\"response\":{\(cookies)")
        let others = [
            HAREntry(url: url, asked: asked, sent: sent),
            HAREntry(url: "https://h/c.css", asked: [.init("Authorization", "Bearer \(secrets[11])")]),
            HAREntry(url: "https://h/d.css", text: secrets[12], asked: [.init("AUTHORIZATION", "Basic x")]),
            HAREntry(method: "POST", url: "https://h/e.css", text: secrets[13]),
            HAREntry(url: "https://h/f.css", asked: keyed), HAREntry(url: "https://h/g.css", asked: asked),
        ]
        let recording = HAR.text(of: others.map(\.json) + [extended])
        for secret in secrets { #expect(recording.contains(secret)) }
        let result = try await site.take(recording)
        #expect(try site.files == ["\(server.name)/a.css", "h/b.css"])
        #expect(site.manifest == "{\n  \"\(url)\": \"\(server.name)/a.css\",\n  \"https://h/b.css\": \"h/b.css\"\n}\n")
        let record = try #require(site.bytes(".substitute.json"))
        let versions = try JSONDecoder().decode([String: [String: String]].self, from: record)
        #expect(versions.keys.sorted() == [url, "https://h/b.css"])
        #expect(versions["https://h/b.css"]?.keys.sorted() == ["copy"] && versions[url]?["etag"] == "\"v1\"")
        #expect(versions[url]?["lastModified"] == "Thu, 01 Jan 2026 00:00:00 GMT")
        for (path, bytes) in try site.listing {
            for word in ["Sesame", "ookie"] { #expect(bytes.range(of: Data(word.utf8)) == nil, "\(path)") }
            #expect(!path.contains("Sesame"))
        }
        let dry = try await site.take(recording, "--dry-run")
        for printed in [result, dry] { #expect(!(printed.output + printed.errors).contains("Sesame"), "\(printed)") }
    }

    @Test("No text in a recording can control a terminal", arguments: [[], ["--dry-run"]])
    func controls(options: [String]) async throws {
        let evil = "\u{1B}[31m\u{9B}2J\u{202E}\r\n\u{200B}\u{E0041}"
        let urls = ["https://h/\(evil)", "\(evil)://h/", evil, "https://h\u{1B}/a.css"]
        let entries = [
            HAREntry(method: evil), HAREntry(text: "x", encoding: evil), HAREntry(type: "text/css;\(evil)"),
            HAREntry(url: "https://h/%1B%5B31m%E2%80%AE.css", type: "a/\(evil)"), HAREntry(status: evil.inJSON),
        ]
        let recording = HAR.text(urls.map { HAREntry(url: $0) } + entries)
        let result = try await site.take(Data(recording.utf8), options)
        #expect(result.status == 0 && result.output.contains(" left out\n"))
        let raw = (result.output + result.errors).unicodeScalars.filter { scalar in
            scalar != "\n" && (scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value))
                || scalar.value > 0x7F && scalar.properties.generalCategory == .format
        }
        #expect(raw.isEmpty, "\(result.output)")
        #expect(try await site.check().status == 0)
    }

    @Test("A text in UTF-8 replaces no file whose entry has another charset")
    func otherCharset() async throws {
        let type = "text/css; charset=iso-8859-1"
        let site = try SiteFolder("{ \"https://h/a.css\": { \"file\": \"a.css\", \"type\": \"\(type)\" } }")
        try site.folder.write("a { }", to: "a.css")
        for (text, isTaken) in [("/* \u{E9} */", false), ("/* e */", true)] {
            let result = try await site.take([HAREntry(type: type, text: text)], "--replace", "--discard-edits")
            #expect(result.output.contains("its entry says iso-8859-1") != isTaken, "\(result)")
            #expect((site.bytes("a.css") == Data(text.utf8)) == isTaken)
        }
    }

    @Test("Of several URLs that one entry answers, the first replaces its file", arguments: ["a { }\n", "b { }\n"])
    func sameEntry(second: String) async throws {
        let site = try SiteFolder("{ \"https://h/a.css\": { \"file\": \"a.css\", \"ignoreQuery\": true } }")
        try site.folder.write("old", to: "a.css")
        let entries = [HAREntry(url: "https://h/a.css?v=1"), HAREntry(url: "https://h/a.css?v=2", text: second)]
        let result = try await site.take(entries, "--replace", "--discard-edits")
        #expect(result.status == 0 && site.bytes("a.css") == Data("a { }\n".utf8), "\(result)")
        #expect(result.output.contains("another URL of its entry has replaced the file") == (second != "a { }\n"))
    }
}
#endif
