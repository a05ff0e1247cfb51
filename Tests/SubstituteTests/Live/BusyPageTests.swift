// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("Pages that are busy", .serialized)
struct BusyPageTests {
    private static let script = """
        const compute = time => { const end = performance.now() + time; while (performance.now() < end); };
        const sleep = time => new Promise(resolve => setTimeout(resolve, time));
        const load = number => fetch(`${number}.txt`).then(answer => answer.text());
        """

    /// Returns a script that repeats a step for the files, whose number is `i`.
    private static func loop(_ step: String, from first: Int = 1) -> String {
        "(async () => { for (let i = \(first); i < 5; i++) { \(step) } })()"
    }

    private static let computing = loop("await load(i); compute(800);")
    private static let steps = "for (let step = 0; step < 25; step++) { compute(40); await sleep(0); }"
    private static let face = "<style>@font-face { font-family: a; src: url(1.txt); } p { font-family: a; }</style>"

    /// Pages that load the files `1.txt` to `4.txt` beside them, one after the other.
    ///
    /// Each has a name, and its body after the functions in `script`.
    private static let pages = [
        ("computes after each load", "<script>\(computing)</script>"),
        ("computes in short steps", "<script>\(loop("await load(i); \(steps)"))</script>"),
        ("waits with timers", "<script>\(loop("await sleep(300); await load(i);"))</script>"),
        (
            "waits for its fonts",
            "\(face)<p>text</p><script>document.fonts.ready.then(() => \(loop("compute(700); await load(i);", from: 2)))</script>"
        ),
        ("has a worker that computes", "<script>new Worker(\"worker.js\")</script>"),
        ("has a frame that computes", "<iframe src=\"frame.html\"></iframe>"),
    ]

    /// Sets a page, and what such pages load, at a path of the site.
    private func set(_ html: String, at path: String, on site: LiveSite) {
        site.page(path, "<script>\(Self.script)</script>\(html)")
        site.page(path + "frame.html", "<script>\(Self.script)\n\(Self.computing)</script>")
        site.set(path + "worker.js", "text/javascript", "\(Self.script)\n\(Self.computing)")
        for number in 1..<5 { site.set("\(path)\(number).txt", "text/plain", "text") }
    }

    @Test("What busy pages load is captured, and verified, too", .startsChromium)
    func complete() async throws {
        let site = try LiveSite()
        for (number, page) in Self.pages.enumerated() { set(page.1, at: "/\(number)/", on: site) }
        let urls = Self.pages.indices.map { "\(site.url)\($0)/" }
        let result = try await Tool.start(["add", "--in-browser"] + urls, in: site.folder.url)
        #expect(result.status == 0 && result.errors == "", "\(result)")
        for (number, page) in Self.pages.enumerated() {
            let files = (1..<5).filter { site.file(site.path("\(number)/\($0).txt")) != nil }
            #expect(files == [1, 2, 3, 4], "\(page.0): \(result)")
        }
        let verified = try await site.run("verify", "--at-least", "100%", urls[0])
        #expect(verified.status == 0 && verified.output.contains(" 5 of 5 requests came from files"), "\(verified)")
    }

    @Test("A page that stays busy is not complete, and the status says so", .startsChromium)
    func endless() async throws {
        let site = try LiveSite()
        set("<script>setInterval(() => compute(700), 0); load(1)</script>", at: "/", on: site)
        let result = try await site.run("add", "--in-browser", "--timeout", "6", site.url)
        let errors = """
            \(site.url) was not finished after 6 seconds; it is still busy
            substitute add: 1 page was not loaded completely; what was loaded is kept

            """
        #expect(result.status == 1 && result.errors == errors, "\(result)")
        #expect(site.file(site.path("1.txt")) != nil)
    }
}
#endif
