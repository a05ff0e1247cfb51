// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
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

    /// Pages that load the files `1.txt` to `4.txt` beside them, one after the other.
    ///
    /// Each has a name, and its body after the functions in `script`.
    private static let pages = [
        (
            "computes after each load",
            "<script>(async () => { for (let i = 1; i < 5; i++) { await load(i); compute(800); } })()</script>"
        ),
        (
            "computes in short steps",
            """
            <script>(async () => { for (let i = 1; i < 5; i++) {
              await load(i); for (let step = 0; step < 25; step++) { compute(40); await sleep(0); }
            } })()</script>
            """
        ),
        (
            "computes in the handler of its load event",
            """
            <script>onload = async () => {
              compute(1500); for (let i = 1; i < 5; i++) { await load(i); compute(700); }
            }</script>
            """
        ),
        (
            "waits with timers",
            "<script>(async () => { for (let i = 1; i < 5; i++) { await sleep(300); await load(i); } })()</script>"
        ),
        (
            "waits for idle time",
            """
            <script>let i = 1; const next = () => { load(i++); if (i < 5) requestIdleCallback(() => {
              compute(700); requestIdleCallback(next);
            }); }; requestIdleCallback(next)</script>
            """
        ),
        ("imports a chain of modules", "<script type=\"module\" src=\"1.js\"></script>"),
        (
            "waits for its fonts",
            """
            <style>@font-face { font-family: one; src: url(1.txt); } p { font-family: one; }</style><p>text</p>
            <script>document.fonts.ready.then(async () => {
              for (let i = 2; i < 5; i++) { compute(700); await load(i); }
            })</script>
            """
        ),
        ("has a worker that computes", "<script>new Worker(\"worker.js\")</script>"),
        ("has a frame that computes", "<iframe src=\"frame.html\"></iframe>"),
    ]

    /// Sets a page, and what such pages load, at a path of the site.
    private func set(_ html: String, at path: String, on site: LiveSite) {
        let start = "<!doctype html><link rel=\"icon\" href=\"data:,\">"
        let computing = "(async () => { for (let i = 1; i < 5; i++) { await load(i); compute(800); } })()"
        site.set(path, "text/html", Data("\(start)<script>\(Self.script)</script>\(html)".utf8))
        site.set(path + "frame.html", "text/html", Data("\(start)<script>\(Self.script)\(computing)</script>".utf8))
        site.set(path + "worker.js", "text/javascript", Data("\(Self.script)\(computing)".utf8))
        for number in 1..<5 {
            site.set("\(path)\(number).txt", "text/plain", Data("text".utf8))
            let next = number < 4 ? "await import(\"./\(number + 1).js\");" : ""
            let module = "\(Self.script)await load(\(number)); compute(700); \(next)"
            site.set("\(path)\(number).js", "text/javascript", Data(module.utf8))
        }
    }

    @Test("What busy pages load is captured, and verified, too", .startsChromium)
    func complete() async throws {
        let site = try LiveSite()
        for (number, page) in Self.pages.enumerated() { set(page.1, at: "/\(number)/", on: site) }
        let urls = Self.pages.indices.map { "\(site.url)\($0)/" }
        let result = try await Tool.start(["add", "--in-browser"] + urls, in: site.folder.url)
        #expect(result.status == 0 && result.errors == "", "\(result)")
        for (number, page) in Self.pages.enumerated() {
            for file in 1..<5 {
                #expect(site.file(site.path("\(number)/\(file).txt")) != nil, "\(page.0), \(file).txt: \(result)")
            }
        }
        let verified = try await site.run("verify", "--at-least", "100%", urls[0])
        #expect(verified.status == 0 && verified.output.contains(" 5 of 5 requests came from files"), "\(verified)")
    }

    @Test("A page that stays busy is not complete, and the status says so", .startsChromium)
    func endless() async throws {
        let site = try LiveSite()
        set("<script>setInterval(() => compute(700), 0); load(1)</script>", at: "/", on: site)
        let result = try await site.run("add", "--in-browser", "--timeout", "6", site.url)
        #expect(result.status == 1, "\(result)")
        #expect(
            result.errors == """
                \(site.url) was not finished after 6 seconds; it is still busy
                substitute add: 1 page was not loaded completely; what was loaded is kept

                """,
            "\(result)"
        )
        #expect(site.file(site.path("1.txt")) != nil)
    }
}
#endif
