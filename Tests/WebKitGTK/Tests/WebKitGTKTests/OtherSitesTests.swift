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
    /// Tests of requests to another site: from a page, and from the page's mirror.
    @Suite("Other sites", .serialized)
    struct OtherSitesTests {
        /// The result of a script in a page, and the requests that the other site received meanwhile.
        private struct Trial {
            let result: String
            let asked: [LoopbackServer.Request]
        }

        private static let picture = Data(
            "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>".utf8
        )

        /// Runs a script in a page of one site.
        ///
        /// The function replaces `OTHER` in the script with the URL of a second site. The first site may read only
        /// those paths of the second site that begin with `/shared`.
        private func attempt(_ script: String, _ way: Way) async throws -> Trial {
            let other = try LoopbackServer { request in
                var headers = request.path.hasPrefix("/shared") ? ["Access-Control-Allow-Origin": "*"] : [:]
                let types = ["/x.svg": "image/svg+xml", "/x.css": "text/css", "/x.js": "text/javascript"]
                headers["Content-Type"] = types[request.path] ?? "text/plain"
                let bodies = ["/x.svg": Self.picture, "/x.css": Data(".secret { color: red }".utf8)]
                return .init(headers: headers, body: bodies[request.path] ?? Data("throw new Error('secret')".utf8))
            }
            defer { other.stop() }
            let site = try LoopbackServer { request in
                if request.path.hasPrefix("/to/") {
                    let target = other.url.absoluteString.replacingOccurrences(of: "127.0.0.1", with: "b.localhost")
                    return .init(status: 302, headers: ["Location": target + request.path.dropFirst("/to".count)])
                }
                let page = LoopbackServer.Response(
                    headers: ["Content-Type": "text/html"],
                    body: Data("<!doctype html><title>\(request.headers["cookie"] ?? "page")</title><body>".utf8)
                )
                return page.after(interim: 103, ["Set-Cookie": "early=1"])
            }
            defer { site.stop() }
            let (first, second) = ("a.localhost:\(site.url.port ?? 0)", "b.localhost:\(other.url.port ?? 0)")
            let folder = try TemporaryFolder()
            let cache = try SubstitutionCache(manifestData: Data("{}".utf8), folder: folder.url)
            let browser = try await way.browser(cache, forwardingTo: [first, second])
            // The second load sends the cookies that the first one has set.
            for number in 1...2 { try await browser.load(way.address(of: "http://\(first)/\(number)")) }
            let text = script.replacingOccurrences(of: "OTHER", with: way.address(of: "http://\(second)"))
            return Trial(result: try await browser.evaluate(text), asked: other.requests)
        }

        private static let redirected = [
            "canvas": """
            const image = new Image();
            image.src = "/to/x.svg";
            await image.decode();
            const canvas = document.createElement("canvas").getContext("2d");
            canvas.drawImage(image, 0, 0);
            return "secret " + canvas.getImageData(0, 0, 1, 1).data.join();
            """,
            "rules": """
            const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/to/x.css" });
            await new Promise((done, fail) => { link.onload = done; link.onerror = fail; document.body.append(link); });
            return link.sheet.cssRules[0].cssText;
            """,
            "error": """
            const said = new Promise(done => { onerror = done; setTimeout(() => done(""), 2000); });
            document.body.append(Object.assign(document.createElement("script"), { src: "/to/x.js" }));
            if (!(await said).includes("secret")) throw new Error();
            return "secret";
            """,
            "fetch": "return (await fetch('/to/x.txt')).text();",
            "no-cors": "return (await fetch('/to/x.txt', { mode: 'no-cors' })).text();",
            "shared": "return (await fetch('/to/shared')).text();",
        ]

        @Test(
            "A script cannot read the target of a redirect to another site that does not allow it",
            arguments: redirected.keys.sorted()
        )
        func redirects(kind: String) async throws {
            let script = "try { \(Self.redirected[kind] ?? "") } catch { return 'nothing'; }"
            let real = try await attempt(script, .network).result
            let mirror = try await attempt(script, .mirror).result
            let isShared = kind == "shared"
            #expect(real.contains("secret") == isShared && mirror.contains("secret") == isShared)
            // An opaque response has an empty text. The text of a refusal does not contain the other site's host.
            #expect(isShared || ["nothing", ""].contains(real))
            #expect(
                isShared || mirror == "nothing" || mirror.contains("may not load") && !mirror.contains("b.localhost")
            )
        }

        /// The header fields that a script sets in a request to another site; some fields need the other site's
        /// consent.
        private static let fields: [(name: String, value: String)] = [
            ("Accept", "text/plain"), ("Accept", "a(b"), ("Accept-Language", "de"), ("Accept-Language", "de_x"),
            ("Content-Language", "de"), ("Content-Type", "text/plain"), ("Content-Type", "application/json"),
            ("Cache-Control", "secret"), ("Pragma", "secret"), ("Range", "bytes=0-5"), ("Range", "bytes=-5"),
            ("Upgrade-Insecure-Requests", "secret"), ("Priority", "u=1"), ("X-Own", "1"), ("If-Range", "\"x\""),
            ("If-None-Match", "\"secret\""), ("User-Agent", "secret"),
        ]

        @Test("Another site receives no header field that needs its consent", arguments: fields)
        func consent(name: String, value: String) async throws {
            let script = """
                try { await fetch("OTHER/shared", { headers: { "\(name)": \(try json(value)) } }); } catch {}
                return "";
                """
            let verdict = { (trial: Trial) in
                trial.asked.filter { $0.method == "GET" }.map { $0.headers[name.lowercased()] == value }
            }
            let real = verdict(try await attempt(script, .network))
            let mirror = verdict(try await attempt(script, .mirror))
            // Engines also set these fields, so the library does not refuse a request that has one of them. The mirror
            // page's request is sent, but without the script's value.
            let isWithheld = ["If-Range", "If-None-Match", "User-Agent"].contains(name)
            #expect(mirror.filter { $0 || !isWithheld } == real, "\(name): \(value)")
            #expect(!isWithheld || mirror == [false])
        }

        private func json(_ text: String) throws -> String {
            String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        }

        @Test("An interim response is not taken for the page, and sets no cookies", arguments: [Way.network, .mirror])
        func interim(way: Way) async throws {
            let trial = try await attempt("return document.title", way)
            #expect(trial.result == "page")
        }
    }
}
