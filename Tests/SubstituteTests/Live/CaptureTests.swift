// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("substitute capture", .serialized)
struct CaptureTests {
    @Test("A site with modules, lazy images, srcset and a service worker is captured byte for byte", .startsChromium)
    func wholeSite() async throws {
        let site = try LiveSite()
        site.build()
        let elsewhere = try TemporaryFolder()
        let recording = elsewhere.url.appendingPathComponent("page.har").path
        let result = try await site.run(
            "capture",
            "--device",
            "phone",
            "--device",
            "desktop",
            "--scroll",
            "--har",
            recording,
            site.url
        )
        #expect(result.status == 0 && result.errors == "", "\(result)")
        #expect(site.file(site.path("css/zipped.css")) == Data("body { margin: 3px }\n".utf8))
        #expect(site.file(site.path("css/latin.css")) == LiveSite.latin)
        #expect(site.file(site.path("data/large.bin")) == LiveSite.large)
        // These are the images for the two devices, and the image that becomes visible only after scrolling.
        #expect(site.file(site.path("img/one.svg")) == LiveSite.picture(60))
        #expect(site.file(site.path("img/three.svg")) == LiveSite.picture(180))
        #expect(site.file(site.path("img/late.svg")) == LiveSite.picture(60))
        #expect(site.file(site.path("img/two.svg")) == nil)
        for path in ["index.html", "css/site.css", "css/more.css", "js/main.js", "js/part.js", "worker.js"] {
            #expect(site.file(site.path(path)) != nil, "\(path)")
        }
        let check = await Tool.run(["check", "--strict"], in: site.folder.url)
        #expect(check.status == 0, "\(check)")

        // The recording can be imported like any other recording.
        let again = await Tool.run(["import", "--dry-run", recording], in: site.folder.url)
        #expect(
            again.status == 0 && again.output.hasSuffix("0 entries with 0 bytes, 12 left out\nNothing was written.\n"),
            "\(again)"
        )

