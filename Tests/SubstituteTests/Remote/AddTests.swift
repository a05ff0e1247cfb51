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
        #expect(
            site.file("manifest.json")
                == "{\n  \"$comment\": 1,\n\n  \"https://h/a\" : \"a.css\",\n  \"\(site.url)/css/site.css\" : \"\(site.name)/css/site.css\"\n}\n"
        )
        #expect(try await site.run("check").status == 0)
        #expect(site.listing.keys.contains { $0.hasPrefix(".substitute/") } == false)
    }

    @Test("A URL that an entry answers is left alone, unless --replace is given")
    func present() async throws {
        _ = try await site.run("add", "\(site.url)/css/site.css", "--as", "styles/main.css")
        site.set("/css/site.css", "new", type: "text/css")
        let before = site.listing
        let again = try await site.run("add", "\(site.url)/css/site.css")
        #expect(again.status == 0 && again.output.hasPrefix("present "), "\(again)")
        #expect(site.listing == before)
        let replaced = try await site.run("add", "--replace", "\(site.url)/css/site.css")
        #expect(replaced.output == "replaced \(site.url)/css/site.css → styles/main.css\n")
        #expect(site.file("styles/main.css") == "new")
        #expect(site.file("manifest.json") == before["manifest.json"].map { String(decoding: $0, as: UTF8.self) })
    }

    @Test("Only a file whose name or beginning is that of a recording is one, and a URL never is")
    func notRecording() async throws {
        site.set("/rec.har", "{}", type: "application/json")
        site.set("/a.css", "a { }", type: "text/css")
        let result = try await site.run("add", "\(site.url)/a.css", "\(site.url)/rec.har")
        #expect(result.status == 0 && result.output.contains("rec.har"), "\(result)")
        try site.folder.write("{}", to: "m.har/manifest.json")
        #expect(try await site.run("add", "m.har", "\(site.url)/a.css").status == 0)
        #expect(site.file("m.har/manifest.json")?.contains("/a.css") == true)
        try site.folder.write("a", to: "logs/log")
        try site.folder.write(#"{ "https://h/log": "log" }"#, to: "logs/manifest.json")
        #expect(try await site.run("add", "logs/manifest.json", "\(site.url)/a.css").status == 0)
        try site.folder.write("{}", to: "localhost/d.json")
        try site.folder.write("{ \"log\": { \"entries\": [] } }", to: "page.har")
        #expect(try await site.run("add", "page.har", "manifest.json").output.hasPrefix("0 entries"), "in any order")
        for operand in ["localhost/d.json", "localhost"] {
            let result = try await site.run("add", "manifest.json", operand)
            #expect((result.output + result.errors).contains("was not loaded"), "\(result)")
        }
    }

    @Test("A file below a folder entry is replaced in place, and an entry keeps its other fields")
    func replaced() async throws {
        site.set("/img/a.css", "1", type: "text/css")
        try site.folder.write("old", to: "img/a.css")
        try site.folder.write("old", to: "b.css")
        let manifest = """
            {
              "\(site.url)/img/": "img/",
              "\(site.url)/css/site.css": { "headers": { "X-A": "1" }, "file": "b.css", "ignoreQuery": true }
            }
            """
        try site.folder.write(manifest, to: "manifest.json")
        #expect(try await site.run("add", "--replace", "--discard-edits", "\(site.url)/img/a.css").status == 0)
        #expect(site.file("img/a.css") == "1")
        #expect(site.file("manifest.json") == manifest)
        let moved = try await site.run("add", "--replace", "--as", "c.css", "\(site.url)/css/site.css")
        #expect(moved.errors.contains("its entry names \"b.css\"; change the path there"), "\(moved)")
        #expect(site.file("manifest.json") == manifest && site.file("b.css") == "old")
    }

    /// A server's response for a picture, and the message that it must cause.
    static let failures: [(LoopbackServer.Response, String)] = [
        (
            LoopbackServer.Response(body: Data(count: 100_000), transfer: .closing(after: 50_000)),
            "the connection was lost"
        ),
        (
            LoopbackServer.Response(headers: ["X-A": "1"], body: Data("abc".utf8), transfer: .closingInHead),
            "was not loaded"
        ),
        (
            LoopbackServer.Response(headers: ["Content-Type": "text/html"], body: Data("<!doctype html><p>".utf8)),
            "it is a web page, not image/png"
        ),
    ]

    @Test("A response that is incomplete or of the wrong kind changes nothing", arguments: failures)
    func fails(response: LoopbackServer.Response, message: String) async throws {
        site.set("/a.png", response)
        let before = site.listing
        let result = try await site.run("add", "\(site.url)/css/site.css", "\(site.url)/a.png")
        #expect(result.status == 1)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.errors.hasSuffix("Nothing was changed.\n"))
        #expect(site.listing == before)
    }

    @Test(
        "The entry of a redirected resource has the URL against which its references resolve",
        arguments: [
            ("text/html", "<!doctype html><img src=a.png>", true), ("application/xhtml+xml", "<html/>", true),
            ("text/css", "a { }", true), ("text/javascript", "import './b.js'", true),
            ("text/javascript", "var a = 1", false), ("application/json", "{}", false), ("text/plain", "a", false),
            ("image/gif", "GIF89a", false),
        ]
    )
    func redirect(type: String, body: String, isMoved: Bool) async throws {
        site.set("/old", LoopbackServer.Response(status: 301, headers: ["Location": "/deep/new?v=1"]))
        site.set("/deep/new", body, type: type)
        let result = try await site.run("add", "\(site.url)/old")
        #expect(result.status == 0, "\(result)")
        let url = site.url + (isMoved ? "/deep/new?v=1" : "/old")
        #expect(site.file("manifest.json")?.contains("\"\(url)\":") == true, "\(site.file("manifest.json") ?? "")")
        #expect(result.output.hasPrefix("redirect \(site.url)/old → \(url), which the entry names") == isMoved)
        #expect(result.output.contains("added    \(url) → "), "\(result.output)")
        #expect(try await site.run("check").status == 0)
    }

    @Test("A stylesheet that its server sends as plain text is added as it is, and add and check say so")
    func plainStylesheet() async throws {
        site.set("/plain.css", "a { }", type: "text/plain")
        let result = try await site.run("add", "\(site.url)/plain.css")
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("is sent as text/plain, which browsers take for no stylesheet"), "\(result)")
        let checked = try await site.run("check")
        #expect(checked.output.contains("is sent as text/plain; remove \"type\"\n"), "\(checked)")
    }

    @Test("A record that is a link to another program's file is an error, and that file is left as it was")
    func linkedRecord() async throws {
        let other = try TemporaryFolder()
        let text = "{\"auths\":{\"https://h/\":{\"auth\":\"c2VjcmV0\"}}}"
        try other.write(text, to: "config.json")
        site.set("/a.css", "a { }", type: "text/css")
        try FileManager.default.createSymbolicLink(
            at: site.folder.url.appendingPathComponent(".substitute.json"),
            withDestinationURL: other.url.appendingPathComponent("config.json")
        )
        for command in [["add", "\(site.url)/a.css"], ["update"], ["update", "--dry-run"]] {
            let result = await Tool.run(command, in: site.folder.url)
            #expect(result.status == 1 && result.errors.contains("cannot be read: it is not a plain file"), "\(result)")
        }
        #expect(try String(contentsOf: other.url.appendingPathComponent("config.json"), encoding: .utf8) == text)
    }

    @Test("URLs that are redirected to the same page share its entry, and an entry of the user's own stays")
    func redirectsToOne() async throws {
        for path in ["/a", "/b"] {
            site.set(path, LoopbackServer.Response(status: 302, headers: ["Location": "/css/site.css"]))
        }
        let result = try await site.run("add", "\(site.url)/a", "\(site.url)/css/site.css", "\(site.url)/b")
        #expect(result.status == 0, "\(result)")
        #expect(result.output.components(separatedBy: "added  ").count == 2, "\(result.output)")
        #expect(result.output.components(separatedBy: "redirect ").count == 3, "\(result.output)")
        let again = try await site.run("add", "\(site.url)/a")
        #expect(again.status == 0 && again.output.contains("present  \(site.url)/css/site.css"), "\(again)")
        try site.folder.write("{ \"\(site.url)/a\": \"a.css\" }", to: "manifest.json")
        try site.folder.write("a", to: "a.css")
        let replaced = try await site.run("add", "--replace", "--discard-edits", "\(site.url)/a")
        #expect(replaced.output.hasPrefix("replaced \(site.url)/a → a.css\n"), "\(replaced)")
    }

    @Test("A redirected page's own references are loaded, and its fragments are not")
    func redirectedPage() async throws {
        site.set("/", LoopbackServer.Response(status: 302, headers: ["Location": "/en/"]))
        site.set(
            "/en/",
            "<link rel=stylesheet href=../css/site.css><svg><use href=#a /></svg><style>i{mask:url(#b)}</style>",
            type: "text/html"
        )
        let result = try await site.run("add", "--with-references", "\(site.url)/")
        #expect(result.status == 0, "\(result)")
        #expect(site.requests().sorted() == ["GET /", "GET /css/site.css", "GET /en/", "GET /img/bg.png"])
    }

    @Test(
        "URLs as browsers send them are added, so that a printed command works",
        arguments: [
            "?a=1&b=2", "?f[]=a%20b", "?family=Lato%3A400|Inter", "?q=it's", "?q=100%", "?q=a\\b", "?a;b,c(d)*!$~",
            "?q={a}`^", "/a[1]|b.css", "/%5Ba%5D.css", "/a'b.css", "/~a/b@2x.css", "?", "?q=%zz", "?q=é",
            "/é.css?%C3%A9",
        ]
    )
    func spelled(rest: String) async throws {
        let url = "\(site.url)\(rest.hasPrefix("?") ? "/x.css" : "")\(rest)"
        let target = try #require((try? URLIdentity(url))?.path)
        site.set(String(target), "a { }", type: "text/css")
        let path = String(rest.prefix { $0 != "?" })
        site.set(path.isEmpty ? "/x.css" : path, "a { }", type: "text/css")
        let result = try await site.run("add", url)
        #expect(result.status == 0 && result.output.hasPrefix("added    "), "\(result)")
        #expect(try await site.run("add", url).output.hasPrefix("present  "))
        #expect(try await site.run("check").status == 0)
        let explained = try await site.run("explain", "manifest.json", url)
        // An app asks for an apostrophe in a query as it is, and a browser for %27 (URL Standard, special-query set).
        let isOther = explained.output.contains("substitute add '\(url.replacingOccurrences(of: "'", with: "%27"))'")
        #expect(explained.status == 0, "\(explained)")
        #expect(explained.output.contains("substitute add") == (rest == "?q=it's" && isOther), "\(explained)")
    }

    @Test("A large body is written as it is received, up to the limit of --max-size", .timeLimit(.minutes(10)))
    func large() async throws {
        let size = Program.isLongRun ? 150_000_000 : 20_000_000
        site.set("/film.bin", LoopbackServer.Response(body: Data(count: size)))
        let limited = try await site.run("add", "--max-size", "1MB", "\(site.url)/film.bin")
        #expect(limited.status == 1 && limited.errors.contains("it has more than 1.0 MB"), "\(limited.errors)")
        // A body without a length.
        var endless = LoopbackServer.Response.stream {
            // Pause here. On Linux, URLSession cannot end any transfer while a transfer continues without pauses.
            // Without this pause, this transfer would never end, and would fill the memory.
            usleep(1000)
            return Data(count: 100_000)
        }
        endless.headers["Content-Type"] = "application/octet-stream"
        site.set("/endless.bin", endless)
        let ended = try await site.run("add", "--max-size", "1MB", "\(site.url)/endless.bin")
        #expect(ended.status == 1 && ended.errors.contains("it has more than 1.0 MB"), "\(ended.errors)")
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
        #expect(result.status == 0, "\(result)")
        let missing = ["endless.png", "img/bg.png"].map {
            "\"\(site.url)/\($0)\" was not loaded: its server answers 404\n"
        }
        #expect(result.errors == missing.joined())
        #expect(site.file("start.html") != nil && site.file("\(site.name)/css/site.css") != nil)
    }

    @Test("A URL that cannot get a working entry is refused, and nothing changes")
    func nothingClaimed() async throws {
        let manifest = """
            {
              "\(site.url)/css/site.css": { "file": "a.css", "until": "2020-01-01" },
              "\(site.url)/d/": "d/"
            }
            """
        try site.folder.write(manifest, to: "manifest.json")
        try site.folder.write("a", to: "a.css")
        try site.folder.write("a", to: "d/a.css")
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
            #expect(result.status == 1 && result.output == "", "\(arguments): \(result)")
            #expect(result.errors.contains(message), "\(arguments): \(result.errors)")
            #expect(site.listing == before)
        }
    }

    @Test("No cookies or passwords are sent or kept")
    func privacy() async throws {
        let headers = ["Content-Type": "text/css", "Set-Cookie": "session=s3cret", "ETag": "\"1\""]
        site.set("/a.css", LoopbackServer.Response(headers: headers, body: Data("a".utf8)))
        _ = try await site.run("add", "\(site.url)/a.css")
        _ = try await site.run("add", "\(site.url)/a.css?x=1")
        let requests = try #require(site.server?.requests)
        #expect(!requests.isEmpty)
        #expect(requests.allSatisfy { $0.headers["cookie"] == nil && $0.headers["authorization"] == nil })
        #expect(site.listing.values.allSatisfy { $0.range(of: Data("s3cret".utf8)) == nil })
        #expect(try await site.run("add", "http://user:pass@127.0.0.1/a.css").status == 2)
    }

    @Test(
        "On a terminal, the tool prints its progress",
        .enabled(
            if: Platform.isLinux && (Program.find("script") != nil || Program.isEverythingRequired),
            "needs the script(1) of util-linux"
        )
    )
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
            (["add", "--also-host", "http://h", "https://h/a"], "is not a host"),
            (["add", "--also-host", "h:80", "https://h/a"], "is not a host"),
            (["add", "--max-size", "much", "https://h/a"], "is not a size"),
        ] {
            let result = await Tool.run(arguments, in: site.folder.url)
            #expect(result.status == 2 && result.errors.contains(message), "\(arguments): \(result.errors)")
        }
        let dry = try await site.run("add", "-n", "\(site.url)/css/site.css")
        #expect(dry.status == 0 && dry.output.hasSuffix("Nothing was written.\n"))
        #expect(site.listing == before)
    }

    @Test("A page with thousands of references is added without them")
    func tooMany() async throws {
        site.set("/", (0..<2000).map { "<img src=\($0).png>" }.joined(), type: "text/html")
        let result = try await site.run("add", "--with-references", "\(site.url)/")
        #expect(result.status == 0 && site.requests() == ["GET /"], "\(result)")
        #expect(
            result.output.hasSuffix(
                "skipped  2000 references, because one run loads at most 2000 URLs; add a recording of the page instead\n"
            )
        )
    }

    @Test("Control-C during a load leaves the folder unchanged")
    func interrupted() async throws {
        site.setEndless("/a.css")
        let before = site.listing
        let process = Process()
        process.executableURL = Tool.url
        process.arguments = ["add", "\(site.url)/css/site.css", "\(site.url)/a.css"]
        process.currentDirectoryURL = site.folder.url
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.runWithSignals()
        try await wait(for: "a request") { site.server?.requests.contains { $0.target == "/a.css" } == true }
        process.interrupt()
        let status = try await onThread {
            process.waitUntilExit()
            return process.terminationStatus
        }
        #expect(status == 130)
        #expect(site.listing == before)
    }
}
#endif
