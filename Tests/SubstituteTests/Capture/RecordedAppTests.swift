import Foundation
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import SubstituteKit

/// Tests of the tool's output for a recording that an app has made.
@Suite("Recordings of an app")
struct RecordedAppTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["a.css", "b.css", "offline.html"] { try folder.write("0123456789", to: name) }
        let manifest = """
            {
              "https://h/a.css": "a.css",
              "https://h/b.css": "b.css",
              "https://h/again.css": "b.css",
              "https://h/page": { "file": "offline.html", "when": "offline" }
            }
            """
        try folder.write(manifest, to: "manifest.json")
    }

    /// An entry's method, URL, status, `Cache-Control` field, and members of `_substitution`.
    private typealias Entry = (String, String, Int, String, String)

    /// Writes a recording.
    private func record(_ entries: [Entry]) throws {
        let texts = entries.map { method, url, status, control, answer in
            """
            {"request":{"method":"\(method)","url":"\(url)","headers":[]},"response":{"status":\(status),"headers":[
            {"name":"Cache-Control","value":"\(control)"},{"name":"Content-Type","value":"image/png"}],
            "content":{"size":0}},"_substitution":{\(answer)}}
            """
        }
        try folder.write("{\"log\":{\"entries\":[\(texts.joined(separator: ","))]}}", to: "app.har")
    }

    private func file(_ name: String, _ line: Int, times: Int, url: String? = nil) -> Entry {
        let counts = "\"line\":\(line),\"times\":\(times),\"bytes\":\(10 * times)"
        let answer = "\"answeredBy\":\"file\",\"file\":\"\(name)\",\(counts)"
        return ("GET", url ?? "https://h/\(name)", 200, "max-age=31536000", answer)
    }

    private func network(
        _ url: String,
        _ bytes: Int,
        method: String = "GET",
        status: Int = 200,
        _ control: String = ""
    ) -> Entry {
        let answer = "\"answeredBy\":\"network\",\"bytes\":\(bytes),\"isShortened\":\(url.hasSuffix("?w&sig"))"
        return (method, url, status, control, answer)
    }

    @Test("A list with --used has how often each URL was answered, and which files were never used")
    func list() async throws {
        try record([
            file("a.css", 2, times: 3), file("a.css", 2, times: 1, url: "http://127.0.0.1:1/a.css"),
            network("https://h/b.css", 10),
        ])
        let result = await Tool.run(["preview", "--format", "text", "--used", "app.har"], in: folder.url)
        let expected = """
            4 ×    https://h/a.css      a.css         text/css; charset=utf-8   10 bytes
            never  https://h/b.css      b.css         text/css; charset=utf-8   10 bytes
            never  https://h/again.css  b.css         text/css; charset=utf-8   10 bytes
            never  https://h/page       offline.html  text/html; charset=utf-8  10 bytes  only when "offline"
            4 URLs, 3 files, 30 bytes: 3 texts
            1 file never used, 10 bytes: b.css

            """
        #expect(result.status == 0 && result.output == expected, "\(result)")
        let json = await Tool.run(["preview", "--used", "app.har", "--format", "json"], in: folder.url).output
        #expect(json.split(separator: "\n").map { $0.contains("\"times\":4") } == [true, false, false, false])
    }

    @Test("A list with --used counts the requests of a browser's recording that files would answer")
    func browser() async throws {
        let page = """
            {"log":{"entries":[{"request":{"url":"https://h/a.css"}},{"request":{"url":"https://h/a.css"}},
            {"request":{"url":"https://h/page"}},{"request":{"url":"https://h/b.css","method":"POST"}}]}}
            """
        try folder.write(page, to: "page.har")
        let result = await Tool.run(["preview", "--format", "text", "--used", "page.har"], in: folder.url)
        #expect(result.output.hasPrefix("2 ×    https://h/a.css"), "\(result)")
        #expect(result.output.hasSuffix("1 file never used, 10 bytes: b.css\n"), "\(result)")
        let missing = await Tool.run(["preview", "--format", "text", "--used", "missing.har"], in: folder.url)
        #expect(missing.status == 1 && missing.errors.contains("\"missing.har\""), "\(missing.errors)")
    }

    @Test("explain sorts network loads by what a file would save, and names those that no file can answer")
    func explain() async throws {
        try record([
            file("a.css", 2, times: 2), network("https://h/small.png", 100), network("https://h/small.png", 100),
            network("https://h/a.css", 30), network("https://h/big.png", 5000),
            network("https://h/kept.png", 50, "max-age=31536000, immutable"),
            network("https://h/me.png", 9000, "private"), network("https://h/news", 8000, "no-cache"),
            network("https://h/api", 20, method: "POST"), network("https://h/gone", 20, status: 404),
            network("https://h/signed.png?w&sig", 70),
            ("GET", "https://h/page", 200, "", "\"answeredBy\":\"network\",\"bytes\":1,\"line\":5"),
            ("GET", "https://h/left", 0, "", "\"answeredBy\":\"nobody\",\"ended\":\"cancelled\""),
        ])
        let result = await Tool.run(["explain", "app.har"], in: folder.url)
        let expected = """
            app.har: 14 requests, 2 answered by the app, 20 bytes not loaded

            From the network, with the commands to try:
              1 × https://h/kept.png, 50 bytes, which its server promises not to change
                  https://h/kept.png is not substituted, because no entry names it.
                  substitute add https://h/kept.png
              1 × https://h/big.png, 5.0 kB
                  https://h/big.png is not substituted, because no entry names it.
                  substitute add https://h/big.png
              2 × https://h/small.png, 200 bytes
                  https://h/small.png is not substituted, because no entry names it.
                  substitute add https://h/small.png

            From the network, but the manifest has had entries for them since then:
              1 × https://h/a.css, 30 bytes → a.css

            From the network, where files cannot answer:
              1 × https://h/me.png, 9.0 kB
                  its server forbids shared copies (Cache-Control)
              1 × https://h/news, 8.0 kB
                  its server wants a new request each time
              1 × https://h/signed.png?w&sig, 70 bytes
                  the values of its query were not recorded; record again with hosts: ["h"] in the app
              1 × POST https://h/api, 20 bytes
                  only GET and HEAD are answered with files
              1 × https://h/gone, 20 bytes
                  its server answered 404
              1 × https://h/page, 1 byte
                  its entry asks the network first

            """
        #expect(result.output == expected)
        let json = await Tool.run(["explain", "--format", "json", "app.har"], in: folder.url).output
        #expect(json.hasSuffix("\n") && json.filter { $0 == "\n" }.count == 10, "\(json)")
        #expect(json.prefix { $0 != "\n" }.contains("\"command\":\"substitute add https://h/kept.png\""), "\(json)")
        #expect(await Tool.run(["explain", "--require", "app.har"], in: folder.url).status == 1)
    }

    @Test("Hostile texts in a recording do no harm")
    func hostile() async throws {
        try record([
            ("GET", "https://h/a.css", 200, "max-age=99999999999999999999999", "\"answeredBy\":\"file\""),
            ("GET", "https://h/\\u001b[2Jx", 200, "", "\"answeredBy\":\"network\",\"reason\":\"\\u001b[2J\\u202e\""),
            ("GET", "https://h/b", 200, "", "\"answeredBy\":\"devil\""), ("GET", "", 200, "", "\"answeredBy\":7"),
        ])
        for arguments in [
            ["explain", "app.har"], ["preview", "--format", "text", "--used", "app.har"],
            ["add", "--dry-run", "app.har"],
        ] {
            let result = await Tool.run(arguments, in: folder.url)
            #expect(!result.output.contains("\u{1B}") && !result.output.contains("\u{202E}"))
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    // iOS, tvOS, watchOS and visionOS cannot start processes.
    #if os(macOS) || os(Linux)
    @Test("The article shows the tool's output for the Showcase's recording")
    func article() async throws {
        let showcase = Tool.url.deletingLastPathComponent().appendingPathComponent("Showcase")
        let shown = try await (Program.run(showcase.path, ["--record", "app.har"], in: folder.url)).output
        #expect(shown.contains("Recorded in app.har:\n9 requests, 8 answered by the app, "), "\(shown)")
        let manifest = Repository.folder.appendingPathComponent("Resources/Substitutions").path
        let recording = folder.url.appendingPathComponent("app.har").path
        let page = "Sources/LocalSubstitutionCache/LocalSubstitutionCache.docc/TestingYourApp.md"
        let article = try String(contentsOf: Repository.folder.appendingPathComponent(page), encoding: .utf8)
        for (arguments, count) in [
            (["preview", "--format", "text", "--used", recording, manifest], 3),
            (["explain", manifest, recording], 100),
        ] {
            let output = await Tool.run(arguments, in: folder.url).output.replacing(recording, with: "app.har")
                .replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:8080")
            let last = output.split(separator: "\n", omittingEmptySubsequences: false).suffix(count)
            #expect(article.contains("```text\n\(last.joined(separator: "\n"))```"), "\(output)")
        }
    }
    #endif

    private static let numbers = [
        "\"9223372036854775807\"", "999999999999999", "\"-9223372036854775808\"", "1e300", "\"nan\"",
    ]

    @Test("Numbers that a recording only states crash no command", arguments: numbers)
    func statedNumbers(number: String) async throws {
        let entries = (0..<(Program.isLongRun ? 10_000 : 100)).map { count in
            let answerer = ["network", "file", "archive", "cache", "nobody"][count < 5 ? count : 0]
            let fields = "\"file\":\"a.css\",\"line\":2,\"times\":\(number),\"bytes\":\(number)"
            return ("GET", "https://h/a.css", 200, "", "\"answeredBy\":\"\(answerer)\",\(fields)")
        }
        try record(entries)
        for words in [["explain", "manifest.json", "app.har"], ["preview", "--format", "text", "--used", "app.har"]] {
            let result = await Tool.run(words, in: folder.url)
            #expect(result.status < 2, "\(result)")
        }
    }

    @Test("add takes the bodies of an app's recording, and loads what it names as a whole")
    func importing() async throws {
        let site = try RemoteSite()
        for path in ["/a.css", "/me.css"] { site.set(path, "b { }", type: "text/css", hasVersion: false) }
        func entry(_ url: String, _ answerer: String, _ body: String = "", comment: String = "") -> String {
            """
            {"comment":"\(comment)","request":{"method":"GET","url":"\(url)"},"response":{"status":200,"headers":[
            {"name":"Content-Type","value":"text/css"}],"content":{"size":5\(body)}},
            "_substitution":{"answeredBy":"\(answerer)","isShortened":\(url.hasSuffix("?v&w") || !comment.isEmpty)}}
            """
        }
        let entries = [
            entry("https://h/new.css", "network", ",\"text\":\"a { }\""), entry("https://h/a.css", "file"),
            entry("\(site.url)/a.css", "network"), entry("\(site.url)/a.css", "cache"),
            entry("\(site.url)/a.css?v&w", "network"), entry("\(site.url)/gone.css", "network"),
            entry("https://api.example.com/", "network", comment: "14 requests; its host was not named"),
        ]
        try folder.write("{\"log\":{\"entries\":[\(entries.joined(separator: ","))]}}", to: "app.har")
        let result = await Tool.run(["add", "app.har"], in: folder.url)
        let expected = """
            Left out:
              1 https://h/a.css: the app answered it without the network
              1 \(site.url)/a.css?v&w: the values of its query were not recorded; record again with hosts: ["127.0.0.1"] in the app
              1 https://api.example.com/: 14 requests; its host was not named
              1 \(site.url)/gone.css: its server answers 404
            2 entries with 10 bytes, 4 left out

            """
        #expect(result.output == expected && site.requests().sorted() == ["GET /a.css", "GET /gone.css"])
    }

    @Test("Each card of the preview shows how often its file was used")
    func preview() async throws {
        try record([file("a.css", 2, times: 3), file("b.css", 3, times: 1)])
        let page = await Tool.run(["preview", "--used", "app.har"], in: folder.url).output
        let remarks = page.matches(of: /"(used 3 times|used once|never used)"/).map(\.1)
        #expect(remarks.sorted() == ["never used", "never used", "used 3 times", "used once"])
    }
}
