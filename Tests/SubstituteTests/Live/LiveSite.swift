// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport

/// A site on this machine, built with the features of real sites.
///
/// It has modules, lazy images, `srcset`, text that is not UTF-8, compressed responses, and a large file. It also has a
/// service worker that caches the site's pages.
// Mutable state is only accessed inside the lock.
final class LiveSite: @unchecked Sendable {
    private let lock = NSLock()
    private var answers: [String: LoopbackServer.Response] = [:]
    private var counts: [String: Int] = [:]
    private var awaited: [String: String] = [:]
    private(set) var server: LoopbackServer?
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        server = try LoopbackServer { [weak self] request in self?.answer(request) ?? .text("", status: 503) }
        try folder.write("{\n}\n", to: "manifest.json")
    }

    deinit { server?.stop() }

    var url: String { (server?.url.absoluteString ?? "") + "/" }

    /// Returns the path that a file from this site has in the folder.
    func path(_ path: String) -> String { "127.0.0.1_\(server?.url.port ?? 0)/\(path)" }

    /// Sets the response for a path.
    func set(_ path: String, _ type: String, _ body: Data, _ fields: [String: String] = [:]) {
        set(path, LoopbackServer.Response(headers: fields.merging(["Content-Type": type]) { $1 }, body: body))
    }

    func set(_ path: String, _ type: String, _ text: String, _ fields: [String: String] = [:]) {
        set(path, type, Data(text.utf8), fields)
    }

    /// The beginning of a page for which the browser requests no icon.
    static let start = "<!doctype html><link rel=\"icon\" href=\"data:,\">"

    /// Sets the page at a path, without its beginning.
    func page(_ path: String, _ html: String) { set(path, "text/html; charset=utf-8", Self.start + html) }

    func set(_ path: String, _ response: LoopbackServer.Response) { lock.withLock { answers[path] = response } }

    /// Lets requests for a path wait until there was a request for another path, but no longer than 20 s.
    func hold(_ path: String, until other: String) { lock.withLock { awaited[path] = other } }

    private func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        if request.path.hasPrefix("/shown/") { return LoopbackServer.Response(status: 204) }
        // The number of requests for the path.
        if request.path.hasPrefix("/count/") {
            return lock.withLock {
                counts[request.path, default: 0] += 1
                return .text("\(counts[request.path, default: 0])")
            }
        }
        if request.path.hasPrefix("/mine/") {
            return .text(request.headers["cookie"] ?? request.headers["x-name"] == nil ? "for all" : "for one")
        }
        if request.path.hasPrefix("/any/") { return .text(request.target) }
        let (response, other) = lock.withLock {
            (answers[request.path] ?? .text("no", status: 404), awaited[request.path])
        }
        for _ in 0..<1000 where other != nil && server?.requests.contains(where: { $0.path == other }) == false {
            usleep(20_000)
        }
        if let tag = request.headers["if-none-match"], response.headers["ETag"] == tag {
            return LoopbackServer.Response(status: 304, headers: ["ETag": tag])
        }
        return response
    }

    /// Returns the targets of the requests since the last call.
    func requests() -> [String] {
        defer { server?.forgetRequests() }
        return server?.requests.map(\.target) ?? []
    }

    /// The words in the page's last report of what it shows.
    ///
    /// The page reports by requesting a path that consists of `/shown/` and these words.
    var shown: String? {
        server?.requests.last { $0.target.hasPrefix("/shown/") }?.target.dropFirst(7).removingPercentEncoding
    }

    /// Waits until the page reports that it shows these words.
    func wait(untilShown words: String) async throws {
        try await TestSupport.wait(for: words) { shown == words }
    }

    /// Runs, in a separate process, a command that starts Chromium.
    ///
    /// In this process, a command that drives a browser would wait for its turn among all other tests.
    func run(_ command: String, _ arguments: String...) async throws -> Program.Result {
        try await Tool.start([command] + arguments, in: folder.url)
    }

    /// Returns the bytes of a file in the folder; nil if there is no such file.
    func file(_ path: String) -> Data? { try? Data(contentsOf: folder.url.appendingPathComponent(path)) }

    /// Returns a square SVG image with the given side.
    static func picture(_ side: Int) -> Data {
        let start = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(side)\" height=\"\(side)\">"
        return Data("\(start)<rect width=\"100%\" height=\"100%\" fill=\"teal\"/></svg>".utf8)
    }

    /// `body { margin: 3px }` and a line feed, compressed with gzip (RFC 1952).
    static let compressedStyle =
        Data(base64Encoded: "H4sIAAAAAAAC/0vKT6lUqFbITSxKz8yzUjAuqFCo5QIAfnWnqRUAAAA=") ?? Data()

    /// A stylesheet in Latin-1 with each byte from A0 to FF; it is not valid UTF-8.
    static let latin = Data("/* ".utf8) + Data((0xA0...0xFF).map(UInt8.init)) + Data(" */\nh2 { color: navy }\n".utf8)

    /// A file of 5 MB.
    static let large = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

    /// Adds all pages and resources to the site.
    func build() {
        let html = """
            <title>A site</title>
            <link rel="stylesheet" href="/css/site.css"><link rel="stylesheet" href="/css/zipped.css">
            <link rel="stylesheet" href="/css/latin.css"><script type="module" src="/js/main.js"></script>
            <h1>A site</h1><h2>that is live</h2>
            <img srcset="/img/one.svg 1x, /img/two.svg 2x, /img/three.svg 3x" src="/img/one.svg" width="60" height="60">
            <div style="height: 6000px"></div><img loading="lazy" src="/img/late.svg" width="60" height="60">
            """
        page("/", html)
        set("/css/site.css", "text/css", "@import \"more.css\";\nh1 { color: teal }\n")
        set("/css/more.css", "text/css", "h1 { font: 40px/1 sans-serif }\n")
        set("/css/zipped.css", "text/css", Self.compressedStyle, ["Content-Encoding": "gzip"])
        set("/css/latin.css", "text/css; charset=iso-8859-1", Self.latin)
        let script = """
            import { part } from "./part.js";
            await navigator.serviceWorker.register("/worker.js");
            await fetch("/data/large.bin").then(answer => answer.arrayBuffer());
            document.querySelector("h2").textContent = part;
            """
        set("/js/main.js", "text/javascript", script)
        set("/js/part.js", "text/javascript", "export const part = \"that is live\";\n")
        let worker = """
            // Caches the page and a stylesheet, and answers with the cached copies, as the worker in MDN's example
            // does.
            addEventListener("install", event => event.waitUntil(
              caches.open("v1").then(cache => cache.addAll(["/", "/css/site.css"]))));
            addEventListener("activate", event => event.waitUntil(clients.claim()));
            addEventListener("fetch", event => event.respondWith(
              caches.match(event.request).then(answer => answer || fetch(event.request))));
            """
        set("/worker.js", "text/javascript", worker)
        set("/data/large.bin", "application/octet-stream", Self.large)
        for (name, side) in [("one", 60), ("two", 120), ("three", 180), ("late", 60)] {
            set("/img/\(name).svg", "image/svg+xml", Self.picture(side))
        }
    }

    /// Returns a page that reports what it shows, once after loading and again after each change.
    ///
    /// The page also loads a resource from `nowhere`, an address at which no server listens.
    static func reportingPage(_ heading: String, _ nowhere: String) -> String {
        """
        \(start)<link rel="stylesheet" href="/site.css"><h1>\(heading)</h1>
        <img id="picture" src="/picture.svg"><img id="gone" src="/gone.svg">
        <script>
          let last = "", offline = "no", start = crypto.randomUUID(), reporting = Promise.resolve();
          fetch("\(nowhere)").then(answer => answer.text()).then(text => offline = text.trim(), () => 0);
          setInterval(() => {
            const words = [document.querySelector("h1").textContent, getComputedStyle(document.querySelector("h1")).color,
              picture.naturalWidth, gone.naturalWidth, offline].join(" | ");
            if (words === last) return;
            last = words;
            // Send the reports one after the other, so that the last report arrives last.
            reporting = reporting.then(() => fetch("/shown/" + encodeURIComponent(words)));
          }, 20);
          fetch("/started/" + start);
        </script>
        """
    }
}
#endif
