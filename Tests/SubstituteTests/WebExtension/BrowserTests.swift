// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

/// Tests that load pages in real browsers with the extension, from a server that records the requests.
@Suite("The extension in browsers")
struct BrowserTests {
    /// Returns the table that names the source of each kind of resource; the documentation shows this table.
    private func table(in browser: (some Browser).Type) async throws -> String {
        let (folder, out) = (try TemporaryFolder(), try TemporaryFolder())
        let site = try await KindsSite(in: folder)
        defer { site.stop() }
        let result = await Tool.run(["extension", folder.url.path, "-o", "Extension"], in: out.url)
        try #require(result.status == 0, "\(result.errors)")
        var runs: [[KindsSite.Report]] = []
        for isWith in [false, true] {
            let extensionFolder = isWith ? out.url.appendingPathComponent("Extension") : nil
            let address = site.start(withExtension: isWith)
            let started = try await browser.init(extensionFolder: extensionFolder, address: address)
            defer { started.stop() }
            runs.append(try await site.reports())
        }
        return KindsSite.table(without: runs[0], with: runs[1])
    }

    /// Checks that the Demo's page requests only itself and its changing picture.
    ///
    /// The extension has as many rules as browsers accept; most of them are for other URLs.
    private func checkDemo(in browser: (some Browser).Type) async throws {
        let resources = Repository.folder.appendingPathComponent("Resources/Substitutions")
        let start = """
            <!doctype html><script>
            // In Chromium, a page that was loaded before the extension was ready never uses the extension.
            const later = () => setTimeout(() => location.reload(), 200);
            fetch("/css/site.css").then(answer => { if (answer.ok) location = "/"; else later(); }, later);
            </script>
            """
        let report = """
            <script>addEventListener("load", () => fetch("/loaded", { method: "POST", body:
              [...document.images].filter(image => image.naturalWidth).length + " pictures, margin "
              + getComputedStyle(document.body).margin }))</script>
            """
        let page = try Data(contentsOf: resources.appendingPathComponent("index.html")) + Data(report.utf8)
        let picture = try Data(contentsOf: resources.appendingPathComponent("live/tide.svg"))
        // The server has only the page and the picture that changes. Without the extension, the page would have no
        // style and no other pictures.
        let server = try LoopbackServer { request in
            switch request.path {
            case "/start": .init(headers: ["Content-Type": "text/html"], body: Data(start.utf8))
            case "/": .init(headers: ["Content-Type": "text/html; charset=utf-8"], body: page)
            case "/live/tide.svg": .init(headers: ["Content-Type": "image/svg+xml"], body: picture)
            default: .text("", status: 404)
            }
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(at: resources, to: folder.url.appendingPathComponent("Substitutions"))
        let manifest = try String(contentsOf: resources.appendingPathComponent("manifest.json"), encoding: .utf8)
        let names = (0..<100).map { "\"p\($0)\"" }.joined(separator: ", ")
        let lists = (0..<9).map {
            "\"https://many.test/b\($0).svg\": { \"file\": \"img/header.svg\", \"ignoreQuery\": [\(names)] },\n"
        }
        let others = (0..<29_080).map { "\"https://many.test/a.svg?\($0)\": \"img/header.svg\",\n" }
        try folder.write(
            manifest.replacingOccurrences(of: "http://localhost:0", with: server.url.absoluteString)
                .replacingOccurrences(of: "{\n  \"$schema\"", with: "{\n\((others + lists).joined())  \"$schema\""),
            to: "Substitutions/manifest.json"
        )
        let extensionFolder = try await written(for: folder)
        let rules = try Data(contentsOf: extensionFolder.appendingPathComponent("rules.json"))
        let count = try #require(JSONSerialization.jsonObject(with: rules) as? [Any]).count
        #expect((29_980...30_000).contains(count), "\(count) rules")
        let address = server.url.appendingPathComponent("start")
        let started = try await browser.init(extensionFolder: extensionFolder, address: address)
        defer { started.stop() }
        try await wait(for: "the whole page") { server.requests.contains { $0.path == "/loaded" } }
        let requests = server.requests
        let last = try #require(requests.firstIndex { $0.path == "/loaded" })
        let first = requests[...last].lastIndex { $0.path == "/" } ?? 0
        let seen = requests[first...last].map { "\($0.target) \(String(decoding: $0.body, as: UTF8.self))" }
            .filter { !$0.hasPrefix("/favicon.ico") }
        #expect(seen == ["/ ", "/live/tide.svg ", "/loaded 6 pictures, margin 0px"])
    }

    @Test("The Demo's page requests only itself and its changing picture, in Chromium", .startsChromium)
    func demoInChromium() async throws { try await checkDemo(in: DrivenChromium.self) }

    @Test("The Demo's page requests only itself and its changing picture, in Firefox", .startsFirefox)
    func demoInFirefox() async throws { try await checkDemo(in: Firefox.self) }

    // MARK: - The toolbar page

    /// Writes the extension for a manifest with a transparent and an opaque picture, and returns its folder.
    private func pictures(in folder: TemporaryFolder) async throws -> URL {
        let start = #"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">"#
        for (name, shape) in [
            ("logo", "<circle cx='20' cy='20' r='9' fill='white'/>"), ("photo", "<rect width='40' height='40'/>"),
        ] { try folder.write("\(start)\(shape)</svg>", to: "Substitutions/\(name).svg") }
        let entries = ["logo.svg", "photo.svg"].map { "\"https://h.test/\($0)\": \"\($0)\"" }
        try folder.write("{ \(entries.joined(separator: ", ")) }", to: "Substitutions/manifest.json")
        return try await written(for: folder)
    }

    /// Checks the toolbar page's rows, its search, and its switch.
    private func checkToolbar(in browser: some Browser) async throws {
        let state = """
            const box = document.getElementById("switch");
            // The page shows a transparent picture twice, on white and on black. So count only the first image in each
            // place.
            const shown = [...document.querySelectorAll("img:first-child")].filter(image => image.naturalWidth).length;
            return box.disabled || document.body.dataset.clicked ? "" : `${box.checked} ${document.querySelectorAll("#rows li").length} ${shown}`;
            """
        let search = """
            const field = document.getElementById("search");
            field.value = "photo";
            field.dispatchEvent(new Event("input"));
            return [...document.querySelectorAll("#rows li")].filter(row => !row.hidden).length + "";
            """
        let click = "document.body.dataset.clicked = 1; document.getElementById('switch').click(); return ''"
        try await browser.openToolbar()
        try await wait(for: "the rows") { try await browser.run(state) == "true 2 2" }
        #expect(try await browser.run(search) == "1")
        // The switch reloads the active tab, which here is the toolbar page itself.
        for isOn in [false, true] {
            _ = try await browser.run(click)
            try await wait(for: "the switch: \(isOn)") { (try? await browser.run(state)) == "\(isOn) 2 2" }
        }
    }

    @Test("The toolbar page shows pictures on white and black, and its switch works, in Chromium", .startsChromium)
    func toolbarInChromium() async throws {
        let folder = try TemporaryFolder()
        let browser = try await DrivenChromium(extensionFolder: pictures(in: folder))
        defer { browser.stop() }
        // A transparent picture is shown on white and on black, and an opaque one only once.
        for scheme in ["light", "dark"] {
            let features = [["name": "prefers-color-scheme", "value": scheme]]
            try await browser.command("Emulation.setEmulatedMedia", ["features": features])
            try await browser.openToolbar()
            let counts = "[...document.querySelectorAll('#rows li')].map(row => row.querySelectorAll('img').length)"
            try await browser.wait(until: counts, is: "2,1")
            let images = "[...document.querySelectorAll('#rows li:first-child img')]"
            let styles = "\(images).map(image => getComputedStyle(image))"
            let shown = try await browser.texts(
                "\(styles).map(style => style.backgroundColor).join(' ')",
                "\(styles).map(style => style.objectFit)"
            )
            #expect(shown == ["rgb(255, 255, 255) rgb(21, 23, 28)", "scale-down,scale-down"], "\(scheme)")
        }
        #expect(browser.complaints == [])
        try await checkToolbar(in: browser)
    }

    @Test("The toolbar page shows pictures, and its switch works, in Firefox", .startsFirefox)
    func toolbarInFirefox() async throws {
        let folder = try TemporaryFolder()
        let blank = try #require(URL(string: "about:blank"))
        let browser = try await Firefox(extensionFolder: pictures(in: folder), address: blank)
        defer { browser.stop() }
        try await checkToolbar(in: browser)
    }

    /// Writes the extension for the manifest in a folder's `Substitutions`, and returns its folder.
    private func written(for folder: TemporaryFolder) async throws -> URL {
        let result = await Tool.run(["extension", "-o", "Extension"], in: folder.url)
        try #require(result.status == 0, "\(result.errors)")
        return folder.url.appendingPathComponent("Extension")
    }

    // MARK: - Kinds

    @Test("Every kind of resource has the recorded source in Chromium", .startsChromium)
    func chromium() async throws {
        let table = try await table(in: DrivenChromium.self)
        try Repository.compare(table, withFixture: "SubstituteTests/Fixtures/WebExtension-Chromium.txt")
    }

    @Test("Every kind of resource has the recorded source in Firefox", .startsFirefox)
    func firefox() async throws {
        let table = try await table(in: Firefox.self)
        try Repository.compare(table, withFixture: "SubstituteTests/Fixtures/WebExtension-Firefox.txt")
    }
}
#endif
