// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("substitute add --in-browser")
struct CaptureTests {
    @Test("A site with modules, lazy images, srcset and a service worker is captured byte for byte", .startsChromium)
    func wholeSite() async throws {
        let site = try LiveSite()
        site.build()
        let elsewhere = try TemporaryFolder()
        let recording = elsewhere.url.appendingPathComponent("page.har").path
        let devices = ["phone", "390x844@2", "desktop"].flatMap { ["--device", $0] }
        let words = ["add", "--in-browser"] + devices + ["--scroll", "--har", recording, site.url]
        let result = try await Tool.start(words, in: site.folder.url)
        #expect(result.status == 0 && result.errors == "", "\(result)")
        for (path, data) in [
            ("css/zipped.css", Data("body { margin: 3px }\n".utf8)), ("css/latin.css", LiveSite.latin),
            ("data/large.bin", LiveSite.large),
            // These are the images for the three devices, and the image that becomes visible only after scrolling.
            ("img/one.svg", LiveSite.picture(60)), ("img/two.svg", LiveSite.picture(120)),
            ("img/three.svg", LiveSite.picture(180)), ("img/late.svg", LiveSite.picture(60)),
        ] { #expect(site.file(site.path(path)) == data, "\(path)") }
        for path in ["index.html", "css/site.css", "css/more.css", "js/main.js", "js/part.js", "worker.js"] {
            #expect(site.file(site.path(path)) != nil, "\(path)")
        }
        let check = await Tool.run(["check", "--strict"], in: site.folder.url)
        #expect(check.status == 0, "\(check)")

        // The recording is readable for its owner only, and can be imported like any other recording.
        let mode = try FileManager.default.attributesOfItem(atPath: recording)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let again = await Tool.run(["add", "--dry-run", recording], in: site.folder.url)
        let ending = "0 entries with 0 bytes, 13 left out\nNothing was written.\n"
        #expect(again.status == 0 && again.output.hasSuffix(ending), "\(again)")

        // The app's files answer every request of the page, and the page looks the same.
        _ = site.requests()
        let verified = try await site.run("verify", "--at-least", "100%", "--scroll", site.url)
        let fits = verified.output.hasPrefix("\(site.url)  The files fit. ")
        #expect(verified.status == 0 && verified.errors == "" && fits, "\(verified)")
        // In the load without the files, the page requests everything once. The page's service worker then requests two
        // of these resources again. The load with the files requests nothing.
        let counts = Dictionary(site.requests().map { ($0, 1) }, uniquingKeysWith: +)
        let kept: Set = ["/", "/css/site.css"]
        #expect(counts.allSatisfy { $0.value == (kept.contains($0.key) ? 2 : 1) }, "\(counts)")
    }

    @Test("Secrets are not kept, and personal responses are left out", .startsChromium)
    func credentials() async throws {
        let site = try LiveSite()
        let script = """
            <script>
            document.cookie = "name=somebody";
            fetch("/mine.json", { headers: { Authorization: "Bearer secret-token" } });
            fetch("/keyed.json", { headers: { "X-Api-Key": "secret-key" } });
            fetch("/moved?code=secret-code").catch(() => 0);
            fetch("/ours.json");
            fetch("/mine/name.txt");
            fetch("/same.txt");
            </script>
            """
        site.set("/", "text/html", LiveSite.start + script, ["Set-Cookie": "session=secret-session"])
        for name in ["mine", "keyed"] { site.set("/\(name).json", "application/json", "{}") }
        site.set("/moved", LoopbackServer.Response(status: 302, headers: ["Location": "/ours.json?no=secret-leads"]))
        site.set("/ours.json", "application/json", "[]", ["Cache-Control": "private"])
        site.set("/same.txt", "text/plain", "same")
        let elsewhere = try TemporaryFolder()
        let file = elsewhere.url.appendingPathComponent("page.har")
        let result = try await site.run("add", "--in-browser", "--har", file.path, site.url)
        #expect(result.status == 0, "\(result)")
        // The example is whichever of two URLs came first.
        let forbidden = /\/ours\.json[^\n]* server forbids shared copies \(Cache-Control\)/
        #expect(result.output.contains(forbidden), "\(result)")
        #expect(result.output.contains("/mine/name.txt: it was requested with cookies, and without them"), "\(result)")
        // The server sends these to everyone, although the requests carried cookies or a token.
        for path in ["same.txt", "mine.json", "keyed.json"] { #expect(site.file(site.path(path)) != nil, "\(path)") }
        #expect(site.file(site.path("ours.json")) == nil && site.file(site.path("mine/name.txt")) == nil)
        let all = try await site.run("add", "--in-browser", "--include-private", site.url)
        #expect(site.file(site.path("mine/name.txt")) == Data("for one".utf8), "\(all)")
        let recording = try String(contentsOf: file, encoding: .utf8)
        // The recording keeps the queries of the URLs that the page requested, so these URLs still contain secrets.
        let others = recording.replacingOccurrences(of: "/moved?code=secret-code", with: "")
            .replacingOccurrences(of: "/ours.json?no=secret-leads", with: "")
        #expect(!others.contains("secret") && !others.contains("somebody"), "\(others)")
        #expect(recording.contains("\"name\":\"Cookie\",\"value\":\"\""))
    }

    @Test("What a server sends only after a password is left out", .startsChromium)
    func passwordInURL() async throws {
        let server = try LoopbackServer { request in
            let style = LoopbackServer.Response(headers: ["Content-Type": "text/css"], body: Data("a {}".utf8))
            if request.path == "/open.css" { return style }
            guard request.headers["authorization"] != nil else {
                return .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"a\""])
            }
            let links = ["a.css", "open.css"].map { "<link rel=stylesheet href=\($0)>" }.joined()
            let page = Data((LiveSite.start + links).utf8)
            return request.path == "/a.css" ? style : .init(headers: ["Content-Type": "text/html"], body: page)
        }
        defer { server.stop() }
        let url = server.url.absoluteString.replacing("://", with: "://anna:hunter2@") + "/page.html"
        let folder = try TemporaryFolder()
        try folder.write("{}", to: "manifest.json")
        let result = try await Tool.start(["add", "--in-browser", url], in: folder.url)
        let manifest = try String(contentsOf: folder.url.appendingPathComponent("manifest.json"), encoding: .utf8)
        let names = ["open.css", "page.html", "a.css"].filter { manifest.contains("/\($0)") }
        #expect(names == ["open.css"], "\(result)")
    }

