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
              "SITE/known.css": "known.css",
              "SITE/known.css?v=1": "known.css",
              "SITE/folder/": "folder/"
            }
            """
        for name in ["known.css", "folder/a.css"] { try folder.write("h1 { }", to: name) }
        try folder.write(manifest.replacing("SITE", with: site), to: "manifest.json")
    }

    private var port: Int { server.url.port ?? 0 }
    private var site: String { "http://localhost:\(port)" }

    /// URLs on the server, in which SITE is its address.
    private static let urls = [
        "SITE", "http://127.0.0.1:PORT/a.css", "http://LOCALHOST:PORT/Case.css", "SITE/it's.css",
        "SITE/%22double%22.css", "SITE/a.css?x=1&y=2", "SITE/b.css?family=Lato|Inter",
        "SITE/load.css?load[]=a&load[]=b",
        "SITE/caf\u{E9}.css", "SITE/100%25.css", "SITE/a b.css", "SITE/$HOME/`id`.css", "SITE/$(id);x!y.css",
        "SITE/a-b(c)~d.css", "SITE/a+b,c;d=e@f:g.css", "SITE/??a.css,b.css", "SITE/a//b.css", "SITE/{x}^y.css",
        "SITE/known.css?v=2", "SITE/folder/sub/new%2C1.css", "SITE/_next/image?url=%2Fa.png&w=640", "SITE/-r",
        "SITE/c#b.css", "SITE/folder/.well-known/x.css",
    ]

    /// Runs a line as a shell reads it, with the tool in the search path.
    private func shell(_ line: String) async throws -> Program.Result {
        let path = Tool.url.deletingLastPathComponent().path + ":/usr/bin:/bin"
        return try await Program.run("/bin/sh", ["-c", line], in: folder.url, environment: ["PATH": path])
    }

    @Test("The commands that explain prints add the URLs, check finds nothing, and the files answer")
    func command() async throws {
        let urls = Self.urls.map { $0.replacing("SITE", with: site).replacing("PORT", with: "\(port)") }
        var commands: [String] = []
        for url in urls {
            let missed = await Tool.run(["explain", url], in: folder.url)
            let found = missed.output.firstMatch(of: /\n  (?:Try|Or try): (.*)\n/)
            commands.append(String(try #require(found, "\(missed)").output.1))
        }
        let added = try await shell(commands.joined(separator: " && "))
        let lines = added.output.split(separator: "\n").filter { $0.hasPrefix("added ") }
        #expect(added.status == 0 && lines.count >= urls.count, "\(added)")
        let check = await Tool.run(["check", "--strict"], in: folder.url)
        #expect(check.status == 0 && check.errors == "", "\(check)")
        let hit = await Tool.run(["explain", "--require"] + urls, in: folder.url)
        #expect(hit.status == 0 && !hit.output.contains(": substitute add"), "\(hit)")
    }

    @Test("The command names the manifest as the user did, unless a search finds it")
    func manifest() async throws {
        let app = "App's files"
        try folder.write("{}", to: "\(app)/manifest.json")
        let url = "\(site)/a.css"
        for (words, expected) in [
            (["manifest.json", url], url), ([app, url], "'App'\\''s files' \(url)"),
            // Servers that the tests cannot have.
            (["http://[::1]:8080/a.css"], "'http://[::1]:8080/a.css'"), (["https://h./a.css"], "https://h./a.css"),
            (["//h/a.css"], "https://h/a.css"),
        ] {
            let result = await Tool.run(["explain"] + words, in: folder.url)
            #expect(result.output.contains("  Try: substitute add \(expected)\n"), "\(result)")
        }
        #expect(try await shell("substitute add 'App'\\''s files' \(url)").status == 0)
        #expect(await Tool.run(["explain", "--require", app, url], in: folder.url).status == 0)
        let plugin = await Tool.run(["explain", url], in: folder.url, environment: ["SUBSTITUTE_VERB": "substitute"])
        #expect(plugin.output.contains("  Try: swift package substitute-edit add \(url)\n"), "\(plugin)")
    }

    @Test("Where no command can add a URL, the reason is printed without one")
    func noCommand() async throws {
        let shared = [HAREntry.Field("Cache-Control", "public")]
        let entries = [
            HAREntry(method: "POST", url: "\(site)/form"), HAREntry(url: "\(site)/gone.css", status: "404"),
            HAREntry(url: "\(site)/lost", status: "0"), HAREntry(url: "\(site)/moved", status: "302"),
            HAREntry(url: "\(site)/mine", sent: [.init("Cache-Control", "private")]),
            HAREntry(url: "\(site)/signed", asked: [.init("Authorization", "a")], sent: shared),
            HAREntry(url: "http://me:x@h/a.css"), HAREntry(url: "\(site)/folder/"),
            HAREntry(url: "\(site)/film.mp4", status: "206"),
        ]
        try folder.write(HAR.text(entries), to: "page.har")
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
        let names = (1...150).map { "\($0).css" }
        for name in names { try folder.write("a { }", to: "folder/\(name)") }
        let urls = names.map { "\(site)/folder/\($0)" } + ["\(site)/new.css", "\(site)/known.css?v=9", "\(site)/x?a&b"]
        try folder.write(HAR.text(urls.map { HAREntry(url: $0) }), to: "page.har")
        try folder.write(urls.joined(separator: "\n"), to: "urls.txt")
        for file in ["page.har", "urls.txt"] {
            let lines = await Tool.run(["explain", file], in: folder.url).output.split(separator: "\n")
            let near = "The nearest is \"\(site)/known.css\" (manifest.json:2), which differs in the query."
            let remedy = #"To let it answer this URL too, write { "file": "known.css", "ignoreQuery": ["v"] }."#
            let first = [
                "Not substituted, because no entry names it. Try:", "  substitute add \(site)/new.css",
                "  substitute add '\(site)/x?a&b'",
                "Not substituted, because no entry names it. \(near) \(remedy) Try:",
                "  substitute add '\(site)/known.css?v=9'", "\(site)/folder/1.css → folder/1.css",
                "\(site)/folder/2.css → folder/2.css",
            ]
            #expect(lines.prefix(7).map(String.init) == first, "\(lines)")
            let last = "150 of 153 URLs would come from files, 750 bytes"
            #expect(lines.count == 156 && lines.last.map(String.init) == last, "\(lines)")
        }
        let json = await Tool.run(["explain", "--format", "json", "page.har"], in: folder.url).output
        #expect(json.split(separator: "\n").count == 153)
        #expect(json.components(separatedBy: "\"command\":\"substitute add ").count == 4)
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
        for (creator, remedy) in [
            ("\"creator\":{\"name\":\"LocalSubstitutionDevelopment\"},", "call stop() before it ends"),
            ("", "export all as HAR"),
        ] {
            try folder.write("{\"log\":{\(creator)\"entries\":[]}}", to: "app.har")
            for arguments in [["explain"], ["preview", "--format", "text", "--used"], ["preview", "--used"]] {
                let result = await Tool.run(arguments + ["app.har"], in: folder.url)
                #expect(result.status == 1 && result.output == "", "\(result)")
                let parts = ["the recording \"app.har\" has no entries: ", remedy]
                #expect(parts.allSatisfy(result.errors.contains), "\(result)")
            }
        }
    }
}
#endif
