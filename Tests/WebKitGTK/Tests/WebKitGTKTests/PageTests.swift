import Foundation
import FoundationNetworking
import LoopbackServer
import TestSupport
import Testing

@testable import Browser
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

extension WebKitTests {
    @Suite("The Demo's page", .serialized)
    struct DemoPageTests {
        /// Shows the page, and returns a snapshot and the requests that its server received.
        private func show(_ site: DemoSite, _ way: Way) async throws -> (picture: Data, requests: [String]) {
            site.server.forgetRequests()
            let browser = try await way.browser(site.cache, forwardingTo: [site.authority])
            try await browser.load(way.address(of: site.page))
            let pictures = try await browser.evaluate("return [...document.images].filter(i => i.naturalWidth).length")
            #expect(pictures == "6")
            return (try await browser.picture(), site.requests)
        }

        @Test("It requests only itself and the image that changes; as a mirror, only that image")
        func requests() async throws {
            let site = try DemoSite()
            #expect(try await show(site, .network).requests.count == 9)
            #expect(try await show(site, .rules).requests == ["/", "/live/tide.svg"])
            #expect(try await show(site, .mirror).requests == ["/live/tide.svg"])
        }

        @Test("It looks the same in all three ways if the files are the same, and different if they are not")
        func pictures() async throws {
            let (same, other) = (try DemoSite(isSame: true), try DemoSite())
            let expected = try await show(same, .network).picture
            #expect(try await show(same, .rules).picture == expected)
            #expect(try await show(same, .mirror).picture == expected)
            let network = try await show(other, .network).picture
            let bundle = try await show(other, .rules).picture
            #expect(network != bundle)
            #expect(try await show(other, .mirror).picture == bundle)
        }
    }

    @Suite("A mirror with an archive")
    struct ArchiveTests {
        /// Shows a mirror in a process of its own, and returns the picture.
        private func look(_ page: String, _ folder: TemporaryFolder) throws -> Data {
            let look = Process()
            look.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appendingPathComponent("Look")
            look.arguments =
                [page, "--manifest", folder.url.path + "/manifest.json", "--archive", folder.url.path + "/archive"]
                + ["-o", folder.url.path]
            let picture = folder.url.appendingPathComponent("mirror.png")
            try? FileManager.default.removeItem(at: picture)
            try look.run()
            look.waitUntilExit()
            return try Data(contentsOf: picture)
        }

        @Test("A page that was shown once looks the same in another process after its server has stopped")
        func offline() throws {
            let (site, folder) = (try DemoSite(), try TemporaryFolder())
            try folder.write("{}", to: "manifest.json")
            let online = try look(site.page, folder)
            #expect(site.requests.count == 9)
            site.server.stop()
            #expect(try look(site.page, folder) == online)
            try FileManager.default.removeItem(at: folder.url.appendingPathComponent("archive"))
            #expect(throws: CocoaError.self) { try look(site.page, folder) }
        }
    }

    @Suite("Pages and SchemeServer", .serialized)
    struct PageTests {
        /// A site with a page, and an app with files for the page's stylesheet and for a large download.
        private struct Scene {
            let folder: TemporaryFolder
            let cache: SubstitutionCache
            let site: LoopbackServer

            init(_ respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response) throws {
                folder = try TemporaryFolder()
                try folder.write(":root { --who: first }", to: "site.css")
                try folder.write(Data(count: 64 << 20), to: "huge.bin")
                site = try LoopbackServer(respond)
                let url = site.url.absoluteString
                let manifest = #"{ "\#(url)/site.css": "site.css", "\#(url)/huge.bin": "huge.bin" }"#
                try folder.write(manifest, to: "manifest.json")
                cache = try SubstitutionCache(manifest: folder.url.appendingPathComponent("manifest.json"))
            }

            var authority: String { String(site.url.absoluteString.dropFirst("http://".count)) }

            static func html(_ text: String) -> LoopbackServer.Response {
                .init(headers: ["Content-Type": "text/html"], body: Data(text.utf8))
            }
        }

        private static let who = "return getComputedStyle(document.documentElement).getPropertyValue('--who').trim()"

