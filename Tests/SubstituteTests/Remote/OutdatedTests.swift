// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@Suite("substitute update", .serialized)
struct OutdatedTests {
    private let site: RemoteSite

    init() throws { site = try RemoteSite() }

    /// Adds a stylesheet, a page and a script; the script has neither `ETag` nor `Last-Modified`.
    private func add() async throws {
        site.set("/a.css", "a", type: "text/css")
        site.set("/b.html", "<p>b</p>", type: "text/html")
        site.set("/c.js", "c", type: "text/javascript", hasVersion: false)
        let result = try await site.run("add", "\(site.url)/a.css", "\(site.url)/b.html", "\(site.url)/c.js")
        #expect(result.status == 0, "\(result)")
        _ = site.requests()
    }

    @Test("An unchanged file costs one request, and no body if its version is known, or an update has noted it")
    func current() async throws {
        try await add()
        let result = try await site.run("update", "--dry-run")
        #expect(result.status == 0 && result.output == "3 files: 3 are up to date\n", "\(result)")
        #expect(site.server?.requests.filter { $0.headers["if-none-match"] != nil }.count == 2)
        #expect(site.requests().sorted() == ["GET /a.css", "GET /b.html", "GET /c.js"])
        site.set("/c.js", "c", type: "text/javascript")
        _ = try await site.run("update")
        site.server?.forgetRequests()
        #expect(try await site.run("update", "--dry-run").status == 0)
        #expect(site.server?.requests.allSatisfy { $0.headers["if-none-match"] != nil } == true)
        _ = site.requests()
        // A file that keeps its edits costs no more.
        try site.folder.write("edited", to: "\(site.name)/a.css")
        let edited = try await site.run("update", "--dry-run", "\(site.url)/a.css")
        #expect(edited.output.contains("it was edited here, and its server has not changed"), "\(edited)")
        #expect(site.server?.requests.map { $0.headers["if-none-match"] != nil } == [true])
    }

    @Test("Changed files are reported with sizes, and update loads only those")
    func differs() async throws {
        try await add()
        site.set("/a.css", "longer", type: "text/css")
        site.set("/c.js", "C", type: "text/javascript", hasVersion: false)
        site.set("/b.html", LoopbackServer.Response(status: 410))
        let outdated = try await site.run("update", "--dry-run", "--format", "json")
        let rows = try outdated.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(outdated.status == 3 && rows.map { $0["state"] as? String } == ["differs", "gone", "differs"])
        #expect(rows[0]["size"] as? Int == 1 && rows[0]["remoteSize"] as? Int == 6)
        let manifest = site.file("manifest.json")
        // A symbolic link stays one, and its target is updated.
        let link = site.folder.url.appendingPathComponent("\(site.name)/c.js").path
        try FileManager.default.moveItem(atPath: link, toPath: link + ".real")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "c.js.real")
        let github = try await site.run("update", "-n", "--format", "github")
        let lines = github.output.split(separator: "\n")
        #expect(github.status == 3 && lines.count == 4, "\(github)")
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix("::warning file=manifest.json,line=") }, "\(github)")
        #expect(lines[1].contains("title=gone::") && lines[1].hasSuffix("its server answers 410"), "\(github)")
        let update = try await site.run("update")
        #expect(update.status == 1 && update.output.contains("/b.html  its server answers 410\n"), "\(update.output)")
        #expect(update.output.hasSuffix("3 files: 2 updated, 1 is gone\n"), "\(update.output)")
        #expect(site.file("\(site.name)/a.css") == "longer" && site.file("\(site.name)/c.js.real") == "C")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "c.js.real")
        #expect(site.file("\(site.name)/b.html") == "<p>b</p>" && site.file("manifest.json") == manifest)
        #expect(try await site.run("update", "--dry-run").output.hasSuffix("3 files: 1 is gone, 2 are up to date\n"))
    }

    @Test("After a replacement, the size is that of the new file; a command to type repeats the options")
    func afterReplacement() async throws {
        try await add()
        site.set("/a.css", "longer", type: "text/css")
        try site.folder.write("mine", to: "\(site.name)/c.js")
        site.set("/c.js", "C", type: "text/javascript", hasVersion: false)
        let words = ["update", "--include-private", "--max-size", "1kB"]
        let rows = await Tool.run(words + ["--format", "json"], in: site.folder.url).output.split(separator: "\n")
        #expect(rows.first?.contains("\"size\":6") == true, "\(rows)")
        let text = await Tool.run(words, in: site.folder.url).output
        for option in ["--discard-edits", "--keep-edits"] {
            #expect(text.contains("update \(option) --include-private --max-size=1kB \(site.url)/c.js\n"), "\(text)")
        }
    }

    @Test("Network-first and expired entries are skipped, and an unreachable server is no difference")
    func exempt() async throws {
        for name in ["a", "b", "c"] { try site.folder.write(name, to: "\(name).css") }
        let manifest = """
            { "\(site.url)/a.css": { "file": "a.css", "when": 404 }, "http://127.0.0.1:1/c.css": "c.css",
              "\(site.url)/b.css": { "file": "b.css", "until": "2020-01-01" } }
            """
        try site.folder.write(manifest, to: "manifest.json")
        let result = try await site.run("update", "--dry-run")
        #expect(result.status == 1 && result.output.contains("its server cannot be reached"), "\(result)")
        let counts = "2 files: 1 could not be compared or loaded, 1 was skipped\n"
        #expect(result.output.hasSuffix(counts) && site.requests() == [], "\(result)")
    }

    @Test("A slow response does not delay the other requests")
    func slow() async throws {
        try await add()
        site.set("/b.html", LoopbackServer.Response(transfer: .silent))
        site.set("/a.css", "new", type: "text/css")
        async let update = site.run("update", "--dry-run")
        // While one request waits for its answer, the tool sends the other requests.
        try await wait(for: "3 targets") { Set(site.server?.requests.map(\.target) ?? []).count >= 3 }
        site.server?.stop()
        let result = try await update
        #expect(result.status != 0, "\(result)")
    }

    @Test("update works with nginx", .enabled(if: Nginx.program != nil, "nginx is not installed"))
    func nginx() async throws {
        let style = Data(String(repeating: "body { color: red }\n", count: 5000).utf8)
        let picture = Data("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)
        let types = "types { text/css css; image/svg+xml svg; } gzip on; gzip_types text/css;"
        let locations = "location = /old.svg { return 301 /b.svg; } location = /away.css { return 503; }"
        let nginx = try await Nginx("\(types) \(locations)", files: ["a.css": style, "b.svg": picture])
        defer { nginx.stop() }
        let url = nginx.url.absoluteString
        let added = try await site.run("add", "\(url)/a.css", "\(url)/b.svg", "\(url)/old.svg")
        #expect(added.status == 0, "\(added)")
        #expect(try await site.run("add", "\(url)/away.css").errors.contains("its server answers 503"))
        #expect(try await site.run("check", "--strict").status == 0)
        let current = try await site.run("update", "--dry-run")
        #expect(current.status == 0 && current.output == "3 files: 3 are up to date\n", "\(current)")
        // The request after a redirect is conditional, too.
        try nginx.write(Data("<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"new\"/>".utf8), to: "b.svg")
        let outdated = try await site.run("update", "--dry-run")
        #expect(outdated.output.hasSuffix("3 files: 2 differ, 1 is up to date\n"), "\(outdated)")
        #expect(try await site.run("update").output.hasSuffix("3 files: 2 updated, 1 is up to date\n"))
        #expect(try await site.run("update", "--dry-run").status == 0)
    }
}
#endif
