// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LocalSubstitutionCache
import LoopbackServer
import TestSupport
import Testing

@Suite("substitute add", .serialized)
struct AddTests {
    private let site: RemoteSite

    init() throws {
        site = try RemoteSite()
        site.set("/css/site.css", "body { background: url(../img/bg.png) }", type: "text/css")
    }

    @Test("A URL is loaded into a file below the folder, and its entry is added after the others")
    func one() async throws {
        try site.folder.write("{\n  \"$comment\": 1,\n\n  \"https://h/a\" : \"a.css\"\n}\n", to: "manifest.json")
        try site.folder.write("a", to: "a.css")
        let result = try await site.run("add", "\(site.url)/css/site.css#part")
        #expect(result.status == 0 && result.errors == "", "\(result)")
        #expect(result.output == "added    \(site.url)/css/site.css → \(site.name)/css/site.css\n")
        #expect(site.file("\(site.name)/css/site.css") == "body { background: url(../img/bg.png) }")
        let entries = "\"https://h/a\" : \"a.css\",\n  \"\(site.url)/css/site.css\" : \"\(site.name)/css/site.css\""
        #expect(site.file("manifest.json") == "{\n  \"$comment\": 1,\n\n  \(entries)\n}\n")
        #expect(try await site.run("check").status == 0)
        #expect(!site.listing.keys.contains { $0.hasPrefix(".substitute/") })
    }

    @Test("A URL that an entry answers is left alone, unless --replace is given")
    func present() async throws {
        _ = try await site.run("add", "\(site.url)/css/site.css", "--as", "styles/main.css")
        site.set("/css/site.css", "new", type: "text/css")
        let before = site.listing
        let again = try await site.run("add", "\(site.url)/css/site.css")
        #expect(again.status == 0 && again.output.hasPrefix("present ") && site.listing == before, "\(again)")
        let replaced = try await site.run("add", "--replace", "\(site.url)/css/site.css")
        #expect(replaced.output == "replaced \(site.url)/css/site.css → styles/main.css\n")
        #expect(site.file("styles/main.css") == "new" && site.bytes("manifest.json") == before["manifest.json"])
    }

