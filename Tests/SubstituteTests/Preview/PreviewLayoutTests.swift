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

    /// The expression that shows the cards in a view.
    private func show(_ view: String) -> String {
        "document.querySelector('input[name=view][value=\(view)]').click()"
    }

    @Test("A list of 200 URLs takes at most six screens, its rows open and close, and the page remembers the view")
    func list() async throws {
        let browser = try await phone(entries(200))
        defer { browser.stop() }
        for view in ["cards", "list"] {
            // The filters leave the page at least nine tenths of its height.
            let filters = "form.getBoundingClientRect().height <= 84.4"
            let facts = try await browser.texts(show(view), "document.documentElement.scrollWidth", filters)
            #expect(facts.dropFirst() == ["390", "true"], "\(view)")
        }
        let height = try #require(Int(try await browser.text("document.documentElement.scrollHeight")))
        #expect(height <= 6 * 844)
        #expect(try await browser.text("document.querySelectorAll('.card:not([hidden])').length") == "200")

        let row = "document.querySelectorAll('.card')[20]"
        let closed = try #require(Int(try await browser.text("\(row).offsetHeight")))
        let link = "\(row).querySelector('.url a')"
        let state = "[\(link).getAttribute('aria-expanded'), \(row).offsetHeight > \(4 * closed)]"
        let states = try await browser.texts(state, "\(link).click()", state, "\(link).click()", "\(row).offsetHeight")
        #expect(states == ["false,false", "undefined", "true,true", "undefined", "\(closed)"])

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
        // The elements that show a part of a long text have an ellipsis, and the others fit the screen.
        let outside = """
            [...document.querySelectorAll("body *:not(option)")].filter(element => element.checkVisibility()
              && (element.getBoundingClientRect().right > 390
                || element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
                  && getComputedStyle(element).overflowX !== "visible"
                  && getComputedStyle(element).textOverflow !== "ellipsis"))
              .map(element => element.outerHTML.slice(0, 100)).join()
            """
        for (view, order) in [("cards", ""), ("list", ""), ("cards", "size"), ("list", "manifest")] {
            let sorting = "(form.elements.order.value = '\(order)', sort(), apply())"
            #expect(try await browser.texts(show(view), sorting, outside).last == "", "\(view) \(order)")
        }
        #expect(try await browser.text("document.querySelector('#issues mark').textContent") == "\"")
    }

    @Test("Cards are grouped by server and folder, in the order that people expect of names, or sorted without groups")
    func groups() async throws {
        let urls = [
            "https://b.example.com/i10.txt", "https://b.example.com/i2.txt", "https://b.example.com/sub/x.txt",
            "https://b.example.com/B.txt", "https://a.example.com/v10/x.txt", "https://a.example.com/v9/x.txt",
        ]
        try folder.write("x", to: "Site/x.txt")
        try folder.write("xxxx", to: "Site/img.d/payload")
        let payload = "{ \"file\": \"img.d/payload\", \"type\": \"application/octet-stream\" }"
        let browser = try await phone(urls.map { "\"\($0)\": \"x.txt\"" } + ["\"https://c/\": \(payload)"])
        defer { browser.stop() }
        func shown(_ selector: String, by order: String? = nil) async throws -> [String] {
            let (select, event) = ("form.elements.order", "new Event('input', { bubbles: true })")
            if let order {
                _ = try await browser.text("(\(select).value = '\(order)', \(select).dispatchEvent(\(event)))")
            }
            let elements = "[...document.querySelectorAll('\(selector)')].filter(element => element.checkVisibility())"
            let titles = "\(elements).map(element => element.title || element.textContent).join('|')"
            return try await browser.text(titles).components(separatedBy: "|")
        }
        let groups = [
            "a.example.com 1 file, 1 byte", "/v9/", urls[5], "/v10/", urls[4],
            "b.example.com 1 file, 1 byte", "/", urls[3], urls[1], urls[0], "/sub/", urls[2],
            "c/ 1 file, 4 bytes", "https://c/",
        ]
        #expect(try await shown("h2, h3, .url a") == groups)
        #expect(try await browser.text("document.querySelector('.show.other').dataset.label") == "file")
        #expect(try await shown("h2, .url a", by: "size") == ["https://c/"] + urls)
        #expect(try await shown("h2, .url a", by: "manifest") == urls + ["https://c/"])
        #expect(try await shown("h2, h3, .url a", by: "") == groups)

        // A URL is divided into server, folder and name.
        for (url, parts) in [
            ("https://h/a/blog/", "h /a/ blog/"), ("http://h:8080/a", "http://h:8080 / a"),
            ("//h/x/y?q=a/b&c", "//h /x/ y?q=a/b&c"), ("https://h/?q=/", "h / /?q=/"), ("https://h//a", "h // a"),
        ] {
            let found = try await browser.text("(p => [p.host, p.folder, p.name].join(' '))(parts('\(url)'))")
            #expect(found == parts, "\(url)")
        }
    }

    @Test("A text has as many lines as it needs and fit, and an image its size: scaled down, never up")
    func sizes() async throws {
        try folder.write(String(repeating: "a{color:red}.b-c{margin:0}", count: 60), to: "Site/a.min.css")
        try folder.write((0..<60).map { "\($0)\n" }.joined(), to: "Site/b.txt")
        try folder.write(Data(base64Encoded: PreviewServerTests.dot) ?? Data(), to: "Site/dot.png")
        try folder.write(Self.picture(width: 1800, height: 1300), to: "Site/large.svg")
        try folder.write("x\n", to: "Site/z.txt")
        let files = ["a.min.css", "b.txt", "dot.png", "large.svg", "z.txt"]
        let browser = try await phone(files.map { "\"https://h/\($0)\": \"\($0)\"" })
        defer { browser.stop() }
        // A text of one line fills all lines of its sample, and no line is cut.
        for number in [0, 1] {
            let sample = "document.querySelectorAll('pre')[\(number)]"
            let lines = "\(sample).clientHeight / parseFloat(getComputedStyle(\(sample)).lineHeight)"
            // The last line is completely visible.
            let ends = [sample, "\(sample).parentElement"].map { "\($0).getBoundingClientRect().bottom" }
            let isWhole = "\(sample).scrollWidth <= \(sample).clientWidth && \(ends.joined(separator: " <= "))"
            #expect(try await browser.texts(lines, isWhole) == ["8", "true"])
        }
        let isLow = "[...document.querySelectorAll('.show')].at(-1).offsetHeight < 60"
        let fits = "[...document.images].map(image => getComputedStyle(image).objectFit)"
        #expect(try await browser.texts(isLow, fits) == ["true", "scale-down,scale-down"])
        let facts = "[...document.querySelectorAll('.facts')].some(each => each.textContent.includes('2 × 1 px'))"
        try await browser.wait(until: facts)
    }
}
#endif
