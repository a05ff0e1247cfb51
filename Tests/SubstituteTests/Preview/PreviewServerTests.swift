// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("substitute preview --serve", .serialized)
struct PreviewServerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            #"{ "https://h/a.svg": "img/a.svg", "https://h/b.css": "b.css", "https://h/dot.png": "dot.png" }"#,
            to: "Site/manifest.json"
        )
        for (path, text) in [
            ("Site/img/a.svg", Self.picture("red", 40)), ("Site/b.css", "body { color: red }"),
            ("secret.txt", "secret"), ("Site/unused.txt", "unused"),
        ] { try folder.write(text, to: path) }
        try folder.write(Data(base64Encoded: Self.dot) ?? Data(), to: "Site/dot.png")
    }

    private static func picture(_ colour: String, _ width: Int) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="20">
        <rect width="\(width)" height="20" fill="\(colour)"/></svg>
        """
    }

    /// A PNG of 2 × 1 pixels, one of which is transparent.
    static let dot =
        "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAD0lEQVR4nGP4z8AARAwMAAz8Af9c/RSVAAAAAElFTkSuQmCC"

    private func serving(_ arguments: String..., environment: [String: String] = [:]) async throws
        -> (process: ServingProcess, url: String)
    {
        let words = ["preview", "--serve", "Site"] + arguments
        let process = try await ServingProcess(Tool.url, words, in: folder.url, environment: environment)
        return (process, try await process.address(after: "Open "))
    }

    /// Sends a request whose target is `target` without normalisation, and returns the whole response.
    ///
    /// `fields` are the lines of the header, by default the server's own host name.
    private func ask(_ url: String, _ target: String, fields: String? = nil, method: String = "GET") async throws
        -> String
    {
        let port = try #require(URL(string: url)?.port)
        return try await onThread {
            let handle = try connection(to: UInt16(port))
            let fields = fields ?? "Host: 127.0.0.1:\(port)\r\n"
            let head = "\(method) \(target) HTTP/1.1\r\n\(fields)Connection: close\r\n\r\n"
            try handle.write(contentsOf: Data(head.utf8))
            return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
        }
    }

    @Test("The server answers only for the page and the files in the table, also if no browser can be opened")
    func rowsOnly() async throws {
        let (process, url) = try await serving("--open", environment: ["PATH": "/none"])
        defer { process.stop() }
        try await wait(for: "a note") { process.complained.hasSuffix("No browser could be opened.\n") }
        let page = try await ask(url, "/")
        #expect(page.hasPrefix("HTTP/1.1 200 ") && page.contains("<title>What ships: "))
        let style = try await ask(url, "/files/b.css")
        #expect(style.hasPrefix("HTTP/1.1 200 ") && style.hasSuffix("body { color: red }"))
        for field in ["Content-Type: text/css; charset=utf-8\r\n", "Content-Security-Policy: sandbox\r\n"] {
            #expect(style.contains(field))
        }
        for target in [
            "/files/unused.txt", "/files/manifest.json", "/files/../secret.txt", "/files/%2e%2e/secret.txt",
            "/files/..%2fsecret.txt", "/files//etc/passwd", "/../secret.txt", "/files/img/../b.css", "/files/",
            "/files", "/files/img", "//files/b.css", "/files/b.css/", "/files/B.CSS", "/files/b.css%00", "/b.css", "*",
            "http://127.0.0.1/files/b.css",
        ] {
            let answer = try await ask(url, target)
            #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(target): \(answer.prefix(80))")
            #expect(!answer.contains("secret\n") && !answer.contains("root:"))
        }
        #expect(try await ask(url, "/", method: "POST").hasPrefix("HTTP/1.1 405 "))
        #expect(try await ask(url, "/files/b.css", method: "HEAD").hasSuffix("\r\n\r\n"))

        // A symbolic link that replaces a folder is not followed out of the manifest's folder.
        let images = folder.url.appendingPathComponent("Site/img")
        try FileManager.default.removeItem(at: images)
        try folder.write(Self.picture("blue", 1), to: "outside/a.svg")
        let outside = folder.url.appendingPathComponent("outside")
        try FileManager.default.createSymbolicLink(at: images, withDestinationURL: outside)
        #expect(try await ask(url, "/files/img/a.svg").hasPrefix("HTTP/1.1 404 "))

        // The server answers only to its own host name, and needs exactly one Host (RFC 9112 §3.2).
        for host in ["evil.test", "localhost", "127.0.0.1", "127.0.0.1:1", "[::1]:80", ""] {
            for target in ["/", "/events", "/files/b.css"] {
                let answer = try await ask(url, target, fields: "Host: \(host)\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 421 "), "\(host) \(target): \(answer.prefix(80))")
            }
        }
        let own = "127.0.0.1:\(try #require(URL(string: url)?.port))\r\n"
        for (fields, status) in [("", 400), ("Host: \(own)", 200), ("Host: \(own)HOST:\(own)", 400)] {
            let answer = try await ask(url, "/", fields: fields)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(fields): \(answer.prefix(80))")
        }
    }

    @Test("Of a hundred clients, all that stay connected are notified")
    func manyClients() async throws {
        let (process, url) = try await serving()
        defer { process.stop() }
        let port = try #require(URL(string: url)?.port)
        let handles = try (0..<100).map { _ in try connection(to: UInt16(port)) }
        let request = Data("GET /events HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8)
        for handle in handles { try handle.write(contentsOf: request) }
        let first = try await onThread { try handles.map { try $0.read(until: "data: ") } }
        #expect(first.allSatisfy { $0.contains("text/event-stream") })
        for handle in handles.prefix(50) { try handle.close() }
        try folder.write("body { color: blue }", to: "Site/b.css")
        let second = try await onThread { try handles.dropFirst(50).map { try $0.read(until: "data: ") } }
        #expect(Set(second.map { $0.split(separator: "\n").first { $0.hasPrefix("data: ") } }).count == 1)
        #expect(try await ask(url, "/").contains("color: blue"))
    }

    @Test("Chromium shows saved files without a click, and reloads nothing else", .startsChromium)
    func inChromium() async throws {
        let (process, url) = try await serving()
        defer { process.stop() }
        let browser = try await DrivenChromium()
        defer { browser.stop() }
        try await browser.open(url)
        let cards = "document.querySelectorAll('.card').length"
        try await browser.wait(until: cards, is: "3")
        try await browser.wait(until: "[...document.images].every(image => image.complete)")
        let marking = "(window.mark = 1, document.querySelectorAll('.transparent img').length)"
        let facts = "document.querySelectorAll('.card .facts')[2].textContent.includes('2 × 1 px')"
        #expect(try await browser.texts(marking, facts) == ["2", "true"])

        try folder.write("body { color: green }", to: "Site/b.css")
        try await browser.wait(until: "document.querySelector('pre').textContent", is: "body { color: green }")
        let kept = "document.querySelector('.card img').src"
        let address = try await browser.text(kept)
        try folder.write(Self.picture("blue", 60), to: "Site/img/a.svg")
        try await browser.wait(until: "document.querySelector('.card img').naturalWidth", is: "60")
        #expect(try await browser.text(kept) != address)
        #expect(try await browser.text("window.mark") == "1", "the page was not loaded again")

        // While the manifest has an error, the page shows the error with its line instead of the entry's card.
        let manifest = folder.url.appendingPathComponent("Site/manifest.json")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        try folder.write(text.replacing("b.css\",", with: "b.cs\","), to: "Site/manifest.json")
        try await browser.wait(until: "document.querySelector('#issues pre') !== null")
        let issues = try await browser.texts("document.querySelector('#issues').textContent", cards)
        #expect(issues[0].contains("did you mean \"b.css\"?") && issues[1] == "2")
        let longer = text.replacing("}", with: ", \"https://h/c\": \"b.css\" }")
        try folder.write(longer, to: "Site/manifest.json")
        try await browser.wait(until: cards, is: "4")
        #expect(try await browser.text("document.querySelector('#issues pre')") == "null")

        var colours: Set<String> = []
        for scheme in ["light", "dark"] {
            let features = [["name": "prefers-color-scheme", "value": scheme]]
            try await browser.command("Emulation.setEmulatedMedia", ["features": features])
            colours.insert(try await browser.text("getComputedStyle(document.body).backgroundColor"))
        }
        #expect(colours.count == 2)

        // In the order of sizes, a file that was saved with more bytes comes first.
        let sorting = "(form.elements.order.value = 'size', form.dispatchEvent(new Event('input')), sort(), 1)"
        _ = try await browser.text(sorting)
        try folder.write(String(repeating: "a { color: red }\n", count: 99), to: "Site/b.css")
        try await browser.wait(until: "document.querySelector('.card .url').textContent", is: "https://h/b.css")

        #expect(browser.complaints == [])
        process.stop()
        try await browser.wait(until: "document.querySelector('.ended') !== null")
    }

    @Test("Line numbers of entries and issues open the chosen editor, also after a save", .startsChromium)
    func editors() async throws {
        let entry = #""https://h/b.css": "b.css""#
        try folder.write("x", to: "S ite#1:é/b.css")
        try folder.write("{\n  \(entry) }", to: "S ite#1:é/manifest.json")
        let process = try await ServingProcess(Tool.url, ["preview", "--serve", "S ite#1:é"], in: folder.url)
        defer { process.stop() }
        let browser = try await DrivenChromium()
        defer { browser.stop() }
        try await browser.open(process.address(after: "Open "))
        let card = "document.querySelector('.card [data-place]').getAttribute('href')"
        #expect(try await browser.text(card) == "null", "no editor is chosen at first")
        func choose(_ editor: String) -> String {
            """
            const select = document.querySelector("[name=editor]");
            select.selectedIndex = [...select.options].findIndex(option => option.text === "\(editor)");
            select.dispatchEvent(new Event("input", { bubbles: true }));
            """
        }
        let place = "S%20ite%231%3A%C3%A9/manifest.json"
        _ = try await browser.run(choose("TextMate"))
        let mate = try await browser.text(card)
        #expect(mate.hasPrefix("txmt://open?url=file:///") && mate.hasSuffix("/\(place)&line=2&column=3"))
        _ = try await browser.run(choose("VS Code"))
        try await browser.command("Page.reload")
        try await browser.wait(until: "document.readyState === 'complete' && \(card) !== null")
        let code = try await browser.text(card)
        #expect(code.hasPrefix("vscode://file/") && code.hasSuffix("/\(place):2:3"))

        try folder.write("{\n\n  \(entry), \"https://h/c\": \"c.css\" }", to: "S ite#1:é/manifest.json")
        let issue = "document.querySelector('#issues [data-place]')?.getAttribute('href')"
        try await browser.wait(until: "Boolean(\(issue))")
        #expect(try await browser.text(issue).hasSuffix("/\(place):3:46"))
        #expect(try await browser.text("document.title").hasPrefix("Nothing ships: "))
        try await browser.wait(until: "\(card).endsWith(':3:3')")
        // The page's policy allows the navigation that a click starts.
        _ = try await browser.text("document.querySelector('.card [data-place]').click()")
        _ = try await browser.run(choose("no editor"))
        #expect(try await browser.text(card) == "null" && browser.complaints == [])
    }
}
#endif
