// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("Pages that are busy", .serialized)
struct BusyPageTests {
    /// A page that loads the files `/1.txt` to `/4.txt`, one after the other.
    struct Page: CustomTestStringConvertible, Sendable {
        let name: String
        /// The body of the page, after the functions in `script`.
        let html: String
        var testDescription: String { name }
    }

    private static let script = """
        const compute = time => { const end = performance.now() + time; while (performance.now() < end); };
        const sleep = time => new Promise(resolve => setTimeout(resolve, time));
        const load = number => fetch(`/${number}.txt`).then(answer => answer.text());
        """

    static let pages = [
        Page(
            name: "computes after each load",
            html: "<script>(async () => { for (let i = 1; i < 5; i++) { await load(i); compute(800); } })()</script>"
        ),
        Page(
            name: "computes in short steps",
            html: """
                <script>(async () => { for (let i = 1; i < 5; i++) {
                  await load(i); for (let step = 0; step < 25; step++) { compute(40); await sleep(0); }
                } })()</script>
                """
        ),
        Page(
            name: "computes in the handler of its load event",
            html: """
                <script>onload = async () => {
                  compute(1500); for (let i = 1; i < 5; i++) { await load(i); compute(700); }
                }</script>
                """
        ),
        Page(
            name: "waits with timers",
            html:
                "<script>(async () => { for (let i = 1; i < 5; i++) { await sleep(300); await load(i); } })()</script>"
        ),
        Page(
            name: "waits for idle time",
            html: """
                <script>let i = 1; const next = () => { load(i++); if (i < 5) requestIdleCallback(() => {
                  compute(700); requestIdleCallback(next);
                }); }; requestIdleCallback(next)</script>
                """
        ),
        Page(name: "imports a chain of modules", html: "<script type=\"module\" src=\"/1.js\"></script>"),
        Page(
            name: "waits for its fonts",
            html: """
                <style>@font-face { font-family: one; src: url(/1.txt); } p { font-family: one; }</style><p>text</p>
                <script>document.fonts.ready.then(async () => {
                  for (let i = 2; i < 5; i++) { compute(700); await load(i); }
                })</script>
                """
        ),
        Page(name: "has a worker that computes", html: "<script>new Worker(\"/worker.js\")</script>"),
        Page(name: "has a frame that computes", html: "<iframe src=\"/frame.html\"></iframe>"),
    ]

    private func site(_ html: String) throws -> LiveSite {
        let site = try LiveSite()
        let start = "<!doctype html><link rel=\"icon\" href=\"data:,\">"
        let computing = "(async () => { for (let i = 1; i < 5; i++) { await load(i); compute(800); } })()"
        site.set("/", "text/html", Data("\(start)<script>\(Self.script)</script>\(html)".utf8))
        site.set("/frame.html", "text/html", Data("\(start)<script>\(Self.script)\(computing)</script>".utf8))
        site.set("/worker.js", "text/javascript", Data("\(Self.script)\(computing)".utf8))
        for number in 1..<5 {
            site.set("/\(number).txt", "text/plain", Data("text".utf8))
            let next = number < 4 ? "await import(\"/\(number + 1).js\");" : ""
            let module = "\(Self.script)await load(\(number)); compute(700); \(next)"
            site.set("/\(number).js", "text/javascript", Data(module.utf8))
        }
        return site
    }

    @Test("What a busy page loads is captured", .startsChromium, arguments: pages)
    func complete(page: Page) async throws {
        let site = try site(page.html)
        let result = try await site.run("add", "--in-browser", site.url)
        #expect(result.status == 0 && result.errors == "", "\(result)")
        for number in 1..<5 { #expect(site.file(site.path("\(number).txt")) != nil, "\(number).txt: \(result)") }
    }

    @Test("What a busy page loads is verified, too", .startsChromium)
    func verified() async throws {
        let site = try site(Self.pages[0].html)
        #expect(try await site.run("add", "--in-browser", site.url).status == 0)
        let result = try await site.run("verify", "--at-least", "100%", site.url)
        #expect(result.status == 0 && result.output.contains(" 5 of 5 requests came from files"), "\(result)")
    }

    @Test("A page that stays busy is not complete, and the status says so", .startsChromium)
    func endless() async throws {
        let site = try site("<script>setInterval(() => compute(700), 0); load(1)</script>")
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

    @Test("A page whose server answers 404 is told, and the status says so", .startsChromium)
    func missing() async throws {
        let site = try site("")
        let result = try await site.run("add", "--in-browser", site.url, site.url + "missing.html")
        #expect(result.status == 1, "\(result)")
        #expect(
            result.errors == """
                \(site.url)missing.html answers 404
                substitute add: 1 page was not loaded completely; what was loaded is kept

                """,
            "\(result)"
        )
        #expect(site.file(site.path("index.html")) != nil)
    }

    @Test("Twenty dialogs hide neither other notes nor a page that is not finished", .startsChromium)
    func notes() async throws {
        let page = """
            <script>for (let i = 0; i < 20; i++) { alert(i); fetch(`/secret${i % 8}.txt`); } fetch("/silent.txt");</script>
            """
        let site = try site(page)
        site.set("/silent.txt", LoopbackServer.Response(transfer: .silent))
        for number in 0..<8 {
            let secret = LoopbackServer.Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""])
            site.set("/secret\(number).txt", secret)
        }
        let result = try await site.run("add", "--in-browser", "--timeout", "6", site.url, site.url + "missing.html")
        #expect(result.status == 1, "\(result)")
        for note in [
            "a dialog was closed: \"4\"\n",
            "the page has more dialogs, pop-ups, downloads or requests for a password\n",
            "\(site.url) was not finished after 6 seconds; still loading: \(site.url)silent.txt\n",
            "\(site.url)missing.html answers 404\n", "2 pages were not loaded completely",
        ] { #expect(result.errors.contains(note), "\(result)") }
        #expect(!result.errors.contains("dialog was closed: \"15\""), "\(result)")
    }
}
#endif