        // The app's files answer every request of the page, and the page looks the same.
        _ = site.requests()
        let verified = try await site.run("verify", "--require", "100%", "--scroll", site.url)
        #expect(verified.status == 0 && verified.errors == "", "\(verified)")
        #expect(verified.output.contains("\n\(site.url)  The files fit. "), "\(verified)")
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
            </script>
            """
        site.set("/", "text/html", Data(page.utf8), ["Set-Cookie": "session=secret-session"])
        site.set("/mine.json", "application/json", Data("{}".utf8))
        site.set("/keyed.json", "application/json", Data("{}".utf8))
        site.set("/moved", LoopbackServer.Response(status: 302, headers: ["Location": "/ours.json?no=secret-leads"]))
        site.set("/ours.json", "application/json", Data("[]".utf8), ["Cache-Control": "private"])
        let result = try await site.run("capture", "--har", "page.har", site.url)
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("/mine.json: it was requested with a password or token"), "\(result)")
        #expect(result.output.contains("/ours.json: requested with cookies and marked private"), "\(result)")
        let recording = String(decoding: site.file("page.har") ?? Data(), as: UTF8.self)
        // The recording keeps the queries of the URLs that the page requested, so these URLs still contain secrets.
        let others = recording.replacingOccurrences(of: "/moved?code=secret-code", with: "")
            .replacingOccurrences(of: "/ours.json?no=secret-leads", with: "")
        #expect(!others.contains("secret") && !others.contains("somebody"), "\(others)")
        #expect(recording.contains("\"name\":\"Cookie\",\"value\":\"\""))
    }

    @Test("A byte range becomes the whole file, and a stream is left out with a reason", .startsChromium)
    func parts() async throws {
        let site = try LiveSite()
        let page = """
            <!doctype html><link rel="icon" href="data:,"><video src="/film.webm" preload="auto"></video>
            <script>new EventSource("/events"); fetch("/part.txt", { headers: { Range: "bytes=2-3" } });</script>
            """
        site.set("/", "text/html", Data(page.utf8))
        site.set("/film.webm", "video/webm", Data([0x1A, 0x45, 0xDF, 0xA3]) + Data(repeating: 0, count: 300_000))
        site.set("/part.txt", "text/plain", Data("abcdef".utf8))
        site.set("/events", Self.stream("text/event-stream", "data: 1\n\n"))
        let result = try await site.run("capture", site.url)
        #expect(result.status == 0 && result.errors == "", "\(result)")
        #expect(site.file(site.path("film.webm"))?.count == 300_004)
        #expect(site.file(site.path("part.txt")) == Data("abcdef".utf8))
        #expect(result.output.contains("/events: it is a stream without an end"), "\(result)")
    }

    @Test("Incomplete bodies are left out with a reason, and empty files are files", .startsChromium)
    func incomplete() async throws {
        let site = try LiveSite()
        let page = """
            <!doctype html><link rel="icon" href="data:,"><script>
            for (const path of ["cut.txt", "empty.txt", "whole.txt"]) fetch("/" + path).catch(() => 0);
            </script>
            """
        site.set("/", "text/html", Data(page.utf8))
        let body = Data(repeating: UInt8(ascii: "a"), count: 1000)
        let fields = ["Content-Type": "text/plain"]
        site.set("/cut.txt", LoopbackServer.Response(headers: fields, body: body, transfer: .closing(after: 500)))
        site.set("/empty.txt", LoopbackServer.Response(headers: fields))
        site.set("/whole.txt", LoopbackServer.Response(headers: fields, body: body, transfer: .chunked(100)))
        let result = try await site.run("capture", site.url)
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("/cut.txt: only 500 of its 1000 bytes came\n"), "\(result)")
        #expect(site.file(site.path("whole.txt")) == body)
        #expect(site.file(site.path("cut.txt")) == nil && site.file(site.path("empty.txt")) == Data())
    }

    @Test("A window records until it is closed, even if the page is still loading", .opensWindow)
    func window() async throws {
        let site = try LiveSite()
        let page = """
            <!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="/site.css">
            <script>setInterval(() => fetch("/asked"), 100); setTimeout(close, 2000);</script>
            """
        site.set("/", "text/html", Data(page.utf8))
        site.set("/site.css", "text/css", Data("h1 { color: red }".utf8))
        let screen = try #require(Program.find("xvfb-run"))
        let result = try await Program.run(
            screen,
            ["-a", Tool.url.path, "capture", "--no-sandbox", "--show", site.url],
            in: site.folder.url
        )
        #expect(result.status == 0, "\(result)")
        #expect(result.errors.contains("Recording; close the browser's window to end it.\n"), "\(result)")
        #expect(site.file(site.path("site.css")) == Data("h1 { color: red }".utf8))
        let browsed = try await Program.run(
            screen,
            ["-a", Tool.url.path, "browse", "--no-sandbox", site.url],
            in: site.folder.url
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
        "A page that never finishes ends at the timeout, whatever it opens or downloads",
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
            </script>
            """
        site.set("/", "text/html", Data(page.utf8))
        site.set("/style.css", "text/css", Data("h1 { color: red }".utf8))
        site.set("/file.zip", "application/zip", Data("PK".utf8), ["Content-Disposition": "attachment"])
        site.set("/endless.txt", Self.stream("text/plain", "more and more "))
        site.set("/silent.txt", LoopbackServer.Response(transfer: .silent))
        let result = try await site.run("capture", "--timeout", "8", site.url)
        #expect(result.status == 0, "\(result)")
        #expect(result.errors.contains("was not finished after 8 seconds; still loading: "), "\(result)")
        #expect(result.errors.contains("a dialog was closed: \"\\u{1B}[31mHello\\u{202E}\""), "\(result)")
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
        let result = try await site.run(
            "capture",
            "--timeout",
            "8",
            url.replacingOccurrences(of: "SITE/", with: site.url)
                .replacingOccurrences(of: "GONE", with: gone.url.absoluteString)
        )
        #expect(result.status == 1 && result.output == "" && result.errors.contains(words), "\(result)")
        #expect(site.file("manifest.json") == Data("{\n}\n".utf8))
    }
}
#endif