        @Test(
            "After reload(), a view shows the new files, because their responses say no-cache",
            arguments: [Way.rules, .mirror]
        )
        func reload(way: Way) async throws {
            let scene = try Scene { _ in Scene.html("<link rel=stylesheet href=/site.css>") }
            defer { scene.site.stop() }
            let browser = try await way.browser(scene.cache, forwardingTo: [scene.authority])
            let page = way.address(of: scene.site.url.absoluteString)
            try await browser.load(page + "/1")
            #expect(try await browser.evaluate(Self.who) == "first")
            try FileManager.default.removeItem(at: scene.folder.url.appendingPathComponent("site.css"))
            try scene.folder.write(":root { --who: second }", to: "site.css")
            try scene.cache.reload()
            try await browser.load(page + "/2")
            #expect(try await browser.evaluate(Self.who) == "second")
        }

        @Test("A response that may be cached is reused, even after its max-age")
        func kept() async throws {
            let asked = NSLock()
            nonisolated(unsafe) var count = 0
            let browser = try await Browser { request in
                let isPage = request.url?.path.hasSuffix(".css") != true
                let number = asked.withLock { () -> Int in
                    count += isPage ? 0 : 1
                    return count
                }
                let text = isPage ? "<link rel=stylesheet href=/a.css>" : ":root { --who: \(number) }"
                let fields = ["Content-Type": isPage ? "text/html" : "text/css", "Cache-Control": "max-age=1"]
                guard let url = request.url,
                    let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
                else { return SchemeReply(failure: URLError(.badURL)) }
                return SchemeReply(head, Data(text.utf8))
            }
            for page in ["1", "2"] {
                try await browser.load("substitution-https://h/\(page)")
                #expect(try await browser.evaluate(Self.who) == "1")
                // Wait for longer than the response's `max-age`.
                try await Task.sleep(nanoseconds: 1_500_000_000)
            }
        }

        /// Counts the loads that have begun, and the loads that have ended.
        private final class Loads: @unchecked Sendable {
            private let lock = NSLock()
            private var (begun, ended) = (0, 0)

            func begin() { lock.withLock { begun += 1 } }
            func end() { lock.withLock { ended += 1 } }
            var open: Int { lock.withLock { begun - ended } }
            var all: Int { lock.withLock { begun } }
        }

        @Test("A page that is closed in the middle of a large file leaves no load open")
        func left() async throws {
            let scene = try Scene { _ in Scene.html("<script>fetch('/huge.bin').then(a => a.arrayBuffer())</script>") }
            defer { scene.site.stop() }
            let server = SchemeServer(scene.cache, forwardingTo: [scene.authority])
            let loads = Loads()
            let browser = try await Browser { request in
                loads.begin()
                let reply = server.reply(to: request)
                return SchemeReply(
                    AsyncThrowingStream { continuation in
                        let delivery = Task { await reply.deliver(to: continuation) }
                        continuation.onTermination = { _ in
                            delivery.cancel()
                            loads.end()
                        }
                    }
                )
            }
            let page = Way.mirror.address(of: scene.site.url.absoluteString)
            for number in 0..<20 {
                try await browser.load("\(page)/\(number)")
                try await Task.sleep(nanoseconds: UInt64(number) * 3_000_000)
            }
            try await browser.load("about:blank")
            try await wait(for: "the end of \(loads.open) loads") { loads.open == 0 }
            #expect(loads.all > 30, "\(loads.all)")
        }

        @Test("A mirror page loads what its policy allows, and lacks the features that the documentation lists")
        func limits() async throws {
            let scene = try Scene { request in
                guard request.path == "/page" else { return .text(request.headers["referer"] ?? "-") }
                var page = Scene.html(
                    "<meta http-equiv=Content-Security-Policy content=\"style-src http:\"><link rel=stylesheet href=/site.css>"
                )
                page.headers["Content-Security-Policy"] = "default-src http: 'unsafe-inline'"
                page.headers["Cross-Origin-Opener-Policy"] = "same-origin"
                page.headers["Cross-Origin-Embedder-Policy"] = "require-corp"
                return page
            }
            defer { scene.site.stop() }
            let browser = try await Way.mirror.browser(scene.cache, forwardingTo: [scene.authority])
            try await browser.load(Way.mirror.address(of: scene.site.url.absoluteString) + "/page")
            #expect(try await browser.evaluate(Self.who) == "first")
            let lacks = """
                const attempt = async body => { try { return String(await body()); } catch (error) { return error.name; } };
                document.cookie = "a=1";
                return [
                  await attempt(() => navigator.serviceWorker.register("/worker.js")), crossOriginIsolated,
                  typeof SharedArrayBuffer, document.cookie, document.referrer,
                  await attempt(() => navigator.sendBeacon("/beacon", "x")),
                ].join("|");
                """
            #expect(try await browser.evaluate(lacks) == "TypeError|false|undefined|||TypeError")
            let synchronous = """
                const request = new XMLHttpRequest();
                request.open("GET", "/forwarded", false);
                request.send();
                return request.responseText;
                """
            #expect(try await browser.evaluate(synchronous) == "-")
            #expect(!scene.site.requests.contains { $0.path == "/beacon" || $0.path == "/worker.js" })
        }

