// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("substitute explain", .serialized)
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

    private func explain(_ arguments: [String], input: String = "") async throws -> Program.Result {
        await Tool.run(["explain", "manifest.json"] + arguments, input: Data(input.utf8), in: folder.url)
    }

    @Test("The output for a substituted URL has its entry and its file, and the response head is in the JSON")
    func substituted() async throws {
        let result = try await explain(["https://example.com/site.css"])
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "https://example.com/site.css is answered with \"site.css\" (manifest.json:2).",
                "  entry  manifest.json:2: \"https://example.com/site.css\"",
                "  file   site.css, 8 bytes, text/css; charset=utf-8",
            ]
        )
        let json = try await explain(["--format", "json", "https://example.com/site.css"]).output
        #expect(json.contains("\"Accept-Ranges\":\"bytes\"") && json.contains("\"Content-Length\":\"8\""), "\(json)")
    }

    @Test("A URL that the shell has left bare or without a scheme is explained as an app reads it")
    func request() async throws {
        #expect(try await explain([]).status == 2)
        let port = try await explain(["https://example.com:99999/"]).output
        #expect(port.contains("a number up to 65535; write the whole URL that the app loads"), "\(port)")
        #expect(try await explain(["//example.com/site.css"]).output.contains("is answered with \"site.css\""))
    }

    @Test("The folder's manifest is the default, and --require fails if a URL is not substituted")
    func require() async throws {
        let (there, missing) = ("https://example.com/site.css", "https://example.com/site.png")
        func status(_ arguments: [String]) async throws -> Int32 {
            await Tool.run(["explain"] + arguments, in: folder.url).status
        }
        #expect(try await status([there, missing]) == 0)
        #expect(try await status(["--require", there]) == 0)
        #expect(try await status(["--require", there, missing]) == 1)
        #expect(try await status(["--require", "https://example.com/news"]) == 1)
        #expect(try await status(["--require", ".", there]) == 0)
    }

    @Test("JSON has one object per line, with a reason if the URL is not substituted")
    func json() async throws {
        let urls = ["https://example.com/site.css", "http://example.com/site.css", "https://example.com/news", "%%%"]
        let output = try await explain(["--format", "json"] + urls).output
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

    @Test("Each of 300 URLs from standard input is answered")
    func standardInput() async throws {
        let urls = (0..<300).map { "https://example.com/\($0 % 2 == 0 ? "site.css" : "Site.css")?\($0)\n" }
        let result = try await explain(["--format", "json", "-"], input: urls.joined())
        #expect(result.output.split(separator: "\n").count == 300)
    }

    @Test("An empty URL is answered, too, and an entry's header fields cannot control a terminal")
    func oddities() async throws {
        #expect(try await explain([""]).output == "\"\" is not a URL; an app gets nil from URL(string:).\n\n")
        #expect(try await explain(["--format", "json", ""]).output.contains("\"substituted\":false"))
        let manifest = "{ \"https://h/a\": { \"file\": \"site.css\", \"headers\": { \"X-A\": \"\u{202E}\u{9B}\" } } }"
        try folder.write(manifest, to: "manifest.json")
        let output = try await explain(["--format", "json", "https://h/a"]).output
        #expect(output.contains("\"X-A\":\"\\\\u{202E}\\\\u{9B}\""))
    }

    // MARK: - Files

    /// Runs `substitute explain`; an argument that begins with "@" becomes the absolute path of a file in the folder.
    private func call(_ words: String..., input: String? = nil) async -> Program.Result {
        let words = words.map {
            $0.hasPrefix("@") ? folder.url.appendingPathComponent(String($0.dropFirst())).path : $0
        }
        return await Tool.run(["explain"] + words, input: input.map { Data($0.utf8) })
    }

    private static let recording = HAR.text(
        HAREntry(url: "https://example.com/site.css"),
        HAREntry(method: "POST", url: "https://example.com/site.css"),
        HAREntry(url: "https://example.com/site.css"),
        HAREntry(url: "data:,x"),
        HAREntry(url: "https://example.com/other.css")
    )

    @Test(
        "A recording or a list of URLs is recognised by its content, whatever its name",
        arguments: [
            ("recording", recording, "1 of 3 URLs"), ("page.txt", recording, "1 of 3 URLs"),
            ("urls.txt", "https://example.com/site.css\r\n\r\n//example.com/site.css\n", "2 of 3 URLs"),
            ("urls", "\u{FEFF}https://example.com/site.css\nexample.com\n", "1 of 2 URLs"),
        ]
    )
    func files(name: String, text: String, message: String) async throws {
        try folder.write(text, to: name)
        for words in [["@manifest.json"], ["@"]] {
            let result = await call(words[0], "@\(name)")
            #expect(result.status == 0 && result.output.contains("\(message) would come from files"), "\(result)")
            #expect(await call("--require", words[0], "@\(name)").status == 1)
        }
        let both = await call("@manifest.json", "@\(name)", "https://example.com/site.css")
        #expect(both.output.contains(" URLs would come from files, ") && both.errors == "", "\(both)")
    }

    @Test(
        "A file without URLs is reported in a sentence",
        arguments: [
            ("@pages.har", "\" does not exist; did you mean \""),
            ("@Logo.png", "Logo.png\" is neither a recording (HAR) nor a list of URLs, one per line\n"),
            ("@empty.txt", "empty.txt\" is neither a recording"), ("@manifest.json", "it has no \"log\""),
            ("@cut.har", "cut.har:1:41: "), ("@folder", "folder\" is a folder; name a recording"),
            ("-", "the test has no input"),
        ]
    )
    func noQuestions(word: String, message: String) async throws {
        for (name, bytes) in [
            ("page.har", Data(Self.recording.utf8)), ("Logo.png", HAR.png()), ("empty.txt", Data()),
            ("cut.har", Data(Self.recording.utf8.prefix(40))), ("folder/a.txt", Data()),
        ] {
            try folder.write(bytes, to: name)
        }
        let result = await call("@manifest.json", word)
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("substitute explain: ") && result.errors.contains(message), "\(result.errors)")
    }

    @Test("Arguments that are not files are URLs, even without a scheme")
    func words() async throws {
        let words = ["example.com/data.json", "example.com", "localhost:3000/a", "/css/site.css", "https://h/urls.txt"]
        for word in words {
            let result = await call("@manifest.json", word)
            #expect(result.status == 0 && result.output.contains(word), "\(result)")
        }
        #expect(await call("@manifest.json").status == 2)
        #expect(await call("@").status == 2)
        #expect(await call("@missing.json", "https://example.com/").errors.contains("missing.json\" does not exist"))
    }

    // MARK: - Requests of apps and browsers

    /// Texts that `URL(string:)` and browsers may read differently.
    ///
    /// `browser` is the URL that a browser requests; nil if the tool does not mention this URL.
    private static let texts: [(text: String, browser: String?)] = [
        ("https://h/a", nil), ("https://H:443/%61", nil), ("https://h/b/../a", nil), ("https://h/a#part b", nil),
        ("https://h/a b", nil), ("https://h/a|b", nil), ("https://h/[x]", nil), ("https://h/%5Bx%5D", nil),
        ("https://h/caf\u{E9}", nil), ("https://h/a?q=\\x", nil), ("https://h/a?q=%", nil),
        ("http://\u{E9}.com/", nil), ("http://fa\u{DF}.de/", nil), ("http://xn--9ca.com/", nil),
        ("https://user:secret@h/a", nil), ("ftp://h/a", nil), ("example.com/a", nil), ("", nil),
        // As soon as any character needs percent-encoding, Foundation also encodes existing percent signs.
        ("https://h/a b%20c", "https://h/a%20b%20c"), ("https://h/[x]%20", "https://h/%5Bx%5D%20"),
        ("https://h/a|b%7C", "https://h/a%7Cb%7C"), ("https://h/caf\u{E9}/%20", "https://h/caf%C3%A9/%20"),
        ("https://h/a?x=%20|", "https://h/a?x=%20%7C"), ("https://h/a?x='", "https://h/a?x=%27"),
        ("https://h/a\\b", "https://h/a/b"), ("https:\\\\h\\a", "https://h/a"), ("https:h/a", "https://h/a"),
        ("https:///h/a", "https://h/a"), ("https://h/a\tb", "https://h/ab"), (" https://h/a ", "https://h/a"),
        ("https://h /a", nil), ("https://h:99999/a", nil), ("http://1.2.3.4.5/", nil), ("http://[::1/", nil),
        ("http://./", nil),
    ]

    @Test("The verdict agrees with URL(string:) and the cache, and names the URL of a browser if it differs")
    func asTheAppAsks() async throws {
        var manifest: [String: String] = [:]
        for host in [
            "https://h/", "http://xn--9ca.com/", "http://xn--fa-hia.de/", "http://127.0.0.1/", "http://[::1]/",
        ] {
            manifest[host] = "files/"
        }
        for (path, number) in zip(["a", "a b", "a|b", "[x]", "caf\u{E9}", "ab", "a%20b", "index.html"], 1...) {
            try folder.write("\(number)", to: "files/\(path)")
        }
        let keys = [
            "https://h/a%20b%20c", "https://h/a%20b%2520c", "https://h/%5Bx%5D%2520", "https://h/a?q=%5Cx",
            "https://h/a?x=%27", "https://h/a?x=%20%7C", "http://[::7f00:1]/", "http://0x7f.1/",
        ]
        for key in keys { manifest[key] = "site.css" }
        try folder.write(try JSONSerialization.data(withJSONObject: manifest), to: "manifest.json")
        let file = folder.url.appendingPathComponent("manifest.json")
        let cache = try SubstitutionCache(manifest: file)
        let result = await Tool.run(["explain", "--format", "json", file.path] + Self.texts.map(\.text))
        #expect(result.errors == "")
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == Self.texts.count)
        for (line, (text, browser)) in zip(lines, Self.texts) {
            let answer = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let url = URL(string: text)
            let isAnswered = url.map { cache.cachedResponse(for: URLRequest(url: $0)) != nil } ?? false
            #expect(answer["substituted"] as? Bool == isAnswered, "\(answer)")
            #expect(answer["browserURL"] as? String == browser, "\(answer)")
            let reason = try #require(answer["reason"] as? String)
            #expect(reason.contains("A browser asks for") == (browser != nil), "\(reason)")
            #expect(!reason.contains("A browser") || !reason.contains("secret"))
        }
    }

    @Test("A list may have comments, and a named pipe is refused, because it may never end")
    func listsAndPipes() async throws {
        try folder.write("# what the page loads\n\nhttps://h/a.css\n", to: "list.txt")
        let list = await call("@manifest.json", "@list.txt")
        #expect(!list.output.contains("#"), "\(list)")
        let pipe = folder.url.appendingPathComponent("pipe").path
        mkfifo(pipe, 0o600)
        for command in ["explain", "add"] {
            let manifest = folder.url.appendingPathComponent("manifest.json").path
            let result = await Tool.run([command, manifest, pipe])
            #expect(result.status == 1)
            #expect(result.errors.hasSuffix("/pipe\" is not a plain file; name one, or \"-\" for standard input\n"))
        }
    }

    @Test("A sentence explains how the URL that a browser requests instead is answered")
    func browser() async throws {
        let manifest = """
            {
              "https://h/a%20b%20c": "site.css",
              "https://h/n/%5Bx%5D%20": { "file": "site.css", "when": "offline" }
            }
            """
        try folder.write(manifest, to: "manifest.json")
        let message = [
            ("https://h/a b%20c", " A browser asks for https://h/a%20b%20c instead, which \"site.css\" answers.\n"),
            (
                "https://h/n/[x]%20",
                " A browser asks for https://h/n/%5Bx%5D%20 instead, which is loaded from the network, unless "
                    + "\"site.css\" has to answer.\n"
            ),
            ("https://h/[x]%20", " A browser asks for https://h/%5Bx%5D%20 instead, which no file answers.\n"),
        ]
        for (text, sentence) in message {
            let result = await call("@manifest.json", text)
            #expect(result.output.contains(sentence), "\(result.output)")
        }
    }
}
#endif