    @Test("Only a file whose name or beginning is that of a recording is one, and a URL never is")
    func notRecording() async throws {
        site.set("/rec.har", "{}", type: "application/json")
        site.set("/a.css", "a { }", type: "text/css")
        let result = try await site.run("add", "\(site.url)/a.css", "\(site.url)/rec.har")
        #expect(result.status == 0 && result.output.contains("rec.har"), "\(result)")
        for (path, text) in [
            ("m.har/manifest.json", "{}"), ("logs/log", "a"), ("logs/manifest.json", #"{ "https://h/log": "log" }"#),
            ("localhost/d.json", "{}"), ("page.har", #"{ "log": { "entries": [] } }"#),
        ] { try site.folder.write(text, to: path) }
        #expect(try await site.run("add", "m.har", "\(site.url)/a.css").status == 0)
        #expect(site.file("m.har/manifest.json")?.contains("/a.css") == true)
        #expect(try await site.run("add", "logs/manifest.json", "\(site.url)/a.css").status == 0)
        #expect(try await site.run("add", "page.har", "manifest.json").output.hasPrefix("0 entries"), "in any order")
        for operand in ["localhost/d.json", "localhost"] {
            let result = try await site.run("add", "manifest.json", operand)
            #expect((result.output + result.errors).contains("was not loaded"), "\(result)")
        }
    }

    @Test("A file below a folder entry is replaced in place, and an entry keeps its other fields")
    func replaced() async throws {
        site.set("/img/a.css", "1", type: "text/css")
        for path in ["img/a.css", "b.css"] { try site.folder.write("old", to: path) }
        let manifest = """
            {
              "\(site.url)/img/": "img/",
              "\(site.url)/css/site.css": { "headers": { "X-A": "1" }, "file": "b.css", "ignoreQuery": true }
            }
            """
        try site.folder.write(manifest, to: "manifest.json")
        #expect(try await site.run("add", "--replace", "--discard-edits", "\(site.url)/img/a.css").status == 0)
        #expect(site.file("img/a.css") == "1" && site.file("manifest.json") == manifest)
        let moved = try await site.run("add", "--replace", "--as", "c.css", "\(site.url)/css/site.css")
        #expect(moved.errors.contains("its entry names \"b.css\"; change the path there"), "\(moved)")
        #expect(site.file("manifest.json") == manifest && site.file("b.css") == "old")
    }

    @Test("A response that is incomplete or of the wrong kind changes nothing")
    func fails() async throws {
        let before = site.listing
        let page = Data("<!doctype html><p>".utf8)
        for (response, message) in [
            (.init(body: Data(count: 100_000), transfer: .closing(after: 50_000)), "the connection was lost"),
            (.init(headers: ["X-A": "1"], body: page, transfer: .closingInHead), "was not loaded"),
            (.init(headers: ["Content-Type": "text/html"], body: page), "it is a web page, not image/png"),
        ] as [(LoopbackServer.Response, String)] {
            site.set("/a.png", response)
            let result = try await site.run("add", "\(site.url)/css/site.css", "\(site.url)/a.png")
            #expect(result.status == 1 && result.errors.contains(message), "\(result)")
            #expect(result.errors.hasSuffix("Nothing was changed.\n") && site.listing == before)
        }
    }

    private static let redirected = [
        ("text/html", "<!doctype html><img src=a.png>", true), ("application/xhtml+xml", "<html/>", true),
        ("text/css", "a { }", true), ("text/javascript", "import './b.js'", true),
        ("text/javascript", "var a = 1", false), ("application/json", "{}", false), ("image/gif", "GIF89a", false),
    ]

    @Test("The entry of a redirected resource has the URL against which its references resolve", arguments: redirected)
    func redirect(type: String, body: String, isMoved: Bool) async throws {
        site.set("/old", LoopbackServer.Response(status: 301, headers: ["Location": "/deep/new?v=1"]))
        site.set("/deep/new", body, type: type)
        let result = try await site.run("add", "\(site.url)/old")
        let url = site.url + (isMoved ? "/deep/new?v=1" : "/old")
        #expect(result.status == 0 && result.output.contains("added    \(url) → "), "\(result)")
        #expect(site.file("manifest.json")?.contains("\"\(url)\":") == true)
        #expect(result.output.hasPrefix("redirect \(site.url)/old → \(url), which the entry names") == isMoved)
        #expect(try await site.run("check").status == 0)
    }

    @Test("A stylesheet that its server sends as plain text is added as it is, and add and check say so")
    func plainStylesheet() async throws {
        site.set("/plain.css", "a { }", type: "text/plain")
        let result = try await site.run("add", "\(site.url)/plain.css")
        let message = "is sent as text/plain, which browsers take for no stylesheet"
        #expect(result.status == 0 && result.output.contains(message), "\(result)")
        #expect(try await site.run("check").output.contains("is sent as text/plain; remove \"type\"\n"))
    }

    @Test("A record that is a link to another program's file is an error, and that file is left as it was")
    func linkedRecord() async throws {
        let other = try TemporaryFolder()
        let text = "{\"auths\":{\"https://h/\":{\"auth\":\"c2VjcmV0\"}}}"
        try other.write(text, to: "config.json")
        site.set("/a.css", "a { }", type: "text/css")
        let (record, file) = (site.folder.url.appendingPathComponent(".substitute.json"), "config.json")
        try FileManager.default.createSymbolicLink(
            at: record,
            withDestinationURL: other.url.appendingPathComponent(file)
        )
        for command in [["add", "\(site.url)/a.css"], ["update"], ["update", "--dry-run"]] {
            let result = await Tool.run(command, in: site.folder.url)
            #expect(result.status == 1 && result.errors.contains("cannot be read: it is not a plain file"), "\(result)")
        }
        #expect(try String(contentsOf: other.url.appendingPathComponent(file), encoding: .utf8) == text)
    }

    @Test("URLs that are redirected to the same page share its entry, and an entry of the user's own stays")
    func redirectsToOne() async throws {
        for path in ["/a", "/b"] {
            site.set(path, LoopbackServer.Response(status: 302, headers: ["Location": "/css/site.css"]))
        }
        let result = try await site.run("add", "\(site.url)/a", "\(site.url)/css/site.css", "\(site.url)/b")
        let counts = ["added  ", "redirect "].map { result.output.components(separatedBy: $0).count }
        #expect(result.status == 0 && counts == [2, 3], "\(result)")
        let again = try await site.run("add", "\(site.url)/a")
        #expect(again.status == 0 && again.output.contains("present  \(site.url)/css/site.css"), "\(again)")
        try site.folder.write("{ \"\(site.url)/a\": \"a.css\" }", to: "manifest.json")
        try site.folder.write("a", to: "a.css")
        let replaced = try await site.run("add", "--replace", "--discard-edits", "\(site.url)/a")
        #expect(replaced.output.hasPrefix("replaced \(site.url)/a → a.css\n"), "\(replaced)")
    }

    private static let spellings = [
        "?a=1&b=2", "?f[]=a%20b", "?family=Lato%3A400|Inter", "?q=it's", "?q=100%", "?q=a\\b", "?a;b,c(d)*!$~",
        "?q={a}`^", "/a[1]|b.css", "/%5Ba%5D.css", "/a'b.css", "/~a/b@2x.css", "?", "?q=%zz", "?q=é", "/é.css?%C3%A9",
    ]

    @Test("URLs as browsers send them are added, so that a printed command works", arguments: spellings)
    func spelled(rest: String) async throws {
        let url = "\(site.url)\(rest.hasPrefix("?") ? "/x.css" : "")\(rest)"
        let target = try #require((try? URLIdentity(url))?.path)
        let path = String(rest.prefix { $0 != "?" })
        for path in [String(target), path.isEmpty ? "/x.css" : path] { site.set(path, "a { }", type: "text/css") }
        let result = try await site.run("add", url)
        #expect(result.status == 0 && result.output.hasPrefix("added    "), "\(result)")
        #expect(try await site.run("add", url).output.hasPrefix("present  "))
        #expect(try await site.run("check").status == 0)
        let explained = try await site.run("explain", "manifest.json", url)
        // An app asks for an apostrophe in a query as it is, and a browser for %27 (URL Standard, special-query set).
        let isOther = explained.output.contains("substitute add '\(url.replacingOccurrences(of: "'", with: "%27"))'")
        let isAdvised = explained.output.contains("substitute add")
        #expect(explained.status == 0 && isAdvised == (rest == "?q=it's" && isOther), "\(explained)")
    }

    @Test("A large body is written as it is received, up to the limit of --max-size", .timeLimit(.minutes(10)))
    func large() async throws {
        let size = Program.isLongRun ? 150_000_000 : 20_000_000
        site.set("/film.bin", LoopbackServer.Response(body: Data(count: size)))
        // A body without a length.
        var endless = LoopbackServer.Response.stream {
            // Pause here. On Linux, URLSession cannot end any transfer while a transfer continues without pauses.
            // Without this pause, this transfer would never end, and would fill the memory.
            usleep(1000)
            return Data(count: 100_000)
        }
        endless.headers["Content-Type"] = "application/octet-stream"
        site.set("/endless.bin", endless)
        for name in ["film", "endless"] {
            let limited = try await site.run("add", "--max-size", "1MB", "\(site.url)/\(name).bin")
            #expect(limited.status == 1 && limited.errors.contains("it has more than 1.0 MB"), "\(limited.errors)")
        }
        #expect(try await site.run("add", "\(site.url)/film.bin").status == 0)
        let file = site.folder.url.appendingPathComponent("\(site.name)/film.bin")
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int == size)
    }

    @Test("--as applies to the page only, and a reference with an endless error page is reported")
    func placeOfPage() async throws {
        site.set("/", "<link rel=stylesheet href=/css/site.css><img src=/endless.png>", type: "text/html")
        var endless = LoopbackServer.Response.stream {
            Thread.sleep(forTimeInterval: 0.01)
            return Data(count: 1000)
        }
        endless.status = 404
        site.set("/endless.png", endless)
        let result = try await site.run("add", "--as", "start.html", "--with-references", "\(site.url)/")
        let reason = "was not loaded: its server answers 404\n"
        let missing = ["endless.png", "img/bg.png"].map { "\"\(site.url)/\($0)\" \(reason)" }
        #expect(result.status == 0 && result.errors == missing.joined(), "\(result)")
        #expect(site.file("start.html") != nil && site.file("\(site.name)/css/site.css") != nil)
    }

    @Test("A URL that cannot get a working entry is refused, and nothing changes")
    func nothingClaimed() async throws {
        let expired = "\"\(site.url)/css/site.css\": { \"file\": \"a.css\", \"until\": \"2020-01-01\" }"
        try site.folder.write("{\n  \(expired),\n  \"\(site.url)/d/\": \"d/\"\n}\n", to: "manifest.json")
        for path in ["a.css", "d/a.css"] { try site.folder.write("a", to: path) }
        site.set("/d/", "<p>", type: "text/html")
        site.set("/b.css", "b", type: "text/css")
        let before = site.listing
        for (arguments, message) in [
            (["\(site.url)/css/site.css"], "its entry in line 2 has expired"),
            (["\(site.url)/d/"], "the entry in line 3 is for a folder"),
            (["--replace", "\(site.url)/d/"], "the entry in line 3 is for a folder"),
            (["--as", "a.css/b.css", "\(site.url)/b.css"], "a.css"),
        ] {
            let result = await Tool.run(["add"] + arguments, in: site.folder.url)
            #expect(result.status == 1 && result.output == "" && result.errors.contains(message), "\(result)")
            #expect(site.listing == before)
        }
    }

    @Test("No cookies or passwords are sent or kept")
    func privacy() async throws {
        let headers = ["Content-Type": "text/css", "Set-Cookie": "session=s3cret", "ETag": "\"1\""]
        site.set("/a.css", LoopbackServer.Response(headers: headers, body: Data("a".utf8)))
        for query in ["", "?x=1"] { _ = try await site.run("add", "\(site.url)/a.css\(query)") }
        let requests = try #require(site.server?.requests)
        #expect(requests.count > 1)
        #expect(requests.allSatisfy { $0.headers["cookie"] == nil && $0.headers["authorization"] == nil })
        #expect(site.listing.values.allSatisfy { $0.range(of: Data("s3cret".utf8)) == nil })
        #expect(try await site.run("add", "http://user:pass@127.0.0.1/a.css").status == 2)
    }

    private static let hasScript = Platform.isLinux && (Program.find("script") != nil || Program.isEverythingRequired)

    @Test("On a terminal, the tool prints its progress", .enabled(if: hasScript, "needs the script(1) of util-linux"))
    func progress() async throws {
        let script = try #require(Program.find("script"))
        let command = "'\(Tool.url.path)' add '\(site.url)/css/site.css'"
        let result = try await Program.run(script, ["-qec", command, "/dev/null"], in: site.folder.url)
        #expect(result.status == 0 && result.output.contains("\r1 of 1, "), "\(result.output)")
    }

    @Test("Wrong use is reported, and a dry run writes nothing")
    func wrongUse() async throws {
        let before = site.listing
        for (arguments, message) in [
            (["add"], "name a URL to load"), (["add", "--none", "https://h/a"], "there is no option \"--none\""),
            (["add", "a.har", "b.har", "c.har"], "substitute add: "),
            (["add", "--as", "a.css", "https://h/a", "https://h/b"], "--as is for one URL"),
            (["add", "--as", "../a.css", "https://h/a"], "cannot be a file in the manifest's folder"),
            (["add", "--as", "manifest.json", "https://h/a"], "cannot be a file in the manifest's folder"),
            (["add", "ftp://h/a"], "begins with \"ftp:\""),
            (["add", "--also-host", "a b", "https://h/a"], "is not a host"),
            (["add", "--also-host", "h:80", "https://h/a"], "is not a host"),
            (["add", "--max-size", "much", "https://h/a"], "is not a size"),
        ] {
            let result = await Tool.run(arguments, in: site.folder.url)
            #expect(result.status == 2 && result.errors.contains(message), "\(arguments): \(result.errors)")
        }
        let dry = try await site.run("add", "-n", "\(site.url)/css/site.css")
        #expect(dry.status == 0 && dry.output.hasSuffix("Nothing was written.\n") && site.listing == before)
    }

    @Test("A page with thousands of references is added without them")
    func tooMany() async throws {
        site.set("/", (0..<2000).map { "<img src=\($0).png>" }.joined(), type: "text/html")
        let result = try await site.run("add", "--with-references", "\(site.url)/")
        #expect(result.status == 0 && site.requests() == ["GET /"], "\(result)")
        let line =
            "skipped  2000 references, because one run loads at most 2000 URLs; add a recording of the page instead\n"
        #expect(result.output.hasSuffix(line))
    }
}
#endif