    @Test(
        "A byte range becomes the whole file, and streams, cut bodies and what a token gets are left out with a reason",
        .startsChromium
    )
    func parts() async throws {
        let site = try LiveSite()
        let page = """
            <video src="/film.webm" preload="auto"></video>
            <script>
            new EventSource("/events");
            fetch("/part.txt", { headers: { Range: "bytes=2-3" } });
            fetch("/mine/token.txt", { headers: { "X-Name": "Bearer abc123def456ghi789" } });
            for (const path of ["cut.txt", "empty.txt", "whole.txt"]) fetch("/" + path).catch(() => 0);
            </script>
            """
        site.page("/", page)
        site.set("/film.webm", "video/webm", Data([0x1A, 0x45, 0xDF, 0xA3]) + Data(repeating: 0, count: 300_000))
        site.set("/part.txt", "text/plain", "abcdef")
        site.set("/events", Self.stream("text/event-stream", "data: 1\n\n"))
        let body = Data(repeating: UInt8(ascii: "a"), count: 1000)
        let fields = ["Content-Type": "text/plain"]
        site.set("/cut.txt", LoopbackServer.Response(headers: fields, body: body, transfer: .closing(after: 500)))
        site.set("/empty.txt", LoopbackServer.Response(headers: fields))
        site.set("/whole.txt", LoopbackServer.Response(headers: fields, body: body, transfer: .chunked(100)))
        let result = try await site.run("add", "--in-browser", site.url)
        #expect(result.status == 0 && result.errors == "", "\(result)")
        #expect(site.file(site.path("film.webm"))?.count == 300_004)
        #expect(site.file(site.path("part.txt")) == Data("abcdef".utf8) && site.file(site.path("whole.txt")) == body)
        #expect(site.file(site.path("cut.txt")) == nil && site.file(site.path("empty.txt")) == Data())
        for reason in [
            "/events: it is a stream without an end", "/cut.txt: only 500 of its 1000 bytes came\n",
            "/mine/token.txt: it was requested with \"x-name\", and without that field",
        ] { #expect(result.output.contains(reason), "\(result)") }
    }

    @Test("A download, and what a service worker caches, are left out", .startsChromium)
    func asides() async throws {
        let site = try LiveSite()
        let page = """
            <body><iframe src="/archive.zip"></iframe><iframe src="/attached.html"></iframe>
            <script>
            const link = document.createElement("a");
            [link.href, link.download] = ["/saved.svg", ""];
            document.body.append(link);
            link.click();
            navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready)
              .then(() => fetch("/ready.txt"));
            </script>
            """
        let worker = """
            importScripts("/part.js");
            addEventListener("install", event => event.waitUntil(
              caches.open("v1").then(cache => cache.addAll(["/cached.txt"]))));
            """
        site.page("/", page)
        site.set("/archive.zip", "application/zip", "PK\u{3}\u{4}")
        site.set("/attached.html", "text/html", "<p>", ["Content-Disposition": "attachment"])
        site.set("/saved.svg", "image/svg+xml", LiveSite.picture(10))
        site.set("/worker.js", "text/javascript", worker)
        site.set("/part.js", "text/javascript", "let part = 1;")
        for name in ["cached", "ready"] { site.set("/\(name).txt", "text/plain", "text") }
        // A browser on a busy machine may begin a download late, and the page has ended once nothing is loading.
        site.hold("/ready.txt", until: "/saved.svg")
        let result = try await site.run("add", "--in-browser", "--wait", "2", site.url)
        #expect(result.status == 0, "\(result)")
        let loaded = Set(site.requests())
        #expect(loaded.isSuperset(of: ["/cached.txt", "/part.js", "/ready.txt", "/saved.svg"]), "\(loaded)")
        let names = try FileManager.default.contentsOfDirectory(atPath: site.folder.url.path + "/" + site.path(""))
        #expect(names.sorted() == ["index.html", "ready.txt", "worker.js"], "\(result)")
        for words in ["  3, such as ", ": it is a download\n"] { #expect(result.output.contains(words), "\(result)") }
        #expect(result.errors.contains("a download was refused: \(site.url)saved.svg\n"), "\(result)")
    }

    @Test("A load that the page drops while the tool holds its request is not waited for", .startsChromium)
    func dropped() async throws {
        let site = try LiveSite()
        let script = """
            <script>
            for (let i = 0; i < 40; i++) {
              const controller = new AbortController();
              fetch(`/${i}.txt`, { signal: controller.signal }).catch(() => {});
              setTimeout(() => controller.abort(), i % 20);
            }
            setTimeout(() => fetch("/last.txt"), 200);
            </script>
            """
        site.page("/", script)
        site.set("/last.txt", "text/plain", "text")
        for number in 0..<40 {
            site.set("/\(number).txt", "text/plain", "text")
            // The page drops each load before its response begins.
            site.hold("/\(number).txt", until: "/last.txt")
        }
        let result = try await site.run("add", "--in-browser", "--dry-run", site.url)
        #expect(result.status == 0 && result.errors == "", "\(result)")
    }

    @Test("A recording is readable for its owner only, and replaces no file but a recording", .startsChromium)
    func recordingFile() async throws {
        let site = try LiveSite()
        site.page("/", "")
        let elsewhere = try TemporaryFolder()
        let old = elsewhere.url.appendingPathComponent("page.har")
        let mine = elsewhere.url.appendingPathComponent("mine.json")
        try elsewhere.write("{\"log\":{}}", to: "page.har")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: old.path)
        #expect(try await site.run("add", "--in-browser", "--har", old.path, site.url).status == 0)
        let mode = try FileManager.default.attributesOfItem(atPath: old.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try HARFile(Data(contentsOf: old), name: "page.har").exchanges.count > 0)
        try elsewhere.write("{}", to: "mine.json")
        let refused = try await site.run("add", "--in-browser", "--har", mine.path, site.url)
        let refusal = "mine.json\" was not written by this tool"
        #expect(refused.status == 1 && refused.errors.contains(refusal), "\(refused)")
        #expect(try Data(contentsOf: mine) == Data("{}".utf8))
        let shipped = try await site.run("add", "--in-browser", "--har", "page.har", site.url)
        #expect(shipped.status == 2 && shipped.errors.contains("lies in the manifest's folder"), "\(shipped)")
    }

    @Test("Bodies without a length and an end are stopped", .startsChromium)
    func endlessBody() async throws {
        let site = try LiveSite()
        let script = """
            <script>
            const load = name => fetch(`/${name}.txt`).then(answer => answer.text()).catch(() => fetch(`/no-${name}.txt`));
            load("one").then(() => load("bomb"));
            </script>
            """
        site.page("/", script)
        let (text, zeros) = (Data(repeating: 0x61, count: 1 << 20), CompressedZeros())
        var (one, bomb) = (LoopbackServer.Response.stream { text }, LoopbackServer.Response.stream { zeros.nextPart() })
        one.headers = ["Content-Type": "text/plain"]
        bomb.headers = ["Content-Type": "text/plain", "Content-Encoding": "gzip"]
        site.set("/one.txt", one)
        site.set("/bomb.txt", bomb)
        for name in ["one", "bomb"] { site.set("/no-\(name).txt", "text/plain", name) }
        let result = try await site.run("add", "--in-browser", "--max-size", "1MB", "--timeout", "60", site.url)
        // The two have one reason, and so one line.
        #expect(result.status == 0 && result.output.contains("  2, such as "), "\(result)")
        #expect(result.output.contains(".txt: it was stopped: it came without its length"), "\(result)")
        for name in ["one", "bomb"] { #expect(site.file(site.path("no-\(name).txt")) != nil, "\(result)") }
    }

    /// A gzip body (RFC 1952) of zeros, without an end; each part holds 64 MB.
    // Only the thread of one connection asks for parts.
    private final class CompressedZeros: @unchecked Sendable {
        private var head = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0xFF, 0xFF])
        private static let megabyte =
            Data([0xEC, 0xC1, 0x31, 1, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 8, 0x5F, 0xA0])
            + Data(repeating: 0, count: 1016) + Data([0x3E, 3, 0, 0, 0xFF, 0xFF])
        private let part = Data((0..<64).flatMap { _ in CompressedZeros.megabyte })

        func nextPart() -> Data {
            defer { head = Data() }
            return head + part
        }
    }

