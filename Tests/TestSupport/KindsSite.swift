// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
package import Foundation
import LoopbackServer

/// A site whose page loads every kind of resource, and a folder with a file for each resource.
///
/// The page loads the resources over http and https. The folder contains a manifest that maps the files. Each resource
/// contains the name of its source: "network" or "bundle".
// Mutable state is only accessed inside the lock.
package final class KindsSite: @unchecked Sendable {
    /// The results that one page reported.
    package struct Report {
        let page: String
        /// The result for each kind of resource: usually its source, "network" or "bundle".
        let answers: [String: String]
        /// The requests for this page that reached the server.
        let requests: [String]
    }

    /// The variants of the page, which are also the column headings of ``table(without:with:)``.
    package static let pages = ["http", "https", "policy", "isolated"]

    private let domain: String
    /// The prefix of the scheme in page URLs; empty unless the pages are mirrors.
    private let prefix: String
    private let folder: TemporaryFolder
    private var server: LoopbackServer?
    private var secure: Nginx?
    private var files: [String: Data] = [:]
    private let lock = NSLock()
    private var found: [Report] = []
    private var seen = 0

    /// Starts the servers.
    ///
    /// - Parameters:
    ///   - folder: The folder that receives `manifest.json` and its files.
    ///   - domain: The domain of the site's two hosts; the browser must be able to resolve both hosts.
    ///   - prefix: The prefix of the scheme in page URLs; empty unless the pages are mirrors.
    /// - Throws: An error if a server cannot be started or a file cannot be written.
    package init(in folder: TemporaryFolder, domain: String = "test", prefix: String = "") async throws {
        (self.folder, self.domain, self.prefix) = (folder, domain, prefix)
        files = try await Self.files(who: "network")
        // These files are only on the server, not in the manifest's folder.
        files["/img/unmapped.svg"] = Self.svg("network")
        files["/img/\(Self.longName).svg"] = Self.svg("network")
        let remote = "importScripts('/js/imported.js'); onmessage = () => postMessage(got['/js/imported.js']);"
        let service = """
            addEventListener("install", () => skipWaiting());
            addEventListener("activate", event => event.waitUntil(clients.claim()));
            addEventListener("fetch", event => {
              const url = new URL(event.request.url);
              if (url.search === "?by-worker") event.respondWith(fetch(url.origin + url.pathname));
            });
            """
        files["/remote-worker.js"] = Data(remote.utf8)
        files["/service-worker.js"] = Data(service.utf8)
        let html = try String(contentsOf: Self.fixtures.appendingPathComponent("kinds.html"), encoding: .utf8)
        var script = try String(contentsOf: Self.fixtures.appendingPathComponent("kinds.js"), encoding: .utf8)
        let bundled = try await Self.files(who: "bundle")
        for (name, path) in [
            ("css", "/css/integrity.css"), ("css-cors", "/css/integrity-cors.css"), ("js", "/js/integrity.js"),
            ("js-cors", "/js/integrity-cors.js"), ("json", "/data/integrity.json"),
        ] {
            let digest = try await Self.integrity(of: bundled[path] ?? Data())
            script = script.replacingOccurrences(of: "@\(name)@", with: digest)
        }
        files["/kinds.js"] = Data(script.replacingOccurrences(of: "other.test", with: "other.\(domain)").utf8)
        let server = try LoopbackServer { [weak self] request in self?.answer(request, html) ?? .text("", status: 503) }
        self.server = server
        let proxy = "proxy_pass http://127.0.0.1:\(server.url.port ?? 0); proxy_set_header Host $http_host;"
        secure = try await Nginx("location / { \(proxy) }", files: [:], securing: "site.\(domain)")
        for (path, data) in bundled where path != "/data/when.json" { try folder.write(data, to: "site\(path)") }
        try folder.write(Data(#"{"who":"bundle"}"#.utf8), to: "when.json")
        try folder.write(manifest, to: "manifest.json")
    }

    package func stop() {
        server?.stop()
        secure?.stop()
    }

    /// The origins: http and https for the page's own host, then http and https for the other host.
    package var bases: [String] {
        let (plain, secure) = (server?.url.port ?? 0, secure?.url.port ?? 0)
        return ["site", "other"].flatMap { ["http://\($0).\(domain):\(plain)", "https://\($0).\(domain):\(secure)"] }
    }

    /// Returns the URL of the page to open first.
    ///
    /// That page navigates to the first of ``pages``: immediately, or once the extension is active.
    package func start(withExtension: Bool) -> URL {
        URL(string: "\(prefix)\(bases[0])/start?\(withExtension ? "wait" : "go")") ?? folder.url
    }

    /// Waits for the reports of all pages.
    package func reports() async throws -> [Report] {
        try await wait(for: "the reports of all pages") { lock.withLock { found.count } == Self.pages.count }
        return lock.withLock {
            defer { found = [] }
            return found
        }
    }

    private var manifest: String {
        let entries = bases.flatMap { base in
            [
                "\"\(base)/\": \"site/\"",
                "\"\(base)/q/any.svg\": { \"file\": \"site/q/any.svg\", \"ignoreQuery\": true }",
                "\"\(base)/q/list.svg\": { \"file\": \"site/q/list.svg\", \"ignoreQuery\": [\"v\"] }",
                "\"\(base)/css/site.css\": { \"file\": \"site/css/site.css\", \"ignoreQuery\": [\"v\"] }",
                "\"\(base)/img/\(Self.longName).svg\": \"site/q/any.svg\"",
                "\"\(base)/data/when.json\": { \"file\": \"when.json\", \"when\": [404] }",
            ]
        }
        return "{\n  \(entries.joined(separator: ",\n  "))\n}\n"
    }

    /// Returns a table of the results, with a line for each kind of resource and a column for each page.
    package static func table(without: [Report], with: [Report]) -> String {
        let kinds = Set(with.flatMap(\.answers.keys)).sorted()
        let width = (kinds.map(\.count).max() ?? 0) + 2
        let padded = { (text: String, width: Int) in text + String(repeating: " ", count: max(0, width - text.count)) }
        var lines = [padded("", width) + with.map { padded($0.page, 10) }.joined()]
        for kind in kinds {
            let cells = zip(without, with).map { before, after in
                guard let answer = after.answers[kind] else { return "" }
                // "never" means: the browser loads this kind of resource neither with nor without the extension.
                return answer == "broken" && before.answers[kind] == "broken" ? "never" : answer
            }
            lines.append(padded(kind, width) + cells.map { padded($0, 10) }.joined())
        }
        lines += ["", "What reached the server for the page on https, beside the page:"]
        lines += with.first { $0.page == "https" }?.requests ?? []
        return lines.map { String($0.reversed().drop { $0 == " " }.reversed()) }.joined(separator: "\n") + "\n"
    }

    // MARK: - Responses

    private func answer(_ request: LoopbackServer.Request, _ html: String) -> LoopbackServer.Response {
        let headers = [
            "Access-Control-Allow-Origin": request.headers["origin"] ?? "*", "Access-Control-Allow-Credentials": "true",
            "Access-Control-Allow-Headers": "X-Probe", "Cross-Origin-Resource-Policy": "cross-origin",
            "Cache-Control": "no-store", "X-Network": "network", "Cross-Origin-Embedder-Policy": "require-corp",
        ]
        var response: LoopbackServer.Response
        switch request.path {
        case "/start":
            let isWaiting = request.target.hasSuffix("wait")
            let script = """
                <!doctype html><script>
                (async () => {
                  const who = await fetch("/data/fetch.json").then(answer => answer.json()).then(json => json.who, () => "");
                  if (who === "bundle" || \(!isWaiting)) location = "\(address(ofPage: 0))";
                  // In Chromium, a page that was loaded before the extension was ready never uses the extension.
                  else setTimeout(() => location.reload(), 200);
                })();
                </script>
                """
            response = .init(headers: ["Content-Type": "text/html; charset=utf-8"], body: Data(script.utf8))
        case "/page": return page(request, html)
        case "/report": response = .text(report(request))
        case "/img/redirecting.svg": response = .init(status: 302, headers: ["Location": "/img/redirected.svg"])
        default:
            let path = request.path.removingPercentEncoding ?? request.path
            guard request.method != "OPTIONS" else { return .init(status: 204, headers: headers) }
            guard let data = files[path] else { return .init(status: 404, headers: headers) }
            response = Self.part(of: data, for: request)
            response.headers["Content-Type"] = Self.type(of: path)
        }
        response.headers.merge(headers) { first, _ in first }
        return response
    }

    private func page(_ request: LoopbackServer.Request, _ html: String) -> LoopbackServer.Response {
        let page = Self.page(of: request)
        var headers = [
            "Content-Type": "text/html; charset=\(page == "http" ? "windows-1252" : "utf-8")",
            "Set-Cookie": "probe=1; Path=/",
        ]
        if page == "policy" {
            let other = bases[prefix.isEmpty ? 3 : 2]
            headers["Content-Security-Policy"] =
                "default-src 'self' \(other); style-src 'self' 'unsafe-inline' \(other); script-src 'self' 'wasm-unsafe-eval' \(other)"
        } else if page == "isolated" {
            headers["Cross-Origin-Opener-Policy"] = "same-origin"
            headers["Cross-Origin-Embedder-Policy"] = "require-corp"
        }
        return .init(headers: headers, body: Data(html.utf8))
    }

    private static func page(of request: LoopbackServer.Request) -> String {
        pages.first { request.target.contains("?page=\($0)&") } ?? ""
    }

    private func address(ofPage index: Int) -> String {
        guard index < Self.pages.count else { return "" }
        let name = Self.pages[index]
        // Mirrors use http, because URL loading on Linux does not trust a test's certificate. Mirrors have no service
        // workers.
        let isSecure = name != "http" && prefix.isEmpty
        let worker = name == "https" && isSecure ? "&worker" : ""
        return "\(prefix)\(bases[isSecure ? 1 : 0])/page?page=\(name)&http=\(server?.url.port ?? 0)\(worker)"
    }

    /// Stores a report, and returns the address of the next page.
    private func report(_ request: LoopbackServer.Request) -> String {
        let answers = (try? JSONSerialization.jsonObject(with: request.body)) as? [String: String] ?? [:]
        let page = Self.page(of: request)
        return lock.withLock {
            let all = server?.requests ?? []
            let paths = Set(all[seen...].map { "\($0.method) \($0.target)" }).filter {
                !$0.contains("/page?") && !$0.contains("/report?") && !$0.contains("/start")
            }
            seen = all.count
            found.append(Report(page: page, answers: answers, requests: paths.sorted()))
            return address(ofPage: (Self.pages.firstIndex(of: page) ?? 0) + 1)
        }
    }

    /// Returns the byte range that a media player requests.
    ///
    /// `LoopbackServer` itself always sends the whole body.
    private static func part(of data: Data, for request: LoopbackServer.Request) -> LoopbackServer.Response {
        guard let header = request.headers["range"]?.dropFirst("bytes=".count) else {
            return .init(headers: ["Accept-Ranges": "bytes"], body: data)
        }
        let bounds = header.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        let first = bounds.first.flatMap(\.self) ?? 0
        let last = min(bounds.last.flatMap(\.self) ?? data.count - 1, data.count - 1)
        guard first <= last else { return .init(status: 416, headers: ["Content-Range": "bytes */\(data.count)"]) }
        let headers = ["Accept-Ranges": "bytes", "Content-Range": "bytes \(first)-\(last)/\(data.count)"]
        return .init(status: 206, headers: headers, body: data[first...last])
    }

    // MARK: - Files

    package static let fixtures = Repository.folder.appendingPathComponent(
        "Tests/SubstituteTests/Fixtures/WebExtension"
    )

    private static let pictures = [
        "parsed", "srcset", "lazy", "preloaded", "cross", "cors", "fragment", "http", "canvas", "canvas-cors",
        "redirected", "with space", "ünï", "twice@2x", "[1]*", "a'b\"c|d^e%f", "inline", "poster", "image-set",
        "source", "css-relative", "css-root", "object", "embed", "controlled",
    ]
    /// A name that is longer than file systems allow.
    private static let longName = String(repeating: "n", count: 300)
    private static let sheets = ["late", "preloaded", "cross", "integrity", "integrity-cors", "imported", "root"]
    private static let scripts = [
        "classic", "cross-origin-attribute", "late", "cross", "integrity", "integrity-cors", "dependency",
        "root-dependency", "imported",
    ]
    private static let documents = [
        "fetch", "cross", "credentials", "header", "integrity", "no-store", "same-origin", "redirect", "head", "post",
        "tilde", "when", "xhr", "synchronous", "controlled", "worker", "address", "plain",
    ]

    private static func files(who: String) async throws -> [String: Data] {
        var files: [String: Data] = ["/q/any.svg": svg(who), "/q/list.svg": svg(who)]
        for name in pictures { files["/img/\(name).svg"] = svg(who) }
        let side = who == "bundle" ? 22 : 11
        let symbol = "<symbol id='symbol'><rect width='\(side)' height='9'/></symbol>"
        files["/img/sprite.svg"] = Data("<svg xmlns='http://www.w3.org/2000/svg'>\(symbol)</svg>".utf8)
        for name in sheets { files["/css/\(name).css"] = Data(":root { --\(name): \(who); }\n".utf8) }
        files["/css/encoding.css"] = Data(":root { --encoding: \(who) ü; }\n".utf8)
        let sheet = """
            @import "imported.css"; @import "/css/root.css";
            :root { --site: \(who); }
            @font-face { font-family: Relative; src: url(../fonts/relative.woff2); }
            #css-relative::before { content: url(../img/css-relative.svg); }
            #css-root::before { content: url(/img/css-root.svg); }
            #css-unmapped::before { content: url(../img/unmapped.svg); }

            """
        files["/css/site.css"] = Data(sheet.utf8)
        for name in scripts { files["/js/\(name).js"] = script("/js/\(name).js", who) }
        files["/js/dynamic.js"] = script("/js/dynamic.js", who) + Data("export const who = \"\(who)\";\n".utf8)
        files["/js/throwing.js"] = Data("throw new Error(\"from the \(who)\");\n".utf8)
        files["/js/address.js"] = Data("export const url = import.meta.url;\n".utf8)
        for (name, path) in [("module", "./dependency.js"), ("module-root", "/js/root-dependency.js")] {
            files["/js/\(name).js"] = Data("import \"\(path)\";\n".utf8) + script("/js/\(name).js", who)
        }
        for name in ["worker", "module-worker"] {
            files["/js/\(name).js"] = Data("onmessage = () => postMessage(\"\(who)\");\n".utf8)
        }
        for name in documents { files["/data/\(name).json"] = Data("{ \"who\": \"\(who)\" }\n".utf8) }
        for path in ["/frame.html", "/data/page.html"] { files[path] = page(who) }
        files["/js/shared-worker.js"] = Data("onconnect = event => event.ports[0].postMessage(\"\(who)\");\n".utf8)
        files["/data/part.txt"] = Data("\(who) and more\n".utf8)
        let custom: [UInt8] = [0, UInt8(who.utf8.count + 1), UInt8(who.utf8.count)] + Array(who.utf8)
        files["/data/app.wasm"] = Data([0, 0x61, 0x73, 0x6D, 1, 0, 0, 0] + custom)
        files["/media/subtitles.vtt"] = Data("WEBVTT\n\n00:00.000 --> 00:05.000\n\(who)\n".utf8)
        files["/media/sound.wav"] = NineKinds.silence(seconds: who == "bundle" ? 2 : 1)
        for (path, fixture) in [
            ("/media/film.webm", "webm"), ("/media/canvas.webm", "webm"), ("/media/canvas-jump.webm", "webm"),
            ("/media/film.mp4", "mp4"), ("/fonts/preloaded.woff2", "woff2"), ("/media/sound.ogg", "ogg"),
            ("/fonts/inline.woff2", "woff2"), ("/fonts/relative.woff2", "woff2"), ("/fonts/cross.woff2", "woff2"),
        ] { files[path] = try Data(contentsOf: fixtures.appendingPathComponent("\(who).\(fixture)")) }
        return files
    }

    private static func svg(_ who: String) -> Data {
        let side = who == "bundle" ? 22 : 11
        return Data("<svg xmlns='http://www.w3.org/2000/svg' width='\(side)' height='\(side)'/>\n".utf8)
    }

    private static func page(_ who: String) -> Data { Data("<!doctype html><title>\(who)</title>\n".utf8) }

    private static func script(_ path: String, _ who: String) -> Data {
        Data("(globalThis.got = globalThis.got || {})[\"\(path)\"] = \"\(who)\";\n".utf8)
    }

    private static func type(of path: String) -> String {
        let types = [
            "svg": "image/svg+xml", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
            "json": "application/json", "wasm": "application/wasm", "vtt": "text/vtt", "wav": "audio/wav",
            "ogg": "audio/ogg", "webm": "video/webm", "mp4": "video/mp4", "woff2": "font/woff2", "txt": "text/plain",
            "html": "text/html; charset=utf-8",
        ]
        return types[URL(fileURLWithPath: path).pathExtension] ?? "application/octet-stream"
    }

    /// Returns the `integrity` attribute that a page uses to verify a file (Subresource Integrity §3.5).
    private static func integrity(of data: Data) async throws -> String {
        let folder = try TemporaryFolder()
        try folder.write(data, to: "file")
        let command = "openssl dgst -sha256 -binary file | openssl base64 -A"
        return "sha256-" + (try await Program.run("/bin/sh", ["-c", command], in: folder.url).output)
    }
}
#endif