        /// The script of a page that tries to attack another host.
        private static let attacks = """
            const results = [];
            const attempt = async (name, load) => { try { results.push(name + " " + await load()); } catch { results.push(name + " failed"); } };
            const text = async (path, options) => { const answer = await fetch(TARGET + path, options); return answer.type + " " + (await answer.text()); };
            await attempt("read", () => text("/secret"));
            await attempt("read with credentials", () => text("/secret", { credentials: "include" }));
            await attempt("read blindly", () => text("/blind", { mode: "no-cors" }));
            await attempt("write", () => text("/write-post", { method: "POST", body: "x" }));
            await attempt("write blindly", () => text("/write-blind", { method: "POST", body: "x", mode: "no-cors", referrerPolicy: "no-referrer" }));
            await attempt("put", () => text("/write-put", { method: "PUT", headers: { "X-Own": "1" } }));
            await attempt("other host", () => text("/x".replace("/x", ""), {}).catch(() => fetch("substitution-http://127.0.0.1:1/intranet").then(a => a.text())));
            const form = document.createElement("form");
            Object.assign(form, { method: "post", action: TARGET + "/write-form", target: "sink" });
            const sink = document.createElement("iframe");
            sink.name = "sink";
            document.body.append(sink, form);
            form.submit();
            await new Promise(done => setTimeout(done, 500));
            """

        @Test(
            "A hostile page neither reads nor writes through the proxy, in a view or in a frame",
            arguments: [true, false]
        )
        func hostile(isFrame: Bool) async throws {
            let scene = try Scene { request in
                request.path == "/page"
                    ? Scene.html("<iframe src=\"\(request.target.dropFirst("/page?".count))\"></iframe>")
                    : .init(
                        headers: ["Set-Cookie": "session=1; Path=/", "Content-Type": "text/plain"],
                        body: Data("secret \(request.headers["cookie"] ?? "-")".utf8)
                    )
            }
            defer { scene.site.stop() }
            let target = Way.mirror.address(of: scene.site.url.absoluteString)
            let evil = try LoopbackServer { request in
                if request.path == "/report" { return .text("") }
                return Scene.html(
                    "<body><script>const TARGET = '\(target)'; (async () => { \(Self.attacks) fetch('/report', { method: 'POST', body: results.join('; ') }); })()</script>"
                )
            }
            defer { evil.stop() }
            let browser = try await Way.mirror.browser(scene.cache, forwardingTo: [scene.authority])
            // The site sets a session cookie.
            try await browser.load(target + "/login")
            scene.site.forgetRequests()
            try await browser.begin(
                isFrame ? "\(target)/page?\(evil.url.absoluteString)/" : evil.url.absoluteString + "/"
            )
            var report: String?
            for _ in 0..<300 where report == nil {
                try await Task.sleep(nanoseconds: 100_000_000)
                report = evil.requests.first { $0.path == "/report" }.map { String(decoding: $0.body, as: UTF8.self) }
            }
            let results = try #require(report)
            #expect(!results.contains("secret"), "\(results)")
            let reached = scene.site.requests.filter { $0.path != "/page" }
            #expect(
                reached.allSatisfy { $0.method == "GET" && $0.headers["cookie"] == nil },
                "\(reached.map { "\($0.method) \($0.target) \($0.headers)" })"
            )
            // The page's own requests are sent, with the session cookie.
            try await browser.load(target + "/page?about:blank")
            let own = try await browser.evaluate("return (await fetch('/own', { method: 'POST', body: 'x' })).text()")
            #expect(own == "secret session=1")
        }

