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
    /// Tests of mirrors in frames.
    ///
    /// For a request from a frame, the top page's URL is not the URL of the document that sends the request.
    @Suite("Frames", .serialized)
    struct FrameTests {
        /// Shows a page with a frame, and returns the plain http requests of the page and the frame.
        ///
        /// - Parameters:
        ///   - around: The HTML of the outer page. The test replaces `FRAMED` with the URL of an https page that refers
        ///     to plain http URLs.
        ///   - way: The way in which the page is shown.
        ///   - isAroundSecure: True if the outer page is loaded over https.
        /// - Returns: The requests that reached the server, without the requests that the engine upgraded to https.
        /// - Throws: An error if a server cannot start, or if the view cannot be opened.
        private func requests(_ around: String, _ way: Way, isAroundSecure: Bool = true) async throws -> Set<String> {
            let plain = try LoopbackServer { request in
                if request.method == "CONNECT" { return .text("", status: 502) }
                return .init(headers: ["Content-Type": "text/javascript", "Access-Control-Allow-Origin": "*"])
            }
            defer { plain.stop() }
            let framed = """
                <!doctype html><title>framed</title><script src="http://plain.test/script.js"></script>
                <img src="substitution-http://x.localhost:\(plain.url.port ?? 0)/named.png">
                <script>fetch("http://plain.test/fetch.json").catch(() => {})</script>
                """
            let secure = try await Nginx(
                "location / { default_type text/html; }",
                files: ["framed": Data(framed.utf8), "around": Data("-".utf8)],
                securing: "site.localhost"
            )
            defer { secure.stop() }
            let base = "https://site.localhost:\(secure.url.port ?? 0)"
            let address = way.address(of: base)
            let html = around.replacingOccurrences(of: "FRAMED", with: "\(address)/framed")
            try secure.write(Data(html.utf8), to: "around")
            let open = try LoopbackServer { _ in .init(headers: ["Content-Type": "text/html"], body: Data(html.utf8)) }
            defer { open.stop() }
            let folder = try TemporaryFolder()
            try folder.write(html, to: "around.html")
            try folder.write(framed, to: "framed.html")
            let manifest = #"{ "\#(base)/around": "around.html", "\#(base)/framed": "framed.html" }"#
            let server = SchemeServer(try folder.cache(manifest), forwardingTo: ["x.localhost:\(plain.url.port ?? 0)"])
            let browser = try await Browser(proxy: plain.url.absoluteString) { server.reply(to: $0) }
            try await browser.begin(isAroundSecure ? "\(address)/around" : "\(open.url.absoluteString)/")
            try await Task.sleep(nanoseconds: 2_500_000_000)
            return Set(plain.requests.map(\.target)).filter { !$0.contains("favicon") && !$0.hasPrefix("plain.test:") }
        }

        private static let arounds = [
            "a refusal": """
            <iframe src="/missing"></iframe><script>
            document.querySelector("iframe").onload = event => {
              const { contentDocument: inner, contentWindow: window } = event.target;
              window.fetch("http://plain.test/fetch.json").catch(() => {});
              inner.body.append(Object.assign(inner.createElement("script"), { src: "http://plain.test/script.js" }));
            };
            </script>
            """,
            "a page of the mirror": #"<iframe src="FRAMED"></iframe>"#,
            "a blob that frames": """
            <script>location = URL.createObjectURL(new Blob(["<iframe src='FRAMED'></iframe>"], { type: "text/html" }))</script>
            """,
            "a new window that frames": """
            <script>const window2 = open("about:blank") || window; window2.document.write("<iframe src='FRAMED'></iframe>")</script>
            """,
        ]

        @Test("No document in an https mirror loads anything over plain http", arguments: arounds.keys.sorted())
        func secure(name: String) async throws {
            let around = "<!doctype html><body>" + (Self.arounds[name] ?? "")
            #expect(try await requests(around, .network) == [])
            #expect(try await requests(around, .mirror) == [])
            // The mirror may be in a frame of an http page, too.
            if name == "a page of the mirror" {
                #expect(try await requests(around, .mirror, isAroundSecure: false) == [])
            }
        }

        @Test(
            "A redirect of a frame reaches its target, and no page around the frame can read the target",
            arguments: ["", "sandbox=allow-scripts"]
        )
        func leading(attribute: String) async throws {
            let other = try LoopbackServer { _ in .init(headers: ["Content-Type": "text/html"]) }
            defer { other.stop() }
            let second = "b.localhost:\(other.url.port ?? 0)"
            let page = """
                <!doctype html><title>-</title><body><iframe \(attribute)></iframe><script>
                const frame = document.querySelector("iframe");
                let text = "";
                const watch = setInterval(() => {
                  try { text += frame.contentDocument.documentElement.outerHTML; } catch {}
                  try { text += frame.contentWindow.location.href; } catch {}
                }, 0);
                frame.src = "/old";
                setTimeout(() => { clearInterval(watch); document.title = text.includes("token") ? "read" : "nothing"; }, 1500);
                </script>
                """
            let site = try LoopbackServer { request in
                request.path == "/old"
                    ? .init(status: 302, headers: ["Location": "http://\(second)/new?token"])
                    : .init(headers: ["Content-Type": "text/html"], body: Data(page.utf8))
            }
            defer { site.stop() }
            let first = "a.localhost:\(site.url.port ?? 0)"
            let cache = try TemporaryFolder().cache("{}")
            for way in [Way.network, .mirror] {
                other.forgetRequests()
                let browser = try await way.browser(cache, forwardingTo: [first, second])
                try await browser.begin(way.address(of: "http://\(first)/"))
                var title = ""
                try await wait(for: "the page's script") {
                    title = (try? await browser.evaluate("return document.title")) ?? ""
                    return title == "read" || title == "nothing"
                }
                #expect(title == "nothing" && other.requests.map(\.target).contains("/new?token"), "\(way)")
            }
            // If the top page itself is redirected, its fragment is kept.
            let browser = try await Way.mirror.browser(cache, forwardingTo: [first, second])
            try await browser.begin(Way.mirror.address(of: "http://\(first)/old#part"))
            let arrived = "substitution-http://\(second)/new?token#part"
            try await wait(for: arrived) { (try? await browser.evaluate("return location.href")) == arrived }
        }
    }
}
