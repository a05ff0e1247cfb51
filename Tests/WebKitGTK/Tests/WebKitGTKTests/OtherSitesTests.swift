import Foundation
import FoundationNetworking
import LoopbackServer
import TestSupport
import Testing

@testable import Browser
@testable import LocalSubstitutionCache

extension WebKitTests {
    /// Tests of requests to another site: from a page, and from the page's mirror.
    @Suite("Other sites", .serialized)
    struct OtherSitesTests {
        private static let picture = Data(
            "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>".utf8
        )

        /// Runs a script in a page of one site, and returns its result and the requests that a second site received.
        ///
        /// The function replaces `OTHER` in the script with the URL of the second site. The first site may read only
        /// those paths of the second site that begin with `/shared`. It redirects `/to/…` to the second site.
        private func attempt(_ script: String, _ way: Way) async throws -> (String, [LoopbackServer.Request]) {
            let other = try LoopbackServer { request in
                var headers = request.path.hasPrefix("/shared") ? ["Access-Control-Allow-Origin": "*"] : [:]
                let types = ["/x.svg": "image/svg+xml", "/x.css": "text/css", "/x.js": "text/javascript"]
                headers["Content-Type"] = types[request.path] ?? "text/plain"
                let bodies = ["/x.svg": Self.picture, "/x.css": Data(".secret { color: red }".utf8)]
                return .init(headers: headers, body: bodies[request.path] ?? Data("throw new Error('secret')".utf8))
            }
            defer { other.stop() }
            let second = "b.localhost:\(other.url.port ?? 0)"
            let site = try LoopbackServer { request in
                request.path.hasPrefix("/to/")
                    ? .init(status: 302, headers: ["Location": "http://\(second)\(request.path.dropFirst(3))"])
                    : .init(headers: ["Content-Type": "text/html"], body: Data("<!doctype html><body>".utf8))
            }
            defer { site.stop() }
            let first = "a.localhost:\(site.url.port ?? 0)"
            let browser = try await way.browser(TemporaryFolder().cache("{}"), forwardingTo: [first, second])
            try await browser.load(way.address(of: "http://\(first)/"))
            let text = script.replacingOccurrences(of: "OTHER", with: way.address(of: "http://\(second)"))
            return (try await browser.evaluate(text), other.requests)
        }

        /// Each script returns the text of what it has read.
        private static let redirected = """
            const results = {};
            const attempt = async (name, body) => { try { results[name] = await body(); } catch { results[name] = "nothing"; } };
            await attempt("canvas", async () => {
              const image = new Image();
              image.src = "/to/x.svg";
              await image.decode();
              const canvas = document.createElement("canvas").getContext("2d");
              canvas.drawImage(image, 0, 0);
              return "secret " + canvas.getImageData(0, 0, 1, 1).data.join();
            });
            await attempt("rules", async () => {
              const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/to/x.css" });
              await new Promise((done, fail) => { link.onload = done; link.onerror = fail; document.body.append(link); });
              return link.sheet.cssRules[0].cssText;
            });
            await attempt("error", async () => {
              const said = new Promise(done => { onerror = done; setTimeout(() => done(""), 2000); });
              document.body.append(Object.assign(document.createElement("script"), { src: "/to/x.js" }));
              if (!(await said).includes("secret")) throw new Error();
              return "secret";
            });
            await attempt("fetch", async () => (await fetch("/to/x.txt")).text());
            await attempt("no-cors", async () => (await fetch("/to/x.txt", { mode: "no-cors" })).text());
            await attempt("shared", async () => (await fetch("/to/shared")).text());
            return JSON.stringify(results);
            """

        @Test("A script cannot read the target of a redirect to another site that does not allow it")
        func redirects() async throws {
            for way in [Way.network, .mirror] {
                let (text, _) = try await attempt(Self.redirected, way)
                var results = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
                #expect(results.removeValue(forKey: "shared")?.contains("secret") == true)
                // An opaque response has an empty text. The text of a refusal does not contain the other site's host.
                let others = results.values.filter { !["nothing", ""].contains($0) }
                #expect(results.count == 5 && (way == .mirror || others.isEmpty), "\(way): \(results)")
                #expect(others.allSatisfy { $0.contains("may not load") && !$0.contains("b.localhost") }, "\(results)")
                #expect(!others.contains { $0.contains("secret") }, "\(results)")
            }
        }

        /// The header fields that a script sets in a request to another site; some fields need the other site's
        /// consent.
        private static let fields = [
            ["Accept", "text/plain"], ["Accept", "a(b"], ["Accept-Language", "de"], ["Accept-Language", "de_x"],
            ["Content-Language", "de"], ["Content-Type", "text/plain"], ["Content-Type", "application/json"],
            ["Cache-Control", "secret"], ["Pragma", "secret"], ["Range", "bytes=0-5"], ["Range", "bytes=-5"],
            ["Upgrade-Insecure-Requests", "secret"], ["Priority", "u=1"], ["X-Own", "1"], ["If-Range", "\"x\""],
            ["If-None-Match", "\"secret\""], ["User-Agent", "secret"],
        ]

        @Test("Another site receives no header field that needs its consent")
        func consent() async throws {
            let script = """
                for (const [index, [name, value]] of \(try String(decoding: JSONEncoder().encode(Self.fields), as: UTF8.self)).entries())
                  try { await fetch("OTHER/shared/" + index, { headers: { [name]: value } }); } catch {}
                """
            let (real, mirror) = (try await attempt(script, .network).1, try await attempt(script, .mirror).1)
            for (index, field) in Self.fields.enumerated() {
                let verdict = { (asked: [LoopbackServer.Request]) in
                    asked.filter { $0.method == "GET" && $0.path == "/shared/\(index)" }
                        .map { $0.headers[field[0].lowercased()] == field[1] }
                }
                // Engines also set these fields, so the library does not refuse a request that has one of them. The
                // mirror page's request is sent, but without the script's value.
                let isWithheld = ["If-Range", "If-None-Match", "User-Agent"].contains(field[0])
                #expect(verdict(mirror).filter { $0 || !isWithheld } == verdict(real), "\(field)")
                #expect(!isWithheld || verdict(mirror) == [false], "\(field)")
            }
        }
    }
}
