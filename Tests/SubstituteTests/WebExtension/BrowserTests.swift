// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

/// Tests that load pages in real browsers with the extension, from a server that records the requests.
@Suite("The extension in browsers", .serialized)
struct BrowserTests {
    /// Returns the table that names the source of each kind of resource; the documentation shows this table.
    private func table(in browser: (some Browser).Type) async throws -> String {
        let folder = try TemporaryFolder()
        let site = try await KindsSite(in: folder)
        defer { site.stop() }
        let out = try TemporaryFolder()
        let result = await Tool.run(["extension", folder.url.path, "-o", "Extension"], in: out.url)
        try #require(result.status == 0, "\(result.errors)")
        var runs: [[KindsSite.Report]] = []
        for isWith in [false, true] {
            let started = try await browser.init(
                extensionFolder: isWith ? out.url.appendingPathComponent("Extension") : nil,
                address: site.start(withExtension: isWith)
            )
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
        let lists = stride(from: 1, to: 999, by: 100).map { first in
            let names = (first..<min(first + 100, 999)).map { "\"p\($0)\"" }.joined(separator: ", ")
            return
                "\"https://many.test/b\(first).svg\": { \"file\": \"img/header.svg\", \"ignoreQuery\": [\(names)] },\n"
        }
        let others = (999..<(29_991 - lists.count)).map { "\"https://many.test/a.svg?\($0)\": \"img/header.svg\",\n" }
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

    /// Writes the extension for the Demo's manifest, and returns its folder.
    private func demoExtension(in folder: TemporaryFolder) async throws -> URL {
        let resources = Repository.folder.appendingPathComponent("Resources/Substitutions")
        let result = await Tool.run(["extension", resources.path, "-o", "Extension"], in: folder.url)
        try #require(result.status == 0, "\(result.errors)")
        return folder.url.appendingPathComponent("Extension")
    }

    /// Checks the toolbar page, which must be the active tab.
    ///
    /// `evaluate` takes the body of a JavaScript function, and runs it in that page.
    private func checkToolbar(_ evaluate: (String) async throws -> String?) async throws {
        let state = """
            const box = document.getElementById("switch");
            // The page shows a transparent picture twice, on white and on black. So count only the first image in each
            // place.
            const shown = [...document.querySelectorAll("img:first-child")].filter(image => image.naturalWidth).length;
            return box.disabled || document.body.dataset.clicked ? "" : `${box.checked} ${document.querySelectorAll("#rows li").length} ${shown}`;
            """
        let search = """
            const field = document.getElementById("search");
            field.value = "ferry";
            field.dispatchEvent(new Event("input"));
            return [...document.querySelectorAll("#rows li")].filter(row => !row.hidden).length + "";
            """
        let click = "document.body.dataset.clicked = 1; document.getElementById('switch').click(); return ''"
        #expect(try await eventually("true 8 6") { try await evaluate(state) })
        #expect(try await evaluate(search) == "1")
        // The switch reloads the active tab, which here is the toolbar page itself.
        for isOn in [false, true] {
            _ = try await evaluate(click)
            #expect(try await eventually("\(isOn) 8 6") { try? await evaluate(state) })
        }
    }

    @Test(
        "The toolbar page shows thumbnails, and its switch turns the rules off and on, in Chromium",
        .startsChromium
    )
    func toolbarInChromium() async throws {
        let folder = try TemporaryFolder()
        let chromium = try await DrivenChromium(extensionFolder: demoExtension(in: folder))
        defer { chromium.stop() }
        try await chromium.open("chrome-extension://\(chromium.extensionID)/toolbar.html")
        try await checkToolbar { try await chromium.text("(() => { \($0) })()") }
    }

    @Test("The toolbar page shows thumbnails, and its switch turns the rules off and on, in Firefox", .startsFirefox)
    func toolbarInFirefox() async throws {
        let folder = try TemporaryFolder()
        let blank = try #require(URL(string: "about:blank"))
        let firefox = try await Firefox(extensionFolder: demoExtension(in: folder), address: blank)
        defer { firefox.stop() }
        try await firefox.openToolbar(of: "substitutions@localhost")
        try await checkToolbar { try await firefox.evaluate($0) }
    }

    /// Returns true once the answer is the expected one, and false after 30 seconds.
    private func eventually(_ expected: String, _ answer: () async throws -> String?) async throws -> Bool {
        for _ in 0..<300 {
            if try await answer() == expected { return true }
            try await Task.sleep(nanoseconds: 100_000_000)
        }
        return false
    }

    // MARK: - Service workers

    /// Opens a site three times with the extension and once without, in one profile.
    ///
    /// - Parameters:
    ///   - site: A site whose service worker caches the page.
    ///   - open: Loads a page.
    ///   - evaluate: Takes the body of a JavaScript function, and runs it in the page.
    ///   - removeExtension: Removes the extension.
    /// - Returns: For each visit, the sources of the page and its resources; "" if the page was not shown.
    /// - Throws: The browser's error.
    private func visits(
        to site: KeepingSite,
        _ open: (String) async throws -> Void,
        _ evaluate: (String) async throws -> String?,
        _ removeExtension: () async throws -> Void
    ) async throws -> [String] {
        var states: [String] = []
        // In Chromium, a page that was loaded before the extension was ready never uses the extension. So load the
        // start page again until it uses the extension.
        for _ in 0..<300 {
            try await open(site.address + "start.html")
            if try await evaluate(KeepingSite.probe) == "bundle" { break }
            try await Task.sleep(nanoseconds: 100_000_000)
        }
        for visit in 0..<4 {
            if visit == 3 { try await removeExtension() }
            // If no page is shown, Firefox's driver throws.
            try? await open(site.address)
            var state = ""
            for _ in 0..<200 where state.isEmpty {
                state = (try? await evaluate(KeepingSite.state)) ?? ""
                if state.isEmpty { try await Task.sleep(nanoseconds: 100_000_000) }
            }
            states.append(state)
        }
        return states
    }

    /// The expected visits with the extension: a page from the network, with resources from the bundle.
    private static let visitsWithExtension = ["without", "with", "with"].map {
        "page network, style bundle, pictures bundle bundle bundle, script bundle, \($0) its worker"
    }

    @Test(
        "A site that caches its page can be reopened, with and without the extension, in Chromium",
        .startsChromium
    )
    func keepingSiteInChromium() async throws {
        let folder = try TemporaryFolder()
        let site = try KeepingSite(in: folder)
        defer { site.stop() }
        let chromium = try await DrivenChromium(extensionFolder: written(for: folder))
        defer { chromium.stop() }
        let visits = try await visits(
            to: site,
            { try await chromium.open($0) },
            { try await chromium.run($0) },
            { try await chromium.removeExtension() }
        )
        #expect(visits.dropLast() == Self.visitsWithExtension[...])
        // The service worker still answers with its cached copies. The imports of a cached module refer to the
        // extension, which is removed.
        #expect(visits.last == "page network, style bundle, pictures bundle, script lost, with its worker")
        // Opening a cached picture by itself is a navigation. Chromium then shows an error instead of the picture.
        try await chromium.open(site.address + "pictures/bridge.svg")
        #expect(try await chromium.text("location.protocol") == "chrome-error:")
    }

    @Test("A site that caches its page can be reopened, with and without the extension, in Firefox", .startsFirefox)
    func keepingSiteInFirefox() async throws {
        let folder = try TemporaryFolder()
        let site = try KeepingSite(in: folder)
        defer { site.stop() }
        let blank = try #require(URL(string: "about:blank"))
        let firefox = try await Firefox(extensionFolder: written(for: folder), address: blank)
        defer { firefox.stop() }
        let visits = try await visits(
            to: site,
            { try await firefox.open($0) },
            { try await firefox.evaluate("return (async () => { \($0) })()") },
            { try await firefox.removeExtension("substitutions@127.0.0.1") }
        )
        #expect(visits.dropLast() == Self.visitsWithExtension[...])
        // The worker has cached copies of the extension's files. After the extension is removed, Firefox rejects them.
        #expect(visits.last == "page network, style , pictures , script lost, with its worker")
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
        try Repository.compare(
            try await table(in: DrivenChromium.self),
            withFixture: "SubstituteTests/Fixtures/WebExtension-Chromium.txt"
        )
    }

    @Test("Every kind of resource has the recorded source in Firefox", .startsFirefox)
    func firefox() async throws {
        try Repository.compare(
            try await table(in: Firefox.self),
            withFixture: "SubstituteTests/Fixtures/WebExtension-Firefox.txt"
        )
    }
}
#endif
