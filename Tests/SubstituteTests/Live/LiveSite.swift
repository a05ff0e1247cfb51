// iOS and its relatives start no processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport

/// A site as people build them, on this machine: modules, lazy pictures, `srcset`, a service worker that keeps its own
/// pages, text that is not UTF-8, compressed answers, and a large file.
// Mutable state is only accessed inside the lock.
final class LiveSite: @unchecked Sendable {
    private let lock = NSLock()
    private var answers: [String: LoopbackServer.Response] = [:]
    private(set) var server: LoopbackServer?
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer { [weak self] request in self?.answer(request) ?? .text("", status: 503) }
        try folder.write("{\n}\n", to: "manifest.json")
    }

    deinit { server?.stop() }

    var url: String { (server?.url.absoluteString ?? "") + "/" }

    /// The path of a file of the folder.
    func path(_ path: String) -> String { "127.0.0.1_\(server?.url.port ?? 0)/\(path)" }

    /// Answers a path.
    func set(_ path: String, _ type: String, _ body: Data, _ fields: [String: String] = [:]) {
        let response = LoopbackServer.Response(headers: fields.merging(["Content-Type": type]) { $1 }, body: body)
        set(path, response)
    }

    func set(_ path: String, _ response: LoopbackServer.Response) { lock.withLock { answers[path] = response } }

    private func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        if request.path.hasPrefix("/told/") { return LoopbackServer.Response(status: 204) }
        return lock.withLock { answers[request.path] } ?? .text("no", status: 404)
    }

    /// The paths and queries that were asked for since the last time.
    func requests() -> [String] {
        defer { server?.forgetRequests() }
        return server?.requests.map(\.target) ?? []
    }

    /// What the page told last, of what it shows: `/told/` and some words.
    var told: String? {
        server?.requests.last { $0.target.hasPrefix("/told/") }?.target.dropFirst(6).removingPercentEncoding
    }

    /// Waits until the page tells that it shows something.
    func wait(untilTold words: String) async throws {
        while told != words { try await Task.sleep(nanoseconds: 20_000_000) }
    }

    /// Runs a command with Chromium, as a program: what drives a browser must not wait for its turn among all tests.
    ///
    /// The browser's sandbox does not work in most containers, and not for root.
    func run(_ command: String, _ arguments: String...) async throws -> Program.Result {
        try await Tool.start([command, "--no-sandbox"] + arguments, in: folder.url)
    }

    /// The bytes of a file of the folder; nil when there is none.
    func file(_ path: String) -> Data? { try? Data(contentsOf: folder.url.appendingPathComponent(path)) }

    /// A picture with a size.
    static func picture(_ side: Int, _ colour: String = "teal") -> Data {
        Data(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(side)\" height=\"\(side)\"><rect width=\"100%\" height=\"100%\" fill=\"\(colour)\"/></svg>"
                .utf8
        )
    }

    /// `body { margin: 3px }` and a line's end, compressed (RFC 1952).
    static let compressedStyle =
        Data(base64Encoded: "H4sIAAAAAAAC/0vKT6lUqFbITSxKz8yzUjAuqFCo5QIAfnWnqRUAAAA=") ?? Data()

    /// Each of the 256 bytes, as in a text that is not UTF-8.
    static let latin = Data("/* ".utf8) + Data((0xA0...0xFF).map(UInt8.init)) + Data(" */\nh2 { color: navy }\n".utf8)

    /// 20 MB.
    static let large = Data((0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

    /// Fills the site.
    func build() {
        set(
            "/",
            "text/html; charset=utf-8",
            Data(
                """
                <!doctype html><title>A site</title><link rel="icon" href="data:,">
                <link rel="stylesheet" href="/css/site.css"><link rel="stylesheet" href="/css/zipped.css">
                <link rel="stylesheet" href="/css/latin.css">
                <script type="module" src="/js/main.js"></script>
                <h1>A site</h1><h2>that is live</h2>
                <img srcset="/img/one.svg 1x, /img/two.svg 2x, /img/three.svg 3x" src="/img/one.svg" width="60" height="60">
                <div style="height: 6000px"></div>
                <img loading="lazy" src="/img/late.svg" width="60" height="60">
                """.utf8
            )
        )
        set("/css/site.css", "text/css", Data("@import \"more.css\";\nh1 { color: teal }\n".utf8))
        set("/css/more.css", "text/css", Data("h1 { font: 40px/1 sans-serif }\n".utf8))
        set("/css/zipped.css", "text/css", Self.compressedStyle, ["Content-Encoding": "gzip"])
        set("/css/latin.css", "text/css; charset=iso-8859-1", Self.latin)
        set(
            "/js/main.js",
            "text/javascript",
            Data(
                """
                import { part } from "./part.js";
                await navigator.serviceWorker.register("/worker.js");
                await fetch("/data/large.bin").then(answer => answer.arrayBuffer());
                document.querySelector("h2").textContent = part;
                """.utf8
            )
        )
        set("/js/part.js", "text/javascript", Data("export const part = \"that is live\";\n".utf8))
        set(
            "/worker.js",
            "text/javascript",
            Data(
                """
                // Keeps its own pages, as MDN's example does.
                addEventListener("install", event => event.waitUntil(
                  caches.open("v1").then(cache => cache.addAll(["/", "/css/site.css"]))));
                addEventListener("activate", event => event.waitUntil(clients.claim()));
                addEventListener("fetch", event => event.respondWith(
                  caches.match(event.request).then(answer => answer || fetch(event.request))));
                """.utf8
            )
        )
        set("/data/large.bin", "application/octet-stream", Self.large)
        for (name, side) in [("one", 60), ("two", 120), ("three", 180), ("late", 60)] {
            set("/img/\(name).svg", "image/svg+xml", Self.picture(side))
        }
    }

    /// A page that tells what it shows whenever that changes, and when it was loaded.
    ///
    /// It also loads from an address at which nothing listens.
    static func tellingPage(_ heading: String, _ nowhere: String) -> Data {
        Data(
            """
            <!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="/site.css"><h1>\(heading)</h1>
            <img id="picture" src="/picture.svg"><img id="gone" src="/gone.svg">
            <script>
              let last = "", offline = "no", start = crypto.randomUUID(), telling = Promise.resolve();
              fetch("\(nowhere)").then(answer => answer.text()).then(text => offline = text.trim(), () => 0);
              setInterval(() => {
                const words = [document.querySelector("h1").textContent, getComputedStyle(document.querySelector("h1")).color,
                  picture.naturalWidth, gone.naturalWidth, offline].join(" | ");
                if (words === last) return;
                last = words;
                // One after the other, so that the last one arrives last.
                telling = telling.then(() => fetch("/told/" + encodeURIComponent(words)));
              }, 20);
              fetch("/started/" + start);
            </script>
            """.utf8
        )
    }
}
#endif
