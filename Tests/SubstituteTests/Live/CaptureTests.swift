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
        #expect(site.file(site.path("css/zipped.css")) == Data("body { margin: 3px }\n".utf8))
        #expect(site.file(site.path("css/latin.css")) == LiveSite.latin)
        #expect(site.file(site.path("data/large.bin")) == LiveSite.large)
        // These are the images for the three devices, and the image that becomes visible only after scrolling.
        #expect(site.file(site.path("img/one.svg")) == LiveSite.picture(60))
        #expect(site.file(site.path("img/three.svg")) == LiveSite.picture(180))
        #expect(site.file(site.path("img/late.svg")) == LiveSite.picture(60))
        #expect(site.file(site.path("img/two.svg")) == LiveSite.picture(120))
        for path in ["index.html", "css/site.css", "css/more.css", "js/main.js", "js/part.js", "worker.js"] {
            #expect(site.file(site.path(path)) != nil, "\(path)")
        }
        let check = await Tool.run(["check", "--strict"], in: site.folder.url)
        #expect(check.status == 0, "\(check)")

        // The recording can be imported like any other recording.
        let again = await Tool.run(["add", "--dry-run", recording], in: site.folder.url)
        let ending = "0 entries with 0 bytes, 13 left out\nNothing was written.\n"
        #expect(again.status == 0 && again.output.hasSuffix(ending), "\(again)")

        // The app's files answer every request of the page, and the page looks the same.
        _ = site.requests()
        let verified = try await site.run("verify", "--at-least", "100%", "--scroll", site.url)
        #expect(verified.status == 0 && verified.errors == "", "\(verified)")
        #expect(verified.output.hasPrefix("\(site.url)  The files fit. "), "\(verified)")
        // In the load without the files, the page requests everything once. The page's service worker then requests two
        // of these resources again. The load with the files requests nothing.
        let counts = Dictionary(site.requests().map { ($0, 1) }, uniquingKeysWith: +)
        let kept: Set = ["/", "/css/site.css"]
        #expect(counts.allSatisfy { $0.value == (kept.contains($0.key) ? 2 : 1) }, "\(counts)")
    }

    @Test("Secrets are not kept, and personal responses are left out", .startsChromium)
    func credentials() async throws {
        let site = try LiveSite()
        let page = """
            <!doctype html><link rel="icon" href="data:,"><script>
            document.cookie = "name=somebody";
            fetch("/mine.json", { headers: { Authorization: "Bearer secret-token" } });
            fetch("/keyed.json", { headers: { "X-Api-Key": "secret-key" } });
            fetch("/moved?code=secret-code").catch(() => 0);
            fetch("/ours.json");
            fetch("/mine/name.txt");
            fetch("/same.txt");
            </script>
            """
        site.set("/", "text/html", Data(page.utf8), ["Set-Cookie": "session=secret-session"])
        site.set("/mine.json", "application/json", Data("{}".utf8))
        site.set("/keyed.json", "application/json", Data("{}".utf8))
        site.set("/moved", LoopbackServer.Response(status: 302, headers: ["Location": "/ours.json?no=secret-leads"]))
        site.set("/ours.json", "application/json", Data("[]".utf8), ["Cache-Control": "private"])
        site.set("/same.txt", "text/plain", Data("same".utf8))
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
            if request.path == "/open.css" {
                return .init(headers: ["Content-Type": "text/css"], body: Data("a {}".utf8))
            }
            guard request.headers["authorization"] != nil else {
                return .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"a\""])
            }
            let page =
                "<!doctype html><link rel=icon href=data:,><link rel=stylesheet href=a.css><link rel=stylesheet href=open.css>"
            return request.path == "/a.css"
                ? .init(headers: ["Content-Type": "text/css"], body: Data("b {}".utf8))
                : .init(headers: ["Content-Type": "text/html"], body: Data(page.utf8))
        }
        defer { server.stop() }
        let url = server.url.absoluteString.replacingOccurrences(of: "://", with: "://anna:hunter2@") + "/page.html"
        for isPrivate in [false, true] {
            let folder = try TemporaryFolder()
            try folder.write("{}", to: "manifest.json")
            let options = ["add", "--in-browser"] + (isPrivate ? ["--include-private"] : [])
            let result = try await Tool.start(options + [url], in: folder.url)
            let manifest = try String(contentsOf: folder.url.appendingPathComponent("manifest.json"), encoding: .utf8)
            #expect(manifest.contains("/open.css"), "\(result)")
            for name in ["page.html", "a.css"] { #expect(manifest.contains("/\(name)") == isPrivate, "\(result)") }
        }
    }

    @Test("What a server sends only for a token in any field is left out", .startsChromium)
    func tokenInField() async throws {
        let server = try LoopbackServer { request in
            if request.path == "/" {
                let script = "fetch('/mine.txt', { headers: { 'X-Name': 'Bearer abc123def456ghi789' } })"
                let page = "<!doctype html><link rel=icon href=data:,><script>\(script)</script>"
                return .init(headers: ["Content-Type": "text/html"], body: Data(page.utf8))
            }
            return .text(request.headers["x-name"] ?? "for all")
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write("{}", to: "manifest.json")
        let result = try await Tool.start(["add", "--in-browser", "\(server.url)/"], in: folder.url)
        let reason = "/mine.txt: it was requested with \"x-name\", and without that field"
        #expect(result.output.contains(reason), "\(result)")
    }

    @Test("A byte range becomes the whole file, and streams and cut bodies are left out with a reason", .startsChromium)
    func parts() async throws {
        let site = try LiveSite()
        let page = """
            <!doctype html><link rel="icon" href="data:,"><video src="/film.webm" preload="auto"></video>
            <script>
            new EventSource("/events");
            fetch("/part.txt", { headers: { Range: "bytes=2-3" } });
            for (const path of ["cut.txt", "empty.txt", "whole.txt"]) fetch("/" + path).catch(() => 0);
            </script>
            """
        site.set("/", "text/html", Data(page.utf8))
        site.set("/film.webm", "video/webm", Data([0x1A, 0x45, 0xDF, 0xA3]) + Data(repeating: 0, count: 300_000))
        site.set("/part.txt", "text/plain", Data("abcdef".utf8))
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
        #expect(result.output.contains("/events: it is a stream without an end"), "\(result)")
        #expect(result.output.contains("/cut.txt: only 500 of its 1000 bytes came\n"), "\(result)")
    }

    @Test("A download, and what a service worker caches, are left out", .startsChromium)
    func asides() async throws {
        let site = try LiveSite()
        let page = """
            <!doctype html><link rel="icon" href="data:,"><body>
            <iframe src="/archive.zip"></iframe><iframe src="/attached.html"></iframe>
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
        site.set("/", "text/html", Data(page.utf8))
        site.set("/archive.zip", "application/zip", Data("PK\u{3}\u{4}".utf8))
        site.set("/attached.html", "text/html", Data("<p>".utf8), ["Content-Disposition": "attachment"])
        site.set("/saved.svg", "image/svg+xml", LiveSite.picture(10))
        site.set("/worker.js", "text/javascript", Data(worker.utf8))
        site.set("/part.js", "text/javascript", Data("let part = 1;".utf8))
        for name in ["cached", "ready"] { site.set("/\(name).txt", "text/plain", Data("text".utf8)) }
        // A browser on a busy machine may begin a download late, and the page has ended once nothing is loading.
        site.hold("/ready.txt", until: "/saved.svg")
        let result = try await site.run("add", "--in-browser", "--wait", "2", site.url)
        #expect(result.status == 0, "\(result)")
        let loaded = Set(site.requests())
        #expect(loaded.isSuperset(of: ["/cached.txt", "/part.js", "/ready.txt", "/saved.svg"]), "\(loaded)")
        let names = try FileManager.default.contentsOfDirectory(atPath: site.folder.url.path + "/" + site.path(""))
        #expect(names.sorted() == ["index.html", "ready.txt", "worker.js"], "\(result)")
        #expect(result.output.contains("  3, such as "), "\(result)")
        #expect(result.output.contains(": it is a download\n"), "\(result)")
        #expect(result.errors.contains("a download was refused: \(site.url)saved.svg\n"), "\(result)")
    }

    @Test("A load that the page drops while the tool holds its request is not waited for", .startsChromium)
    func dropped() async throws {
        let site = try LiveSite()
        let page = """
            <!doctype html><link rel="icon" href="data:,"><script>
            for (let i = 0; i < 40; i++) {
              const controller = new AbortController();
              fetch(`/${i}.txt`, { signal: controller.signal }).catch(() => {});
              setTimeout(() => controller.abort(), i % 20);
            }
            setTimeout(() => fetch("/last.txt"), 200);
            </script>
            """
        site.set("/", "text/html", Data(page.utf8))
        for name in ["last"] + (0..<40).map(String.init) {
            site.set("/\(name).txt", "text/plain", Data("text".utf8))
            // The page drops each load before its response begins.
            if name != "last" { site.hold("/\(name).txt", until: "/last.txt") }
        }
        let result = try await site.run("add", "--in-browser", "--dry-run", site.url)
        #expect(result.status == 0 && result.errors == "", "\(result)")
    }

    @Test("A recording is readable for its owner only, and replaces no file but a recording", .startsChromium)
    func recordingFile() async throws {
        let site = try LiveSite()
        site.set("/", "text/html", Data("<!doctype html>".utf8))
        let elsewhere = try TemporaryFolder()
        let path = elsewhere.url.appendingPathComponent("page.har").path
        let mode = { try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int }
        #expect(try await site.run("add", "--in-browser", "--har", path, site.url).status == 0)
        #expect(try mode() == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(try await site.run("add", "--in-browser", "--har", path, site.url).status == 0)
        #expect(try mode() == 0o600)
        #expect(try HARFile(Data(contentsOf: URL(fileURLWithPath: path)), name: "page.har").exchanges.count > 0)
        let mine = elsewhere.url.appendingPathComponent("mine.json")
        try elsewhere.write("{}", to: "mine.json")
        let refused = try await site.run("add", "--in-browser", "--har", mine.path, site.url)
        let refusal = "mine.json\" was not written by this tool"
        #expect(refused.status == 1 && refused.errors.contains(refusal), "\(refused)")
        #expect(try Data(contentsOf: mine) == Data("{}".utf8))
        let shipped = try await site.run("add", "--in-browser", "--har", "page.har", site.url)
        #expect(shipped.status == 2 && shipped.errors.contains("lies in the manifest's folder"), "\(shipped)")
    }

    @Test(
        "A body that comes without its length and never ends is stopped, and the browser stays small",
        .startsChromium,
        arguments: [(false, "one.txt"), (true, "bomb.txt")]
    )
    func endlessBody(isCompressed: Bool, name: String) async throws {
        let site = try LiveSite()
        let page = """
            <!doctype html><link rel="icon" href="data:,"><script>
            fetch("/\(name)").then(answer => answer.text()).catch(() => fetch("/stopped.txt"));
            </script>
            """
        site.set("/", "text/html", Data(page.utf8))
        site.set("/stopped.txt", "text/plain", Data("text".utf8))
        let zeros = CompressedZeros()
        let text = Data(repeating: 0x61, count: 1 << 20)
        var answer = LoopbackServer.Response.stream { isCompressed ? zeros.nextPart() : text }
        answer.headers = ["Content-Type": "text/plain"]
        if isCompressed { answer.headers["Content-Encoding"] = "gzip" }
        site.set("/" + name, answer)
        let result = try await site.run("add", "--in-browser", "--max-size", "1MB", "--timeout", "30", site.url)
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("/\(name): it was stopped: it came without its length"), "\(result)")
        #expect(site.file(site.path("stopped.txt")) != nil, "\(result)")
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
        let page = """
            <!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="/site.css">
            <script>setInterval(() => fetch("/asked"), 100); setTimeout(close, 2000);</script>
            """
        site.set("/", "text/html", Data(page.utf8))
        site.set("/site.css", "text/css", Data("h1 { color: red }".utf8))
        let screen = try #require(Program.find("xvfb-run"))
        try site.folder.write("{ \"\(site.url)site.css\": \"site.css\" }", to: "manifest.json")
        try site.folder.write("h1 { color: red }", to: "site.css")
        let browsed = try await Program.run(
            screen,
            ["-a", Tool.url.path, "browse", site.url],
            in: site.folder.url,
            environment: Tool.withoutSandbox([:])
        )
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
            <!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"><body>
            <a id="a" href="/file.zip" download>a</a>
            <script>
              a.click(); open("/other.html"); alert("\\u001b[31mHello\\u202e"); fetch("/endless.txt"); fetch("/silent.txt");
              const frame = document.createElement("iframe");
              frame.src = "file:///etc/passwd";
              document.body.append(frame);
              for (let i = 0; i < 20; i++) { alert(i); fetch(`/secret${i % 8}.txt`); }
            </script>
            """
        site.set("/", "text/html", Data(page.utf8))
        site.set("/style.css", "text/css", Data("h1 { color: red }".utf8))
        site.set("/file.zip", "application/zip", Data("PK".utf8), ["Content-Disposition": "attachment"])
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
            ("https://no-such-host.invalid/", "its server was not found (ERR_NAME_NOT_RESOLVED)"),
            ("SITE/download", "is a download, not a page"), ("SITE/loop", "it is redirected too many times"),
            ("SITE/silent", "did not answer within 8 seconds"),
            ("GONE", "its server cannot be reached (ERR_CONNECTION_REFUSED)"),
        ]
    )
    func unloadable(url: String, words: String) async throws {
        let site = try LiveSite()
        site.set("/download", "application/zip", Data("PK".utf8), ["Content-Disposition": "attachment"])
        site.set("/loop", LoopbackServer.Response(status: 302, headers: ["Location": "/loop"]))
        site.set("/silent", LoopbackServer.Response(transfer: .silent))
        let gone = try LoopbackServer { _ in .text("") }
        gone.stop()
        let address = url.replacingOccurrences(of: "SITE/", with: site.url)
            .replacingOccurrences(of: "GONE", with: gone.url.absoluteString)
        let result = try await site.run("add", "--in-browser", "--timeout", "8", address)
        #expect(result.status == 1 && result.output == "", "\(result)")
        #expect(result.errors.contains(words.replacingOccurrences(of: "SITE/", with: site.url)), "\(result)")
        #expect(site.file("manifest.json") == Data("{\n}\n".utf8))
    }
}
#endif