        @Test("A mirror with an import map and unusual addresses needs no network")
        func importMaps() async throws {
            let folder = try TemporaryFolder()
            let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
            let tools = "import { Scene } from 'three'; export const tools = Scene === 'scene' && 'tools';"
            for (name, text) in [
                ("cdn/three.js", "export const Scene = 'scene'; globalThis.count = (globalThis.count || 0) + 1;"),
                ("cdn/addons/tools.js", tools), ("cdn/old/three.js", "export const Scene = 'old';"),
                ("cdn/old/app.js", "import { Scene } from 'three'; export const old = Scene;"),
                ("site/img/a.svg", picture), ("site/dir/b.svg", picture), ("cdn/c.svg", picture),
                (
                    "site/dir/index.html",
                    """
                    <!doctype html><title>-</title>
                    <script type="importmap">
                    {
                      "imports": {
                        "three": "https://cdn.test/three.js", "three/addons/": "https:\\/\\/cdn.test/addons/",
                        "old": "https://cdn.test/old/app.js", "https://cdn.test/whole.js": "https://cdn.test/three.js"
                      },
                      "scopes": { "https://cdn.test/old/": { "three": "https://CDN.test:443/old/three.js" } },
                      "integrity": { "https://cdn.test/three.js": "INTEGRITY" }
                    }
                    </script>
                    <script type="module">
                    import { Scene } from "three";
                    import { tools } from "three/addons/tools.js";
                    import { old } from "old";
                    import * as whole from "https://cdn.test/whole.js";
                    document.title = [Scene, tools, old, whole.Scene, globalThis.count].join(" ");
                    </script>
                    <img src="..\\img\\a.svg"><img src="https:b.svg"><img src="\\\\cdn.test\\c.svg"><img src="///cdn.test/c.svg">
                    """
                ),
            ] {
                try folder.write(text, to: name)
            }
            let digest = try await Program.run(
                "/bin/sh",
                ["-c", "openssl dgst -sha256 -binary cdn/three.js | openssl base64 -A"],
                in: folder.url
            )
            let page = folder.url.appendingPathComponent("site/dir/index.html")
            let html = try String(contentsOf: page, encoding: .utf8)
            let promised = html.replacingOccurrences(of: "INTEGRITY", with: "sha256-\(digest.output)")
            try Data(promised.utf8).write(to: page)
            let manifest = #"{ "https://site.test/": "site/", "https://cdn.test/": "cdn/" }"#
            let cache = try SubstitutionCache(manifestData: Data(manifest.utf8), folder: folder.url)
            let browser = try await Way.mirror.browser(cache, forwardingTo: [])
            try await browser.load("substitution-https://site.test/dir/")
            var title = "-"
            try await wait(for: "the title") {
                title = try await browser.evaluate("return document.title")
                return title != "-"
            }
            #expect(title == "scene tools old scene 1")
            #expect(
                try await browser.evaluate("return [...document.images].map(i => i.naturalWidth).join()") == "9,9,9,9"
            )
        }

        @Test("WebKit's own compiler accepts every generated expression")
        func expressions() async throws {
            let folder = try TemporaryFolder()
            try folder.write("x", to: "a.css")
            for name in [
                "a b.css", "ü.css", "[1]*.css", "a'b\"c|d^e%f.css", "x(1),y+.css", "{2}$.css",
                "\(String(repeating: "n", count: 200)).css",
            ] {
                try folder.write("x", to: "f/\(name)")
            }
            let manifest = """
                { "//h/": "f/", "https://h/q.*|^${}()[].css?a=1&b=|": "a.css",
                  "//[::1]:8080/a": { "file": "a.css", "ignoreQuery": true },
                  "https://x/b?c=d": { "file": "a.css", "ignoreQuery": ["v", "utm_*", "a.b|c"] } }
                """
            let cache = try SubstitutionCache(manifestData: Data(manifest.utf8), folder: folder.url)
            let pages = try PageExtension(cache.substitutions, name: "manifest.json")
            struct Rule: Decodable {
                struct Condition: Decodable { let regexFilter: String }
                let condition: Condition
            }
            let rules = try JSONDecoder().decode([Rule].self, from: try #require(pages.files["rules.json"]))
            #expect(rules.count > 20)
            try await ContentFilter.compile(rules.map(\.condition.regexFilter))
            for refused in ["a|b", "\\d", "a{2}"] {
                await #expect(throws: BrowserError.self) { try await ContentFilter.compile([refused]) }
            }
        }
    }
}
