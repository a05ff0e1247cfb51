// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("No command prints a password", .serialized)
struct PasswordTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("a { }\n", to: "a.css")
    }

    private var manifest: String { folder.url.appendingPathComponent("manifest.json").path }

    /// URLs with a password, in the ways that users write them.
    static let urls = [
        "https://user:s3cr3t@h/a.css", "https://s3cr3t@h/a.css", "HTTPS://User:s3cr3t@H/a.css", "//user:s3cr3t@h/a.css",
        "user:s3cr3t@h/a.css", "https:/user:s3cr3t@h/a.css", "https:\\\\user:s3cr3t@h\\a.css",
        "https://a@b:s3cr3t@h/a.css", "https://user:x/s3cr3t@h/a.css", " https://user:s3cr3t@h/a.css",
        "https://user:s3cr3t@h/a b.css", "https://user:s3cr3t@h/%zz", "https://user:s3cr3t@h/#a",
        "https://user:s3cr3t@h:99999/", "https://user:s3cr3t@h:port/", "https://user:s3cr3t@ü.example/",
        "https://user:s3cr3t@*.h/a.css", "https://user:s3cr3t@h/*", "https://user:s3cr3t@", "ftp://user:s3cr3t@h/a",
        "https://user%3As3cr3t%40h/", "https://user:s3cr3t%40h/a.css", "https://user:s3,cr3t@h/a.css",
        "https://h/a.css?next=https://user:s3cr3t@h/", "https://h/?n=https%3A%2F%2Fuser%3As3cr3t%40h%2F",
        "https://h/a.css?a=user:s3cr3t@h&b= ", "https://h/web/https://user:s3cr3t@h/a.css", "file://user:s3cr3t@h/a",
    ]

    /// Returns manifests that have the URL in different positions.
    static func manifests(_ url: String) -> [String] {
        let text = String(url.inJSON.dropFirst().dropLast())
        return [
            "{ \"URL\": \"a.css\" }", "{ \"URL\": \"a.css\", \"URL\": \"a.css\" }", "{ \"https://h/a\": \"URL\" }",
            "{ \"https://h/a\": { \"file\": \"URL\" } }", "{ \"https://h/a\": { \"file\": \"a.css\", \"URL\": 1 } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"headers\": { \"X-A\": \"URL\" } } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"headers\": { \"URL\": \"a\" } } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"headers\": \"URL\" } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"headers\": \"X-A: URL\" } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"headers\": { \"Access-Control-Allow-Origin\": \"URL\" } } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"headers\": { \"X-A\": \"URL\\n\" } } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"type\": \"URL\" } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"when\": \"URL\" } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"until\": \"URL\" } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"ignoreQuery\": [\"URL\"] } }",
            "{ \"https://h/a\": { \"file\": \"a.css\", \"ignoreQuery\": \"URL\" } }",
            "{ \"$schema\": \"URL\" }", "{ \"$schema\": [\"URL\"] }", "{ \"$URL\": \"a.css\" }", "{ \"URL\": \"b/\" }",
            "{ \"a.css\": \"URL\" }", "{ \"URL\": [\"a.css\"] }", "{ \"https://h/a\": [\"URL\"] }", "{ \"URL\": null }",
            "{ \"URL\": { \"https://h/a\": \"a.css\" } }", "{ \"URL\": \"missing.css\" }", "{ \"URL\": \"./\" }",
            "{ \"URL\": { \"file\": \"a.css\", \"ignoreQuery\": true } }", "{ \"https://h/a\": \"../../URL\" }",
            "{ \"https://h/a\": \"https://h/a\", \"$comment\": \"URL\", }", "{ \"https://h/a\": \"/URL\" }",
            // Invalid JSON.
            "{ URL: \"a.css\" }", "{ \"https://h/a\": URL }", "{ 'URL': 'a.css' }", "{ \"URL: \"a.css\" }",
            "{ \"URL\" \"a.css\" }", "{ \"URL\", \"https://h/a\": \"a.css\" }", "{ \"URL }", "{ URL\": \"a.css\" }",
            "{ \"https://h/a\": \"URL }", "{ \"https://h/a\": URL\" }", "{ \"\u{201C}URL\u{201D}\": \"a.css\" }",
            "URL", "module.exports = \"URL\" {", "{ \u{201C}URL\u{201D}: \"a.css\" }", "{ \"URL\n\": \"a.css\" }",
            "{\n  \"https://h/a\": \"a.css\" // URL\n}", "{ URL }", "{ 1URL: 2URL }", "{ \"https://h/a\": -URL }",
        ].map { $0.replacingOccurrences(of: "URL", with: text) }
    }

    /// Runs a command, and checks that its output does not contain the password.
    private func expectNothing(
        _ arguments: [String],
        input: String? = nil,
        _ about: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let result = await Tool.run(arguments, input: Data((input ?? "").utf8))
        let message = result.output + result.errors
        #expect(
            !message.contains("s3cr3t") && !message.contains("cr3t@"),
            "\(arguments) \(about): \(message)",
            sourceLocation: sourceLocation
        )
    }

    @Test(
        "A password that is longer than the excerpt of a line is hidden, too",
        arguments: ["https://user:", "https:/user:", "user:", "https:\\\\\\\\user:", "https://user:x/"],
        ["text", "json", "github"]
    )
    func long(start: String, format: String) async throws {
        let url = start + String(repeating: "s3cr3t", count: 200) + "@h/a.css"
        try folder.write("{ \"https://h/a.css\": \"\(url)\",\n \"\(url)\": \"missing.css\" }", to: "manifest.json")
        let result = await Tool.run(["check", "--format", format, manifest])
        #expect(result.status == 1)
        #expect(result.output.contains("…@"))
        #expect(!(result.output + result.errors).contains("s3"))
    }

    @Test("A password is hidden wherever a message cuts the text", arguments: Self.urls, ["text", "json", "github"])
    func cut(url: String, format: String) async throws {
        let text = String(url.inJSON.dropFirst().dropLast())
        let entries = stride(from: 150, through: 205, by: Program.isLongRun ? 1 : 5).map { count in
            "\"$\(String(repeating: "a", count: count)) \(text)\": 1"
        }
        try folder.write("{\n\(entries.joined(separator: ",\n"))\n}", to: "manifest.json")
        let result = await Tool.run(["check", "--format", format, manifest])
        #expect(result.status == 1)
        #expect(!(result.output + result.errors).contains("s3"), "\(result.output)")
    }

    @Test("All ways in which the tool writes a message hide a password in it", arguments: Self.urls)
    func sinks(url: String) throws {
        let written = Tool.Written()
        let console = Console(folder: "/", sink: { written.append($1, to: $0) }, source: { .success(Data()) })
        for message in ["\(quoted(url)) is not a URL", "file  \(visible(url)) → a@2x.png", "failed: \(shortened(url))"]
        {
            console.print(message)
            console.printError(message)
            console.printOwn(message)
            for isOwn in [false, true] {
                try console.printJSON(["url": visible(url), "message": message, message: "a"], isOwn: isOwn)
                console.printAnnotation("error", message, title: "bad-url", at: (url, 1, 1), isOwn: isOwn)
            }
            console.printMasked(HTML.escaped(message))
        }
        console.flush()
        let text = written.text(of: .output) + written.text(of: .errors)
        #expect(text.contains("…") && !text.contains("s3cr3t") && !text.contains("cr3t@"), "\(text)")
        let annotations = text.split(separator: "\n").filter { $0.hasPrefix("::") }
        #expect(annotations.count == 6, "\(text)")
        #expect(annotations.allSatisfy { $0.hasPrefix("::error file=") && $0.contains("title=bad-url::") }, "\(text)")
    }

    @Test("The password in a manifest is hidden in every format, whatever the error", arguments: Self.urls)
    func manifest(url: String) async throws {
        let formats = ["text", "json", "github"]
        let commands =
            formats.map { ["check", "--format", $0, manifest] } + [
                ["preview", "--format", "text", manifest], ["preview", "--format", "json", manifest],
                ["preview", "-o", "-", manifest],
                ["explain", manifest, url], ["explain", "--json", manifest, "https://h/b"],
            ]
        for (number, text) in Self.manifests(url).enumerated() {
            try folder.write(text, to: "manifest.json")
            // A short run uses two commands for each manifest. The second command depends on the manifest and on the
            // URL.
            let turn = number + (Self.urls.firstIndex(of: url) ?? 0)
            for command in Program.isLongRun ? commands : [commands[0], commands[turn % commands.count]] {
                await expectNothing(command, text)
            }
        }
    }

    /// Command lines with a URL in each position that can have one.
    private static let commands = [
        "explain|MANIFEST|URL", "explain|--json|MANIFEST|URL", "explain|-H|URL|MANIFEST|https://h/",
        "explain|-m|URL|MANIFEST|https://h/a.css", "explain|--require|MANIFEST|https://h/|URL",
        "explain|-H|X: URL|-H|Authorization: URL|MANIFEST|https://h/a.css", "add|-n|MANIFEST|URL",
        "add|--as|URL|MANIFEST|https://h/", "add|--also-host|URL|https://h/",
        "add|--max-size|URL|MANIFEST|https://h/", "add|-n|MANIFEST|FILE", "add|MANIFEST|URL.har",
        "add|-n|--only|URL|MANIFEST|FILE", "add|-n|--exclude|URL|MANIFEST|FILE",
        "add|-n|--only-host|URL|MANIFEST|FILE", "add|-n|--strip-query|MANIFEST|FILE", "check|URL",
        "check|--format|URL|MANIFEST", "check|--format|json|URL", "preview|--format|text|URL", "preview|--format|URL",
        "update|-n|URL", "update|URL",
        "preview|URL", "extension|URL", "init|--schema|URL", "completions|URL", "init|/dev/null/URL", "URL",
        "help|URL", "explain|URL",
    ]

    @Test("The password in an argument, a list or a recording is hidden", arguments: Self.urls)
    func operands(url: String) async throws {
        try folder.write("{ \"https://h/a.css\": \"a.css\", \"https://h/x/\": \"x/\" }", to: "manifest.json")
        try folder.write("x", to: "x/x.css")
        let recording = HAR.text(
            HAREntry(url: url),
            HAREntry(method: url, url: url),
            HAREntry(url: url, status: "404"),
            HAREntry(url: url, type: url, encoding: url)
        )
        try folder.write(recording, to: "page.har")
        let file = folder.url.appendingPathComponent("page.har").path
        for line in Self.commands {
            await expectNothing(
                line.split(separator: "|").map { word in
                    word.replacingOccurrences(of: "MANIFEST", with: manifest).replacingOccurrences(
                        of: "FILE",
                        with: file
                    )
                    .replacingOccurrences(of: "URL", with: url)
                }
            )
        }
        await expectNothing(["explain", manifest, "-"], input: "\(url)\nhttps://h/a.css\n")
        await expectNothing(["explain", "--json", manifest, "-"], input: recording)
        await expectNothing(["add", "-n", manifest, "-"], input: recording)
    }

    @Test("The password in a manifest is hidden on all pages")
    func pages() async throws {
        let text = """
            {
              "https://h/a.css?next=https://user:s3cr3t@h/": "a.css",
              "https://h/b?next=https://user:s3cr3t@h/": { "file": "a.css", "when": "offline" },
              "https://h/c": { "file": "a.css", "headers": { "X-A": "https://user:s3cr3t@h/" } }
            }
            """
        try folder.write(text, to: "manifest.json")
        let out = try TemporaryFolder()
        let target = out.url.appendingPathComponent("extension").path
        await expectNothing(["extension", manifest, "-o", target])
        await expectNothing(["preview", manifest, "-o", "-"])
        for name in try FileManager.default.subpathsOfDirectory(atPath: target) where name.hasSuffix(".html") {
            let page = try String(contentsOfFile: "\(target)/\(name)", encoding: .utf8)
            #expect(!page.contains("s3cr3t"), "\(name)")
        }
    }

    @Test("The password in a requested URL is hidden")
    func servers() async throws {
        let server = try LoopbackServer { _ in .text("no", status: 404) }
        defer { server.stop() }
        let url = "\(server.url.absoluteString)/a.css?next=https://user:s3cr3t@h/"
        try folder.write("{ \"\(url)\": \"a.css\" }", to: "manifest.json")
        for arguments in [
            ["update", "--dry-run"], ["update", "--dry-run", "--json"], ["update", "-n"], ["update"],
            ["preview", "--outdated", "-o", "-"],
        ] {
            await expectNothing(arguments + [manifest])
        }
        await expectNothing(["add", manifest, "\(url)x", url])
    }

    @Test("The caret marks the error in the line without the password")
    func caret() async throws {
        let url = "https://user:s3cr3t@h/a.css"
        for (text, line, mark) in [
            ("{ \"\(url)\": \"a.css\" }", "{ \"https://…@h/a.css\": \"a.css\" }", "  ^"),
            (
                "{ \"//h/a\": \"a.css\", \"\(url)\": \"b.css\", \"//h/b\": \"c.css\" }", "\"//h/b\": \"c.css\" }",
                "\"c.css\""
            ),
            ("{ \"$comment\": \"user:s3cr3t@h\", \"//h/b\": \"c.css\" }", "…@h\", \"//h/b\": \"c.css\" }", "\"c.css\""),
        ] {
            try folder.write(text, to: "manifest.json")
            let lines = await Tool.run(["check", manifest]).output.components(separatedBy: "\n")
            let index = try #require(lines.lastIndex { $0.hasSuffix(line) }, "\(lines)")
            let column = lines[index + 1].count - 1
            #expect(lines[index + 1].hasSuffix("^"))
            let expected = mark == "  ^" ? 2 : lines[index].count - "\"c.css\" }".count
            #expect(column == expected, "\(lines)")
        }
    }
}
#endif