    @Test("A page that never ends is stopped with the reason", .startsChromium)
    func endlessPage() async throws {
        let site = try LiveSite()
        var answer = LoopbackServer.Response.stream { Data(repeating: 0x61, count: 1 << 20) }
        answer.headers = ["Content-Type": "text/html"]
        site.set("/", answer)
        let result = try await site.run("add", "--in-browser", "--max-size", "1MB", "--timeout", "30", site.url)
        let reason = "could not be loaded: it was stopped: it came without its length"
        #expect(result.status == 1 && result.errors.contains(reason), "\(result)")
    }

    @Test("A window shows the files until it is closed, even if the page is still loading", .opensWindow)
    func window() async throws {
        let site = try LiveSite()
        let script = "<script>setInterval(() => fetch(\"/asked\"), 100); setTimeout(close, 2000);</script>"
        site.page("/", "<link rel=\"stylesheet\" href=\"/site.css\">\(script)")
        site.set("/site.css", "text/css", "h1 { color: red }")
        let screen = try #require(Program.find("xvfb-run"))
        try site.folder.write("{ \"\(site.url)site.css\": \"site.css\" }", to: "manifest.json")
        try site.folder.write("h1 { color: red }", to: "site.css")
        let (words, environment) = (["-a", Tool.url.path, "browse", site.url], Tool.withoutSandbox([:]))
        let browsed = try await Program.run(screen, words, in: site.folder.url, environment: environment)
        #expect(browsed.status == 0 && browsed.output.contains("  file     \(site.url)site.css"), "\(browsed)")
    }

