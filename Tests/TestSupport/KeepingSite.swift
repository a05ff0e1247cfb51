// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer

/// A site whose service worker caches the page and everything that the page loads.
///
/// Requests for URLs that are not in the worker's cache go to the network. The worker is modelled on MDN's "simple
/// service worker" (https://github.com/mdn/dom-examples/tree/main/service-worker), but written from scratch. Each
/// resource contains the name of its source: "network" or "bundle".
package struct KeepingSite {
    private let server: LoopbackServer

    /// Starts the server, and writes a manifest that maps every file of the site except the service worker.
    package init(in folder: TemporaryFolder) throws {
        let files = Self.files(who: "network")
        server = try LoopbackServer { request in
            guard let text = files[request.path] else { return .text("", status: 404) }
            let name = URL(fileURLWithPath: request.path).pathExtension
            return .init(headers: ["Content-Type": Self.types[name] ?? "text/html"], body: Data(text.utf8))
        }
        let bundled = Self.files(who: "bundle")
        for (path, text) in bundled where path != "/" { try folder.write(text, to: "Substitutions/site\(path)") }
        let entries = bundled.keys.sorted().filter { $0 != "/worker.js" }.map { path in
            "\"\(server.url.absoluteString)\(path)\": \"site\(path == "/" ? "/index.html" : path)\""
        }
        try folder.write("{\n  \(entries.joined(separator: ",\n  "))\n}\n", to: "Substitutions/manifest.json")
    }

    package func stop() { server.stop() }

    package var address: String { "\(server.url.absoluteString)/" }

    /// The body of a JavaScript function that returns where the page and its resources come from.
    ///
    /// Each source is usually "network" or "bundle". The result also says whether the page has its service worker. The
    /// result is "" until the page is loaded and the service worker is ready.
    package static let state = """
        const pictures = [...document.images];
        if (!window.isKept || document.readyState !== "complete" || pictures.some(picture => !picture.complete)) return "";
        const who = pictures.map(picture => ({ 11: "network", 22: "bundle" })[picture.naturalWidth]).join(" ");
        const style = getComputedStyle(document.documentElement).getPropertyValue("--who").trim();
        const worker = navigator.serviceWorker.controller ? "with its worker" : "without its worker";
        return `page ${document.title}, style ${style}, pictures ${who}, script ${window.who || "lost"}, ${worker}`;
        """

    /// The body of a JavaScript function that fetches a file and returns its source: "network" or "bundle".
    ///
    /// The page itself does not load this file. If the fetch fails, the function returns "".
    package static let probe =
        "return await fetch('/probe.json').then(answer => answer.json()).then(json => json.who, () => '')"

    private static let types = [
        "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "json": "application/json",
    ]

    private static func files(who: String) -> [String: String] {
        let page = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <title>\(who)</title>
            <link rel="stylesheet" href="style.css">
            <h1>Pictures of a walk</h1>
            <main><img src="pictures/bridge.svg"></main>
            <script>navigator.serviceWorker.ready.then(() => { window.isKept = true; });</script>
            <script type="module" src="app.js"></script>
            </html>

            """
        let side = who == "bundle" ? 22 : 11
        let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='\(side)' height='\(side)'/>\n"
        return [
            "/": page, "/index.html": page, "/start.html": "<!doctype html><title>start</title>\n",
            "/probe.json": "{ \"who\": \"\(who)\" }\n",
            "/style.css": ":root { --who: \(who); }\n",
            "/names.js": "export const names = [\"lake\", \"summit\"];\n",
            "/pictures/bridge.svg": picture, "/pictures/lake.svg": picture, "/pictures/summit.svg": picture,
            "/app.js": """
            import { names } from "./names.js";
            window.who = "\(who)";
            for (const name of names) {
              const picture = document.createElement("img");
              picture.src = `pictures/${name}.svg`;
              document.querySelector("main").append(picture);
            }
            navigator.serviceWorker.register("worker.js");

            """,
            "/worker.js": """
            const kept = ["/", "/index.html", "/style.css", "/app.js", "/names.js", "/pictures/bridge.svg", "/pictures/lake.svg"];
            addEventListener("install", event => event.waitUntil(caches.open("v1").then(cache => cache.addAll(kept))));
            const keep = async (request, answer) => (await caches.open("v1")).put(request, answer);
            const load = async request => {
              const answer = await fetch(request);
              keep(request, answer.clone());
              return answer;
            };
            addEventListener("fetch", event => {
              event.respondWith(caches.match(event.request).then(answer => answer || load(event.request)));
            });

            """,
        ]
    }
}
#endif
