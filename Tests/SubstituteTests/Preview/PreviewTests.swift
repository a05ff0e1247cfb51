// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteCheckKit
@testable import SubstituteKit

@Suite("substitute preview", .serialized)
struct PreviewTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let sample = Repository.folder.appendingPathComponent("Resources/Substitutions")
        try FileManager.default.copyItem(at: sample, to: folder.url.appendingPathComponent("Sub stitutions"))
    }

    /// Returns the data that a page's script shows.
    private func data(of page: String) throws -> [String: Any] {
        let start = try #require(page.range(of: "id=\"data\">"))
        let json = page[start.upperBound...].prefix { $0 != "<" }
        return try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    /// Returns the data of the page that a command line prints.
    private func data(_ words: [String]) async throws -> [String: Any] {
        try data(of: await Tool.run(["preview"] + words, in: folder.url).output)
    }

    private func rows(_ data: [String: Any]) throws -> [[String: Any]] {
        try #require(data["rows"] as? [[String: Any]])
    }

    @Test("In a browser, thumbnails load, the filter works, and any text is shown as text", .startsChromium)
    func inBrowser() async throws {
        let browser = try await DrivenChromium()
        defer { browser.stop() }
        func open(_ manifest: String) async throws {
            let preview = await Tool.run(["preview", manifest, "--output=preview.html"], in: folder.url)
            #expect(preview.status == 0 && preview.errors == "" && preview.output.hasPrefix("preview.html shows "))
            try await browser.open(folder.url.appendingPathComponent("preview.html").absoluteString)
        }
        try await open("Sub stitutions/manifest.json")
        let facts = """
            const images = [...document.querySelectorAll("img:first-child")];
            for (const image of images) image.loading = "eager";
            await Promise.all(images.map(image => image.decode().catch(() => {})));
            const shown = () => [...document.querySelectorAll(".card")].filter(card => !card.hidden).length;
            const set = (selector, value) => {
              const field = document.querySelector(selector);
              field.value = value;
              field.dispatchEvent(new Event("input", { bubbles: true }));
              return shown();
            };
            const search = "input[type=search]", kind = "[name=kind]";
            return [
              shown(), images.length, images.filter(image => !image.naturalWidth).length,
              set(search, "FERRY svg"), set(search, "no such thing"), set(search, ""),
              set(kind, "image"), set(kind, ""), document.querySelector(".filter").hidden, document.title,
            ].join();
            """
        let title = "What ships: Sub stitutions/manifest.json"
        #expect(try await browser.run(facts) == "10,7,0,1,0,10,7,10,false,\(title)")
        #expect(browser.complaints == [])

        let script = "<script>document.title='stolen'</script>"
        let files = [
            "\"><img src=x onerror=alert(1)>.png", "javascript:alert(1).png", "</style><script>x<.ttf", "a'b&c.txt",
        ]
        for file in files { try folder.write(script, to: "hostile/\(file)") }
        let manifest: [String: Any] = [
            "$comment": script,
            "https://h/f/": "./",
            "https://h/\(script)": ["file": files[0], "headers": ["X-A": script, "X-B": "\"><b>"]],
            "https://h/2": ["file": files[1], "type": "text/html; x=\"\(script)\"", "ignoreQuery": ["<b>\"'"]],
            "https://h/3": ["file": script, "\(script)": 1, "when": script, "until": "\"><\(script)"],
            "javascript:alert(1)": "javascript:alert(1)",
        ]
        try folder.write(JSONSerialization.data(withJSONObject: manifest, options: .sortedKeys), to: "hostile/<b>.json")
        try await open("hostile/<b>.json")
        // The second script is the data.
        let counts = """
            return [
              document.scripts.length, document.querySelectorAll("[onerror],[onload],[onclick]").length,
              [...document.links].filter(link => !/^file:|^#/.test(link.href)).length, document.title,
            ].join();
            """
        #expect(try await browser.run(counts) == "2,0,0,Nothing ships: hostile/<b>.json")
        let text = try await browser.text("document.body.textContent")
        #expect(text.contains("X-A: \(script)") && text.contains("\"><img src=x onerror=alert(1)>.png"))
    }

    @Test("The addresses of files are relative to the page")
    func addresses() async throws {
        try folder.write("", to: "out/deep/x")
        for (output, start) in [("preview.html", "./"), ("out/p.html", "../"), ("out/deep/p.html", "../../")] {
            let result = await Tool.run(["preview", "-o", output, "Sub stitutions/manifest.json"], in: folder.url)
            #expect(result.status == 0)
            let page = try String(contentsOf: folder.url.appendingPathComponent(output), encoding: .utf8)
            let address = "\(start)Sub%20stitutions/img/header.svg"
            #expect(try rows(data(of: page)).contains { $0["address"] as? String == address }, "\(output)")
        }
    }

    @Test("A manifest with errors still gets a page, with the issues on top and links to their entries")
    func issuesOnTop() async throws {
        let entries = [
            #""https://h/a": "a.css""#, #""https://h/b": { "file": "a.css", "colour": "red" }"#,
            #""https://h/c": "gone.css""#,
        ]
        try folder.write("{\n  \(entries.joined(separator: ",\n  "))\n}", to: "wrong/manifest.json")
        try folder.write("x", to: "wrong/a.css")
        let page = try await data(["wrong/manifest.json"])
        let issues = try #require(page["issues"] as? [[String: Any]])
        #expect(issues.map { "\($0["line"] ?? 0):\($0["column"] ?? 0)" } == ["3:37", "4:18"])
        #expect(issues.allSatisfy { $0["severity"] as? String == "error" })
        #expect((issues[1]["message"] as? String)?.hasPrefix("\"gone.css\" does not exist") == true)
        #expect(issues[1]["excerpt"] as? [String] == ["  \"https://h/c\": ", "\"", "gone.css\""])
        #expect(page["isRefused"] as? Bool == true && page["entries"] as? [[Int]] == [[2, 3], [3, 3], [4, 3]])
        #expect(try rows(page).map { $0["line"] as? Int } == [2, 3])
    }

    @Test("With an error, the page says that nothing ships, and what will ship once it is fixed")
    func nothingShips() async throws {
        try folder.write("x", to: "wrong/a.css")
        let entries = #""https://h/a": "a.css""#
        try folder.write("{ \(entries) }", to: "wrong/manifest.json")
        let manifest = folder.url.appendingPathComponent("wrong/manifest.json").path
        let right = try await data([manifest])
        #expect(right["heading"] as? String == "What ships" && right["isRefused"] as? Bool == false)
        #expect(right["summary"] as? [String] == ["1 URL, 1 file, 1 byte: 1 text"])

        try folder.write("{ \(entries), \"https://h/b\": \"b.css\" }", to: "wrong/manifest.json")
        let page = folder.url.appendingPathComponent("page.html")
        let message = await Tool.run(["preview", manifest, "-o", page.path])
        let refusal = "1 error, and an app refuses the whole manifest."
        let fixed = "Once it is fixed, at least this ships: 1 URL, 1 file, 1 byte: 1 text"
        #expect(message.output == "\(page.path) shows that nothing ships: \(refusal) \(fixed)\n")
        let html = try String(contentsOf: page, encoding: .utf8)
        let wrong = try data(of: html)
        #expect(html.contains("<title>Nothing ships: ") && wrong["heading"] as? String == "Nothing ships")
        #expect(wrong["summary"] as? [String] == [refusal, fixed])

        try folder.write("{ \"https://h/b\": \"b.css\", \"https://h/c\": 1 }", to: "wrong/manifest.json")
        let nothing = try await data([manifest])["summary"] as? [String]
        #expect(nothing == ["2 errors, and an app refuses the whole manifest."])
    }

    @Test("A page without a file says what to do next, and has nothing to filter")
    func emptyPage() async throws {
        try folder.write("{}", to: "empty/manifest.json")
        let next = "add --in-browser https://example.com/\nsubstitute add https://example.com/css/site.css"
        #expect(try await data(["empty"])["next"] as? String == "substitute \(next)")
        let environment = ["SUBSTITUTE_VERB": "substitute"]
        let plugin = await Tool.run(["preview", "empty"], in: folder.url, environment: environment)
        #expect(plugin.output.contains("swift package substitute-edit add https://example.com/css/site.css"))
        try folder.write("{ \"https://h/a\": \"gone.css\" }", to: "empty/manifest.json")
        #expect(try await data(["empty"])["next"] == nil)
    }

    @Test("A page loads nothing from other servers, and only one that stays here contains the manifest's path")
    func handedOn() async throws {
        let manifest = folder.url.appendingPathComponent("Sub stitutions/manifest.json")
        let page = folder.url.appendingPathComponent("page.html")
        _ = await Tool.run(["preview", manifest.path, "--output", page.path])
        let printed = await Tool.run(["preview", manifest.path]).output
        for html in [try String(contentsOf: page, encoding: .utf8), printed] {
            #expect(try data(of: html)["manifest"] == nil)
            #expect(!html.contains("Sub%20stitutions/manifest.json"))
            let start = try #require(html.range(of: "Content-Security-Policy\" content=\""))
            let policy = html[start.upperBound...].prefix { $0 != "\"" }
            #expect(policy.hasPrefix("default-src 'none'; ") && !policy.contains("http") && !policy.contains("*"))
            #expect(!html.contains("src=\"http") && !html.contains("href=\"http"))
        }
        let check = ManifestCheck(try Tool.manifest(manifest.path), on: Date())
        let addresses = PreviewPage.addresses(in: folder.url, from: folder.url)
        let mine = PreviewPage(check: check, tool: ToolName([:]), editable: manifest, address: addresses)
        let allowed = CharacterSet.urlPathAllowed.subtracting(["+", ":", "'"])
        let path = try #require(manifest.path.addingPercentEncoding(withAllowedCharacters: allowed))
        #expect(path.hasPrefix("/") && path.hasSuffix("/Sub%20stitutions/manifest.json"))
        #expect(try data(of: mine.page().html)["manifest"] as? String == path)
    }

    @Test("A preview that cannot be written is reported, and no file is lost")
    func failures() async throws {
        let manifest = "Sub stitutions/manifest.json"
        try folder.write("", to: "folder/file")
        for output in ["no/such/page.html", "folder", ""] {
            let result = await Tool.run(["preview", manifest, "-o", output], in: folder.url)
            let sentence = "substitute preview: \"\(output)\" cannot be written; "
            #expect(result.status == 1 && result.errors.hasPrefix(sentence))
        }
        for output in [manifest, "./Sub stitutions/img/../index.html", "Sub stitutions/new.html"] {
            let result = await Tool.run(["preview", manifest, "-o", output], in: folder.url)
            #expect(result.status == 2 && result.errors.contains("lies in the manifest's folder"))
        }
        #expect(await Tool.run(["check", manifest], in: folder.url).status == 0)
    }

    @Test("Text is shown in lines, whatever ends them, and is never cut inside a character")
    func text() async throws {
        try folder.write("{ \"https://h/\": \"./\" }", to: "text/manifest.json")
        try folder.write("one {\r\n\ttwo;\r\n}\r\n", to: "text/crlf.css")
        try folder.write(String(repeating: "日本語", count: 1000), to: "text/long.txt")
        let page = try await data(["text/manifest.json"])
        let pairs = try rows(page).map { ($0["file"] as? String ?? "", $0["sample"] as? String ?? "") }
        let samples = Dictionary(uniqueKeysWithValues: pairs)
        #expect(samples["crlf.css"] == "one {\n    two;\n}\n")
        // A text without line breaks fills its card, too: at least 600 characters of the text are shown.
        let long = try #require(samples["long.txt"])
        #expect(long.hasPrefix(String(repeating: "日本語", count: 200)) && !long.contains("\u{FFFD}"))
    }

    @Test("In a terminal, a list is printed instead of the page")
    func terminal() async throws {
        let words = ["preview", "Sub stitutions"]
        let list = await Tool.run(words + ["--format", "text"], in: folder.url)
        #expect(await Tool.run(words, in: folder.url, terminals: [.output]).output == list.output)
        for words in [words, words + ["-o", "-"]] {
            #expect(await Tool.run(words, in: folder.url).output.hasPrefix("<!doctype html>"))
        }
    }
}
#endif