    /// Returns a response that never ends and is never silent for long.
    private static func stream(_ type: String, _ part: String) -> LoopbackServer.Response {
        var response = LoopbackServer.Response.stream {
            usleep(100_000)
            return Data(part.utf8)
        }
        response.headers = ["Content-Type": type]
        return response
    }

    @Test(
        "A page that never finishes ends at the timeout, whatever it opens or downloads, and all is told",
        .startsChromium
    )
    func hostile() async throws {
        let site = try LiveSite()
        let page = """
            <link rel="stylesheet" href="/style.css"><body>
            <a id="a" href="/file.zip" download>a</a>
            <script>
              a.click(); open("/other.html"); alert("\\u001b[31mHello\\u202e"); fetch("/endless.txt"); fetch("/silent.txt");
              const frame = document.createElement("iframe");
              frame.src = "file:///etc/passwd";
              document.body.append(frame);
              for (let i = 0; i < 20; i++) { alert(i); fetch(`/secret${i % 8}.txt`); }
            </script>
            """
        site.page("/", page)
        site.set("/style.css", "text/css", "h1 { color: red }")
        site.set("/file.zip", "application/zip", "PK", ["Content-Disposition": "attachment"])
        site.set("/endless.txt", Self.stream("text/plain", "more and more "))
        site.set("/silent.txt", LoopbackServer.Response(transfer: .silent))
        let secret = LoopbackServer.Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""])
        for number in 0..<8 { site.set("/secret\(number).txt", secret) }
        let result = try await site.run("add", "--in-browser", "--timeout", "8", site.url, site.url + "missing.html")
        #expect(result.status == 1, "\(result)")
        // Twenty dialogs hide neither other notes nor that a page is not complete.
        for note in [
            "\(site.url) was not finished after 8 seconds; still loading: ",
            "a dialog was closed: \"\\u{1B}[31mHello\\u{202E}\"", "a dialog was closed: \"1\"\n",
            "the page has more dialogs, pop-ups, downloads or requests for a password\n",
            "\(site.url)missing.html answers 404\n", "2 pages were not loaded completely; what was loaded is kept\n",
        ] { #expect(result.errors.contains(note), "\(result)") }
        #expect(!result.errors.contains("dialog was closed: \"15\""), "\(result)")
        #expect(!result.errors.contains("\u{1B}") && !result.output.contains("\u{1B}"))
        #expect(site.file(site.path("style.css")) != nil)
        let names = FileManager.default.enumerator(atPath: site.folder.url.path)?.allObjects as? [String] ?? []
        #expect(!names.contains { $0.contains("passwd") || $0.hasSuffix(".zip") }, "\(names)")
    }

    @Test(
        "A page that cannot be loaded gives a message, and changes nothing",
        .startsChromium,
        arguments: [
            ("http://127.0.0.1:9/", "the browser gave up (ERR_UNSAFE_PORT)"),
            ("SITE/download", "is a download, not a page"), ("SITE/loop", "it is redirected too many times"),
            ("SITE/silent", "did not answer within 8 seconds"),
            ("SITE/endless", "could not be loaded: it was stopped: it came without its length"),
        ]
    )
    func unloadable(url: String, reason: String) async throws {
        let site = try LiveSite()
        site.set("/download", "application/zip", "PK", ["Content-Disposition": "attachment"])
        site.set("/loop", LoopbackServer.Response(status: 302, headers: ["Location": "/loop"]))
        site.set("/silent", LoopbackServer.Response(transfer: .silent))
        var endless = LoopbackServer.Response.stream { Data(repeating: 0x61, count: 1 << 20) }
        endless.headers = ["Content-Type": "text/html"]
        site.set("/endless", endless)
        let limits = ["--max-size", "1MB", "--timeout", url.hasSuffix("endless") ? "30" : "8"]
        let words = ["add", "--in-browser"] + limits + [url.replacing("SITE/", with: site.url)]
        let result = try await Tool.start(words, in: site.folder.url)
        #expect(result.status == 1 && result.output == "" && result.errors.contains(reason), "\(result)")
        #expect(site.file("manifest.json") == Data("{\n}\n".utf8))
    }
}
#endif
