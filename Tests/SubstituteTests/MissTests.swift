// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@Suite("Misses and the commands that add them", .serialized)
struct MissTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer { request in
            let type = request.path.hasSuffix(".css") ? "text/css" : "text/html"
            return LoopbackServer.Response(headers: ["Content-Type": type], body: Data("h1 { }".utf8))
        }
        folder = try TemporaryFolder()
        let manifest = """
            {
              "http://localhost:\(port)/known.css": "known.css",
              "http://localhost:\(port)/known.css?v=1": "known.css",
              "http://localhost:\(port)/folder/": "folder/"
            }
            """
        try folder.write("h1 { }", to: "known.css")
        try folder.write("h1 { }", to: "folder/a.css")
        try folder.write(manifest, to: "manifest.json")
    }

    private var port: Int { server.url.port ?? 0 }

    /// URLs on the server, in which PORT is its port.
    static let urls = [
        "http://localhost:PORT", "http://localhost:PORT/#!/x", "http://127.0.0.1:PORT/a.css",
        "http://LOCALHOST:PORT/Case.css", "http://localhost:PORT/it's.css", "http://localhost:PORT/%22double%22.css",
        "http://localhost:PORT/a.css?x=1&y=2", "http://localhost:PORT/a.css?x=a%7Cb",
        "http://localhost:PORT/a.css?family=Lato|Inter", "http://localhost:PORT/load.css?load[]=a&load[]=b",
        "http://localhost:PORT/caf\u{E9}.css", "http://localhost:PORT/caf%C3%A9/x.css",
        "http://localhost:PORT/100%25.css", "http://localhost:PORT/a b.css", "http://localhost:PORT/$HOME/`id`.css",
        "http://localhost:PORT/$(id);x!y.css", "http://localhost:PORT/a-b(c)~d.css",
        "http://localhost:PORT/a+b,c;d=e@f:g.css", "http://localhost:PORT/??a.css,b.css",
        "http://localhost:PORT/a//b.css", "http://localhost:PORT/{x}^y.css", "http://localhost:PORT/known.css?v=2",
        "http://localhost:PORT/folder/sub/new%2C1.css", "http://localhost:PORT/_next/image?url=%2Fa.png&w=640",
        "http://localhost:PORT/-r", "http://localhost:PORT/a#b.css", "http://localhost:PORT/folder/.well-known/x.css",
    ]

    /// Runs a line as a shell reads it, with the tool in the search path.
    private func shell(_ line: String) async throws -> Program.Result {
        let path = Tool.url.deletingLastPathComponent().path + ":/usr/bin:/bin"
        return try await Program.run("/bin/sh", ["-c", line], in: folder.url, environment: ["PATH": path])
    }

    @Test("The command that explain prints adds the URL, check finds nothing, and the file answers", arguments: urls)
    func command(url: String) async throws {
        let url = url.replacingOccurrences(of: "PORT", with: "\(port)")
        let missed = await Tool.run(["explain", url], in: folder.url)
        let found = missed.output.firstMatch(of: /\n  (?:Try|Or try): (.*)\n/)
        let command = try #require(found, "\(missed)").output.1
        let added = try await shell(String(command))
        #expect(added.status == 0 && added.output.hasPrefix("added "), "\(command): \(added)")
        let check = try await shell("substitute check --strict")
        #expect(check.status == 0 && check.errors == "", "\(check)")
        let hit = await Tool.run(["explain", "--require", url], in: folder.url)
        #expect(hit.status == 0 && !hit.output.contains(": substitute add"), "\(hit)")
    }

    @Test("The command names the manifest as the user did, unless a search finds it")
    func manifest() async throws {
        let app = "App's files"
        try folder.write("{}", to: "\(app)/manifest.json")
        let url = "http://localhost:\(port)/a.css"
        for (operands, expected) in [
            ([], "substitute add \(url)"), (["manifest.json"], "substitute add \(url)"),
            (["."], "substitute add \(url)"),
            ([app], "substitute add 'App'\\''s files' \(url)"),
        ] as [([String], String)] {
            let result = await Tool.run(["explain"] + operands + [url], in: folder.url)
            #expect(result.output.contains("  Try: \(expected)\n"), "\(result)")
        }
        // Servers that the tests cannot have.
        for (url, word) in [
            ("http://[::1]:8080/a.css", "'http://[::1]:8080/a.css'"), ("https://h./a.css", "https://h./a.css"),
            ("//h/a.css", "https://h/a.css"),
        ] {
            let result = await Tool.run(["explain", url], in: folder.url)
            #expect(result.output.contains("  Try: substitute add \(word)\n"), "\(result)")
        }
        #expect(try await shell("substitute add 'App'\\''s files' \(url)").status == 0)
        #expect(await Tool.run(["explain", "--require", app, url], in: folder.url).status == 0)
        let plugin = await Tool.run(["explain", url], in: folder.url, environment: ["SUBSTITUTE_VERB": "substitute"])
        #expect(plugin.output.contains("  Try: swift package substitute-edit add \(url)\n"), "\(plugin)")
    }

    @Test("Where no command can add a URL, the reason is printed without one")
    func noCommand() async throws {
        let site = "http://localhost:\(port)"
        func entry(
            _ url: String,
            method: String = "GET",
            status: Int = 200,
            _ more: String = "",
            control: String = "public"
        ) -> String {
            """
            {"request":{"method":"\(method)","url":"\(url)","headers":[\(more)]},"response":{"status":\(status),
            "headers":[{"name":"Cache-Control","value":"\(control)"}]}}
            """
        }
        let entries = [
            entry("\(site)/form", method: "POST"), entry("\(site)/gone.css", status: 404),
            entry("\(site)/lost", status: 0),
            entry("\(site)/moved", status: 302), entry("\(site)/mine", control: "private"),
            entry("\(site)/signed", "{\"name\":\"Authorization\",\"value\":\"a\"}"), entry("http://me:x@h/a.css"),
            entry("\(site)/folder/"), entry("\(site)/film.mp4", status: 206),
        ]
        try folder.write("{\"log\":{\"entries\":[\(entries.joined(separator: ","))]}}", to: "page.har")
        let result = await Tool.run(["explain", "page.har"], in: folder.url)
        #expect(
            result.output == """
                Not substituted, because no entry names it. Try:
                  substitute add \(site)/signed
                  substitute add \(site)/film.mp4

                Not substituted, because no entry names it. Files answer only GET and HEAD, not POST.
                  POST \(site)/form

                Not substituted, because no entry names it. Its server answered 404, so there is no file to add.
                  \(site)/gone.css

                Not substituted, because no entry names it. No server answered.
                  \(site)/lost

                Not substituted, because no entry names it. Its server answered 302, so there is no file to add.
                  \(site)/moved

                Not substituted, because no entry names it. Its server forbids shared copies (Cache-Control).
                  \(site)/mine

                Not substituted, because it holds a user name; remove everything up to the "@".
                  http://…@h/a.css

                Not substituted, because "\(site)/folder/" (manifest.json:4) maps the folder "folder/", which holds no "index.html".
                  \(site)/folder/

                0 of 9 URLs would come from files, 0 bytes

                """,
            "\(result)"
        )
    }

    @Test("A page's recording begins with the misses, one line each, and goes on with a line for each file")
    func recording() async throws {
        let site = "http://localhost:\(port)"
        let names = (1...150).map { "\($0).css" }
        for name in names { try folder.write("a { }", to: "folder/\(name)") }
        let urls = names.map { "\(site)/folder/\($0)" } + ["\(site)/new.css", "\(site)/known.css?v=9", "\(site)/x?a&b"]
        let entries = urls.map { "{\"request\":{\"url\":\"\($0)\"},\"response\":{\"status\":200}}" }
        try folder.write("{\"log\":{\"entries\":[\(entries.joined(separator: ","))]}}", to: "page.har")
        try folder.write(urls.joined(separator: "\n"), to: "urls.txt")
        for file in ["page.har", "urls.txt"] {
            let lines = await Tool.run(["explain", file], in: folder.url).output.split(separator: "\n")
            let near = "The nearest is \"\(site)/known.css\" (manifest.json:2), which differs in the query."
            let remedy = #"To let it answer this URL too, write { "file": "known.css", "ignoreQuery": ["v"] }."#
            let first = [
                "Not substituted, because no entry names it. Try:", "  substitute add \(site)/new.css",
                "  substitute add '\(site)/x?a&b'",
                "Not substituted, because no entry names it. \(near) \(remedy) Try:",
                "  substitute add '\(site)/known.css?v=9'",
                "\(site)/folder/1.css → folder/1.css", "\(site)/folder/2.css → folder/2.css",
            ]
            #expect(lines.prefix(7).map(String.init) == first, "\(lines)")
            #expect(
                lines.count == 156 && lines.last == "150 of 153 URLs would come from files, 750 bytes",
                "\(lines)"
            )
        }
        let json = await Tool.run(["explain", "--format", "json", "page.har"], in: folder.url).output.split(
            separator: "\n"
        )
        #expect(json.count == 153 && json.count { $0.contains("\"command\":\"substitute add ") } == 3)
    }

    @Test("A neighbour that the page requests as well is not proposed")
    func usedNeighbours() async throws {
        try folder.write("{ \"https://h/headline.css\": \"known.css\" }", to: "manifest.json")
        let urls = ["https://h/headline.css", "https://h/haedline.css"]
        let alone = await Tool.run(["explain", urls[1]], in: folder.url)
        #expect(alone.output.contains("The nearest is \"https://h/headline.css\""), "\(alone)")
        let both = await Tool.run(["explain"] + urls, in: folder.url)
        #expect(!both.output.contains("The nearest is"), "\(both)")
    }

    @Test("A recording without entries makes no verdict")
    func emptyRecording() async throws {
        let app = "{\"log\":{\"creator\":{\"name\":\"LocalSubstitutionDevelopment\"},\"entries\":[]}}"
        for (text, remedy) in [
            (app, "call stop() before it ends"), ("{\"log\":{\"entries\":[]}}", "export all as HAR"),
        ] {
            try folder.write(text, to: "app.har")
            for arguments in [
                ["explain"], ["explain", "--format", "json"], ["preview", "--format", "text", "--used"],
                ["preview", "--used"],
            ] {
                let result = await Tool.run(arguments + ["app.har"], in: folder.url)
                #expect(result.status == 1 && result.output == "", "\(result)")
                #expect(result.errors.contains("the recording \"app.har\" has no entries: "), "\(result)")
                #expect(result.errors.contains(remedy), "\(result)")
            }
        }
    }
}
#endif
