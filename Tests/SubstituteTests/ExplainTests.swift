// iOS and its relatives start no processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("substitute explain")
struct ExplainTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("body { }", to: "site.css")
        let manifest = """
            {
              "https://example.com/site.css": "site.css",
              "https://example.com/news": { "file": "site.css", "when": "offline" }
            }
            """
        try folder.write(manifest, to: "manifest.json")
    }

    private func explain(_ arguments: [String], input: String = "") async throws -> Tool.Result {
        try await Tool.run(["explain", "manifest.json"] + arguments, input: Data(input.utf8), in: folder.url)
    }

    @Test("A substituted URL gets its entry, its file and the whole head")
    func substituted() async throws {
        let result = try await explain(["https://example.com/site.css"])
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(5) == [
                "https://example.com/site.css is answered with \"site.css\" (manifest.json:2).",
                "  entry  manifest.json:2: \"https://example.com/site.css\"", "  file   site.css, 8 bytes",
                "  HTTP/1.1 200",
                "  Accept-Ranges: bytes",
            ]
        )
        #expect(lines.contains("  Content-Type: text/css; charset=utf-8"))
        #expect(lines.contains("  Content-Length: 8"))
    }

    @Test("Method and headers are those of the request")
    func request() async throws {
        let url = "https://example.com/site.css"
        #expect(try await explain(["-H", "Range: bytes=0-3", url]).output.contains("HTTP/1.1 206\n"))
        #expect(
            try await explain(["--header=Range: bytes=0-3", "--method", "HEAD", url]).output.contains("HTTP/1.1 200\n")
        )
        #expect(try await explain(["-mPOST", url]).output.contains("because its method is \"POST\""))
        #expect(try await explain(["-H", "Authorization: x", url]).output.contains("but only in sessions to which"))
        #expect(try await explain(["-H", "nonsense", url]).status == 2)
        #expect(try await explain([]).status == 2)
        #expect(try await explain(["//example.com/site.css"]).output.contains("is answered with \"site.css\""))
    }

    @Test("Without a manifest the one of this folder is taken, and --require fails when a URL is not substituted")
    func require() async throws {
        let (there, missing) = ("https://example.com/site.css", "https://example.com/site.png")
        func status(_ arguments: [String]) async throws -> Int32 {
            try await Tool.run(["explain"] + arguments, in: folder.url).status
        }
        #expect(try await status([there]) == 0)
        #expect(try await status([there, missing]) == 0)
        #expect(try await status(["--require", there]) == 0)
        #expect(try await status(["--require", there, missing]) == 1)
        #expect(try await status(["-r", "https://example.com/news"]) == 1)
        #expect(try await status(["-r", "manifest.json", there]) == 0)
        #expect(try await status(["-r", ".", there]) == 0)
    }

    @Test("JSON has one object a line, with a reason for what is not substituted")
    func json() async throws {
        let urls = ["https://example.com/site.css", "http://example.com/site.css", "https://example.com/news", "%%%"]
        let output = try await explain(["--json"] + urls).output
        let objects = try output.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["substituted"] as? Bool } == [true, false, false, false])
        #expect(objects.map { $0["status"] as? Int } == [200, nil, nil, nil])
        #expect(objects.map { $0["file"] as? String } == ["site.css", nil, "site.css", nil])
        #expect((objects[0]["headers"] as? [String: String])?["Content-Length"] == "8")
        #expect((objects[1]["reason"] as? String)?.contains("differs in the scheme") == true)
        #expect(objects.map { $0["url"] as? String } == urls)
    }

    @Test("URLs are read from standard input, 20,000 of them in time")
    func standardInput() async throws {
        let urls = (0..<20_000).map { "https://example.com/\($0 % 2 == 0 ? "site.css" : "Site.css")?\($0)\n" }
        let result = try await explain(["--json", "-"], input: urls.joined())
        #expect(result.output.split(separator: "\n").count == 20_000)
    }

    @Test("No URL is passed over, and what an entry adds cannot steer a terminal")
    func oddities() async throws {
        #expect(try await explain([""]).output == "\"\" is not a URL.\n\n")
        #expect(try await explain(["--json", ""]).output.contains("\"substituted\":false"))
        let manifest = "{ \"https://h/a\": { \"file\": \"site.css\", \"headers\": { \"X-A\": \"\u{202E}\u{9B}\" } } }"
        try folder.write(manifest, to: "manifest.json")
        for format in [["--json"], []] {
            let output = try await explain(format + ["https://h/a"]).output
            #expect(output.contains(format.isEmpty ? "X-A: \\u{202E}\\u{9B}" : "\"X-A\":\"\\\\u{202E}\\\\u{9B}\""))
        }
    }

    @Test("A manifest with errors is reported on standard error")
    func wrongManifest() async throws {
        try folder.write("{", to: "manifest.json")
        let result = try await explain(["https://example.com/"])
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("manifest.json:1:2: error: "))
    }
}
#endif
