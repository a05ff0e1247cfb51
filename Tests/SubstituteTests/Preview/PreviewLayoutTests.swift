// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

/// Tests of the page's layout in a browser, on a phone of 390 × 844 pixels.
@Suite("The layout of the preview", .serialized, .startsChromium)
struct PreviewLayoutTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Starts a browser with a phone's screen, and opens the preview of a manifest with these entries.
    private func phone(_ entries: [String]) async throws -> DrivenChromium {
        try folder.write("{ \(entries.joined(separator: ",\n")) }", to: "Site/manifest.json")
        let page = folder.url.appendingPathComponent("page.html")
        let manifest = folder.url.appendingPathComponent("Site/manifest.json").path
        try #require(await Tool.run(["preview", manifest, "-o", page.path]).status == 0)
        let browser = try await DrivenChromium()
        try await browser.command(
            "Emulation.setDeviceMetricsOverride",
            ["width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true]
        )
        try await browser.open(page.absoluteString)
        return browser
    }

    /// Returns entries with long and short addresses.
    ///
    /// No entry causes an issue, because issues would be shown above the cards.
    private func entries(_ count: Int) throws -> [String] {
        try (0..<count).map { number in
            let type = ["svg", "css", "txt"][number % 3]
            let folders = number % 5 == 0 ? "a-name-that-is-longer-than-a-phone-is-wide/and-goes-on/" : ""
            let name = "\(folders)\(number).\(type)"
            let content = type == "svg" ? Self.picture(width: 40, height: 40) : "x"
            try folder.write(content, to: "Site/\(name)")
            return #""https://cdn.example.com/assets/\#(name)": { "file": "\#(name)", "ignoreQuery": true }"#
        }
    }

    private static func picture(width: Int, height: Int) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)">
        <rect width="\(width)" height="\(height)" fill="red"/></svg>
        """
    }

    @Test("A list of 200 URLs takes at most six screens, its rows open and close, and the page remembers the view")
    func list() async throws {
        let browser = try await phone(entries(200))
        defer { browser.stop() }
        for view in ["cards", "list"] {
            _ = try await browser.text("document.querySelector('input[name=view][value=\(view)]').click()")
            #expect(try await browser.text("document.documentElement.scrollWidth") == "390", "\(view)")
            // The filters leave the page at least nine tenths of its height.
            let filters = try #require(Double(try await browser.text("form.getBoundingClientRect().height")))
            #expect(filters <= 84.4, "\(view)")
        }
        let height = try #require(Int(try await browser.text("document.documentElement.scrollHeight")))
        #expect(height <= 6 * 844)
        #expect(try await browser.text("document.querySelectorAll('.card:not([hidden])').length") == "200")

        let row = "document.querySelectorAll('.card')[20]"
        let closed = try #require(Int(try await browser.text("\(row).offsetHeight")))
        let link = "\(row).querySelector('.url a')"
        #expect(try await browser.text("\(link).getAttribute('aria-expanded')") == "false")
        _ = try await browser.text("\(link).click()")
        #expect(try #require(Int(try await browser.text("\(row).offsetHeight"))) > 4 * closed)
        #expect(try await browser.text("\(link).getAttribute('aria-expanded')") == "true")
        _ = try await browser.text("\(link).click()")
        #expect(try await browser.text("\(row).offsetHeight") == "\(closed)")

        _ = try await browser.text("window.isOld = true")
        try await browser.command("Page.reload")
        try await browser.wait(until: "!window.isOld && document.documentElement.scrollHeight === \(height)")
        // A link to a row opens it.
        _ = try await browser.text("location.hash = \(row).id")
        try await browser.wait(until: "\(row).offsetHeight > \(4 * closed)")
        #expect(browser.complaints == [])
    }

    @Test("Nothing is cut off, in cards, in the list, and in the excerpts of errors")
    func nothingCut() async throws {
        let mistake = #""https://example.com/a/long/path/\#(String(repeating: "on/", count: 20))x.png": "gone.png""#
        let browser = try await phone(entries(12) + [mistake])
        defer { browser.stop() }
        for (view, order) in [("cards", ""), ("list", ""), ("cards", "size"), ("list", "manifest")] {
            _ = try await browser.text("document.querySelector('input[name=view][value=\(view)]').click()")
            _ = try await browser.text("(form.elements.order.value = '\(order)', sort(), apply())")
            // The elements that show a part of a long text have an ellipsis, and the others fit the screen.
            let outside = """
                [...document.querySelectorAll("body *:not(option)")].filter(element => element.checkVisibility()
                  && (element.getBoundingClientRect().right > 390
                    || element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
                      && getComputedStyle(element).overflowX !== "visible"
                      && getComputedStyle(element).textOverflow !== "ellipsis"))
                  .map(element => element.outerHTML.slice(0, 100))
                """
            #expect(try await browser.text("(\(outside)).join()") == "", "\(view) \(order)")
        }
        #expect(try await browser.text("document.querySelector('#issues mark').textContent") == "\"")
    }

    @Test("In the order of sizes, the cards leave their groups, and return to them")
    func orders() async throws {
        try folder.write("x", to: "Site/small.txt")
        try folder.write("xxxx", to: "Site/large.txt")
        let browser = try await phone([
            #""https://b.example.com/small.txt": "small.txt""#, #""https://a.example.com/small.txt": "small.txt""#,
            #""https://c.example.com/large.txt": "large.txt""#,
        ])
        defer { browser.stop() }
        let titles = """
            [...document.querySelectorAll("h2, .card")].filter(element => element.checkVisibility())
              .map(element => element.querySelector(".url a")?.title.slice(8) ?? element.querySelector("b").textContent)
              .join(" ").replaceAll(".example.com", "")
            """
        func shown(by order: String) async throws -> String {
            let event = "new Event('input', { bubbles: true })"
            let select = "form.elements.order"
            _ = try await browser.text("(\(select).value = '\(order)', \(select).dispatchEvent(\(event)))")
            return try await browser.text(titles)
        }
        #expect(try await shown(by: "size") == "c/large.txt b/small.txt a/small.txt")
        #expect(try await shown(by: "manifest") == "b/small.txt a/small.txt c/large.txt")
        #expect(try await shown(by: "") == "a a/small.txt b b/small.txt c c/large.txt")

        // A URL is divided into server, folder and name.
        for (url, parts) in [
            ("https://h/", "h / /"), ("https://h/a.css", "h / a.css"), ("https://h/img/a.png", "h /img/ a.png"),
            ("https://h/a/blog/", "h /a/ blog/"), ("http://h:8080/a", "http://h:8080 / a"),
            ("//h/x/y?q=a/b&c", "//h /x/ y?q=a/b&c"), ("https://h/?q=/", "h / /?q=/"),
            ("https://[::1]/a/b", "[::1] /a/ b"), ("https://h//a", "h // a"),
        ] {
            let found = try await browser.text("(p => [p.host, p.folder, p.name].join(' '))(parts('\(url)'))")
            #expect(found == parts, "\(url)")
        }
    }

    @Test("Cards are grouped by server and folder, in the order that people expect of names, and have a label")
    func groups() async throws {
        let urls = [
            "https://b.example.com/i10.txt", "https://b.example.com/i2.txt", "https://b.example.com/sub/x.txt",
            "https://b.example.com/B.txt", "https://a.example.com/v10/x.txt", "https://a.example.com/v9/x.txt",
        ]
        try folder.write("x", to: "Site/x.txt")
        try folder.write("x", to: "Site/img.d/payload")
        let payload = "{ \"file\": \"img.d/payload\", \"type\": \"application/octet-stream\" }"
        let browser = try await phone(urls.map { "\"\($0)\": \"x.txt\"" } + ["\"https://c/\": \(payload)"])
        defer { browser.stop() }
        let lines = """
            [...document.querySelectorAll("h2, h3, .url a")].map(element => element.title || element.textContent).join("|")
            """
        #expect(
            try await browser.text(lines).components(separatedBy: "|") == [
                "a.example.com 1 file, 1 byte", "/v9/", urls[5], "/v10/", urls[4],
                "b.example.com 1 file, 1 byte", "/", urls[3], urls[1], urls[0], "/sub/", urls[2],
                "c/ 1 file, 1 byte", "https://c/",
            ]
        )
        #expect(try await browser.text("document.querySelector('.show.other').dataset.label") == "file")
    }

    @Test("A text has as many lines as it needs and fit, and an image its size: scaled down, never up")
    func sizes() async throws {
        try folder.write(String(repeating: "a{color:red}.b-c{margin:0}", count: 60), to: "Site/a.min.css")
        try folder.write((0..<60).map { "\($0)\n" }.joined(), to: "Site/b.txt")
        try folder.write(Data(base64Encoded: Self.dot) ?? Data(), to: "Site/dot.png")
        try folder.write(Self.picture(width: 1800, height: 1300), to: "Site/large.svg")
        try folder.write("x\n", to: "Site/z.txt")
        let files = ["a.min.css", "b.txt", "dot.png", "large.svg", "z.txt"]
        let browser = try await phone(files.map { "\"https://h/\($0)\": \"\($0)\"" })
        defer { browser.stop() }
        // A text of one line fills all lines of its sample, and no line is cut.
        for number in [0, 1] {
            let sample = "document.querySelectorAll('pre')[\(number)]"
            #expect(try await browser.text("\(sample).scrollWidth <= \(sample).clientWidth") == "true")
            let lines = "\(sample).clientHeight / parseFloat(getComputedStyle(\(sample)).lineHeight)"
            #expect(try await browser.text(lines) == "8")
            // The last line is completely visible.
            let ends = [sample, "\(sample).parentElement"].map { "\($0).getBoundingClientRect().bottom" }
            #expect(try await browser.text(ends.joined(separator: " <= ")) == "true")
        }
        let low = "[...document.querySelectorAll('.show')].at(-1).offsetHeight"
        #expect(try #require(Double(try await browser.text(low))) < 60)
        let facts = "[...document.querySelectorAll('.facts')].find(each => each.textContent.includes('2 × 1 px'))"
        try await browser.wait(until: "Boolean(\(facts))")
        let fits = "[...document.images].map(image => getComputedStyle(image).objectFit)"
        #expect(try await browser.text(fits) == "scale-down,scale-down")
        // Counts the lines of the text "2 × 1 px" while the page becomes narrower.
        let boxes = """
            const walker = document.createTreeWalker(\(facts), NodeFilter.SHOW_TEXT);
            let node = walker.nextNode();
            while (!node.data.includes("×")) node = walker.nextNode();
            const range = document.createRange();
            range.setStart(node, node.data.search(/[0-9]+ ×/));
            range.setEnd(node, node.data.indexOf("px") + 2);
            const counts = new Set();
            for (let width = 390; width > 150; width -= 3) {
              document.body.style.width = width + "px";
              counts.add(range.getClientRects().length);
            }
            return [...counts].join();
            """
        #expect(try await browser.run(boxes) == "1")
    }

    /// A PNG of 2 × 1 pixels, one of which is transparent.
    private static let dot =
        "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAD0lEQVR4nGP4z8AARAwMAAz8Af9c/RSVAAAAAElFTkSuQmCC"
}
#endif
