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
    /// Tests that show an https page and the page's mirror.
    ///
    /// All resources have plain http URLs, or URLs of http mirrors.
    @Suite("Mixed content", .serialized)
    struct MixedContentTests {
        /// The location of all resources of the page.
        enum Source: CaseIterable {
            /// A host on the web; the engine reaches it through the proxy.
            case web
            /// This machine; browser engines trust local addresses more.
            case loopback
            /// The mirror of a host on this machine. Only a script would write a mirror's URL into a page.
            case mirror
        }

        /// The page's own policies: none, and a policy whose hosts have no scheme.
        ///
        /// In an https page, a host without a scheme allows only https.
        static let policies = ["", "default-src 'unsafe-inline' plain.test 127.0.0.1:* x.localhost:*"]

        private static let page = Repository.folder
            .appendingPathComponent("Tests/WebKitGTK/Tests/WebKitGTKTests/Pages/mixed.html")

        private static let types = [
            "css": "text/css", "html": "text/html", "js": "text/javascript", "png": "image/png", "svg": "image/svg+xml",
        ]

        /// Returns the paths that a page requests over plain http.
        ///
        /// The result also contains `CONNECT` if the engine uses https for a request.
        private func requests(_ way: Way, _ source: Source, policy: String) async throws -> Set<String> {
            let plain = try LoopbackServer { request in
                if request.method == "CONNECT" { return .text("", status: 502) }
                let type = Self.types[String(request.path.split(separator: ".").last ?? "")] ?? "application/json"
                return .init(headers: ["Content-Type": type, "Access-Control-Allow-Origin": "*"])
            }
            defer { plain.stop() }
            let named = "x.localhost:\(plain.url.port ?? 0)"
            let base =
                switch source {
                case .web: "http://plain.test"
                case .loopback: plain.url.absoluteString
                case .mirror: "substitution-http://\(named)"
                }
            let html = try String(contentsOf: Self.page, encoding: .utf8).replacingOccurrences(of: "BASE", with: base)
            let header = policy.isEmpty ? "" : "add_header Content-Security-Policy \"\(policy)\";"
            let secure = try await Nginx(
                "location / { default_type text/html; \(header) }",
                files: ["page": Data(html.utf8)],
                securing: "site.localhost"
            )
            defer { secure.stop() }
            let url = "https://site.localhost:\(secure.url.port ?? 0)/page"
            let folder = try TemporaryFolder()
            try folder.write(html, to: "page.html")
            let headers = policy.isEmpty ? "" : #", "headers": { "Content-Security-Policy": "\#(policy)" }"#
            let manifest = #"{ "\#(url)": { "file": "page.html"\#(headers) } }"#
            let server = SchemeServer(try folder.cache(manifest), forwardingTo: [named])
            let browser = try await Browser(proxy: plain.url.absoluteString) { server.reply(to: $0) }
            try await browser.begin(way.address(of: url))
            var title = ""
            for _ in 0..<600 where title != "done" {
                try await Task.sleep(nanoseconds: 100_000_000)
                title = (try? await browser.evaluate("return document.title")) ?? ""
            }
            #expect(title == "done")
            let asked = plain.requests.map { request in
                if request.method == "CONNECT" { return request.method }
                // A request to a proxy contains the whole URL.
                return URL(string: request.target)?.path ?? request.target
            }
            return Set(asked).subtracting(["/favicon.ico"])
        }

        @Test(
            "An https mirror loads nothing over plain http that the real page does not load",
            arguments: Source.allCases,
            policies
        )
        func verdicts(source: Source, policy: String) async throws {
            // Only mirror pages can load from a mirror, so the real page loads nothing.
            let real = source == .mirror ? [] : try await requests(.network, source, policy: policy)
            let mirror = try await requests(.mirror, source, policy: policy)
            // If the images are on a web host, the engine loads them over https, so the proxy receives `CONNECT`. If
            // the images are on this machine, the real page does not load those of a `srcset` over plain http. The
            // mirror page loads them, because no policy can distinguish images of a `srcset` from other images.
            let sets: Set = source == .loopback && policy.isEmpty ? ["/srcset.png", "/source.png"] : []
            #expect(mirror.subtracting(sets) == real)
            if source == .loopback, policy.isEmpty {
                #expect(real.isSuperset(of: ["/img.png", "/audio.ogg", "/poster.png"]) && real.count < 12)
            } else {
                #expect(real.isSubset(of: ["CONNECT"]))
            }
        }
    }
}
