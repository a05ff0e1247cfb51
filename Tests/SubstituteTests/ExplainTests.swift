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

    /// Runs `substitute explain`; an argument that begins with "@" becomes the absolute path of a file in the folder.
    private func call(_ words: String..., input: String? = nil) async -> Program.Result {
        let words = words.map {
            $0.hasPrefix("@") ? folder.url.appendingPathComponent(String($0.dropFirst())).path : $0
        }
        return await Tool.run(["explain"] + words, input: input.map { Data($0.utf8) })
    }

    /// Returns the objects that `substitute explain` prints as JSON.
    private func objects(_ words: [String], in place: URL = Repository.folder) async throws -> [[String: Any]] {
        let result = await Tool.run(["explain", "--format", "json"] + words, in: place)
        #expect(result.errors == "")
        return try result.output.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test("JSON has one object per line, with a reason if the URL is not substituted, and cannot control a terminal")
    func json() async throws {
        let urls = ["https://example.com/site.css", "http://example.com/site.css", "https://example.com/news", "%%%"]
        let objects = try await objects(["manifest.json"] + urls, in: folder.url)
        #expect(objects.map { $0["substituted"] as? Bool } == [true, false, false, false])
        #expect(objects.map { $0["status"] as? Int } == [200, nil, nil, nil])
        #expect(objects.map { $0["file"] as? String } == ["site.css", nil, "site.css", nil])
        let headers = try #require(objects[0]["headers"] as? [String: String])
        #expect(headers["Content-Length"] == "8" && headers["Accept-Ranges"] == "bytes")
        #expect((objects[1]["reason"] as? String)?.contains("differs in the scheme") == true)
        #expect(objects.map { $0["url"] as? String } == urls)
        for url in urls.dropLast() {
            let status = await Tool.run(["explain", "--require", url], in: folder.url).status
            #expect(status == (url == urls[0] ? 0 : 1), "\(url)")
        }
        #expect(await call("@manifest.json", "").output == "\"\" is not a URL; an app gets nil from URL(string:).\n\n")
        let manifest = "{ \"https://h/a\": { \"file\": \"site.css\", \"headers\": { \"X-A\": \"\u{202E}\u{9B}\" } } }"
        try folder.write(manifest, to: "manifest.json")
        let output = await call("--format", "json", "@manifest.json", "https://h/a").output
        #expect(output.contains("\"X-A\":\"\\\\u{202E}\\\\u{9B}\""))
    }

    // MARK: - Files

    private static let recording = HAR.text(
        HAREntry(url: "https://example.com/site.css"),
        HAREntry(method: "POST", url: "https://example.com/site.css"),
        HAREntry(url: "https://example.com/site.css"),
        HAREntry(url: "data:,x"),
        HAREntry(url: "https://example.com/other.css")
    )

    private static let sources = [
        ("recording", recording, "1 of 3 URLs"), ("page.txt", recording, "1 of 3 URLs"),
        ("urls.txt", "# a\r\nhttps://example.com/site.css\r\n\r\n//example.com/site.css\n", "2 of 3 URLs"),
        ("urls", "\u{FEFF}https://example.com/site.css\nexample.com\n", "1 of 2 URLs"),
    ]

    @Test("A recording or a list of URLs is recognised by its content, whatever its name", arguments: sources)
    func files(name: String, text: String, message: String) async throws {
        try folder.write(text, to: name)
        for words in [["@manifest.json", "@\(name)"], ["@", "@\(name)"], ["@", "-"]] {
            let result = await call(words[0], words[1], input: text)
            #expect(result.status == 0 && result.output.contains("\(message) would come from files"), "\(result)")
            #expect(await call("--require", words[0], words[1], input: text).status == 1)
        }
        let both = await call("@manifest.json", "@\(name)", "https://example.com/site.css")
        #expect(both.output.contains(" URLs would come from files, ") && both.errors == "", "\(both)")
    }

    private static let unusable = [
        ("@pages.har", "\" does not exist; did you mean \""), ("-", "the test has no input"),
        ("@Logo.png", "Logo.png\" is neither a recording (HAR) nor a list of URLs, one per line\n"),
        ("@empty.txt", "empty.txt\" is neither a recording"), ("@manifest.json", "it has no \"log\""),
        ("@cut.har", "cut.har:1:41: "), ("@folder", "folder\" is a folder; name a recording"),
        ("@pipe", "/pipe\" is not a plain file; name one, or \"-\" for standard input\n"),
    ]

    @Test("A file without URLs, or a pipe, which may never end, is reported in a sentence", arguments: unusable)
    func noQuestions(word: String, message: String) async throws {
        let files = [
            "page.har": Data(Self.recording.utf8), "Logo.png": HAR.png(), "empty.txt": Data(), "folder/a.txt": Data(),
            "cut.har": Data(Self.recording.utf8.prefix(40)),
        ]
        for (name, bytes) in files { try folder.write(bytes, to: name) }
        mkfifo(folder.url.appendingPathComponent("pipe").path, 0o600)
        let result = await call("@manifest.json", word)
        #expect(result.status == 1 && result.output == "", "\(result)")
        #expect(result.errors.hasPrefix("substitute explain: ") && result.errors.contains(message), "\(result.errors)")
    }

    @Test("Arguments that are not files are URLs, even without a scheme or as a shell has left them")
    func words() async throws {
        let words: [(String, String?)] = [
            ("example.com/data.json", nil), ("example.com", nil), ("localhost:3000/a", nil), ("/css/site.css", nil),
            ("https://h/urls.txt", nil), ("//example.com/site.css", "is answered with \"site.css\""),
            ("https://example.com:99999/", "a number up to 65535; write the whole URL that the app loads"),
        ]
        for (word, message) in words {
            let result = await call("@manifest.json", word)
            #expect(result.status == 0 && result.output.contains(message ?? word), "\(result)")
        }
        for word in ["@manifest.json", "@"] { #expect(await call(word).status == 2) }
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
        var manifest: [String: Any] = ["https://h/a%7Cb%7C": ["file": "site.css", "when": "offline"]]
        let hosts = [
            "https://h/", "http://xn--9ca.com/", "http://xn--fa-hia.de/", "http://127.0.0.1/", "http://[::1]/",
        ]
        for host in hosts { manifest[host] = "files/" }
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
        let answers = try await objects([file.path] + Self.texts.map(\.text))
        try #require(answers.count == Self.texts.count)
        for (answer, (text, browser)) in zip(answers, Self.texts) {
            let url = URL(string: text)
            let isAnswered = url.map { cache.cachedResponse(for: URLRequest(url: $0)) != nil } ?? false
            #expect(answer["substituted"] as? Bool == isAnswered, "\(answer)")
            #expect(answer["browserURL"] as? String == browser, "\(answer)")
            let reason = try #require(answer["reason"] as? String)
            #expect(reason.contains("A browser asks for") == (browser != nil), "\(reason)")
            #expect(!reason.contains("A browser") || !reason.contains("secret"))
        }
        let reasons = answers.compactMap { $0["reason"] as? String }
        let unless = "is loaded from the network, unless \"site.css\" has to answer"
        for clause in ["\"site.css\" answers", "no file answers", unless] {
            #expect(reasons.contains { $0.contains(" instead, which \(clause).") }, "\(clause)")
        }
    }
}
#endif
