// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("substitute verify")
struct VerifyTests {
    private let site: LiveSite
    private let page = """
        \(LiveSite.start)<link rel="stylesheet" href="/site.css">
        <script src="/site.js"></script><h1>Title</h1><p class="clock">text</p><img src="/picture.svg">
        """

    init() throws {
        site = try LiveSite()
        site.set("/", "text/html", page)
        let files = [
            ("site.css", "text/css", Data("h1 { color: teal }".utf8)),
            ("site.js", "text/javascript", Data("var number = 1;".utf8)),
            ("picture.svg", "image/svg+xml", LiveSite.picture(100)),
        ]
        for (name, type, content) in files {
            site.set("/\(name)", type, content)
            try site.folder.write(content, to: name)
        }
        let entries = files.map { [site] in "  \"\(site.url)\($0.0)\": \"\($0.0)\"" }
        try site.folder.write("{\n\(entries.joined(separator: ",\n"))\n}\n", to: "manifest.json")
    }

    @Test("Responses from files are counted, and each other request gets the command that adds it", .startsChromium)
    func counts() async throws {
        let result = try await site.run("verify", "--at-least", "75%", site.url)
        #expect(
            result.output == """
                \(site.url)  The files fit. 3 of 4 requests came from files, 75 %: \(18 + 15 + LiveSite.picture(100).count) bytes, and \(page.utf8.count) bytes from the network
                  network  \(site.url) is not substituted, because no entry names it.
                           Try: substitute add \(site.url)

                """,
            "\(result)"
        )
        #expect(result.status == 0 && result.errors == "", "\(result)")
        let words = ["verify", "--at-least", "76%", "--device", "desktop", "--device", "phone", site.url]
        let strict = try await Tool.start(words, in: site.folder.url)
        for title in ["\(site.url) (1280x800)", "\(site.url) (390x844@3)"] {
            let sentence = "files answered 3 of 4 requests of \(title), 75 %, and 76 % are required"
            #expect(strict.output.contains("\(title)\n  error: \(sentence)\n"), "\(strict)")
        }
        let ending = "\n  The page is not verified: 1 error.\n"
        #expect(strict.status == 1 && strict.output.hasSuffix(ending), "\(strict)")
    }

    @Test("A changed stylesheet is reported with both sizes, and its remedy says where it was changed", .startsChromium)
    func changed() async throws {
        #expect(await Tool.run(["update"], in: site.folder.url).status == 0)
        try site.folder.write("h1 { color: navy } ", to: "site.css")
        let edited = try await site.run("verify", site.url)
        let error = """
            \(site.url)
              error: "site.css" differs from \(site.url)site.css: here 19 bytes, there 18 bytes
                it was edited here, and its server has not changed
                to permit it: --allow-changed
                to take its server's version: substitute update --discard-edits \(site.url)site.css

            """
        #expect(edited.status == 1 && edited.output.hasPrefix(error), "\(edited)")

        site.set("/site.css", .text("gone", status: 404))
        let gone = try await site.run("verify", "--allow-changed", "--tolerance", "100%", site.url)
        let note = "  changed  \(site.url)site.css → site.css: here 19 bytes, its server answers 404\n"
        #expect(gone.status == 0 && gone.output.contains(note), "\(gone)")
        #expect(gone.output.contains("  The files fit. "), "\(gone)")

        // The change is not visible on the page.
        site.set("/site.css", "text/css", "/* new */ h1 { color: teal }")
        try site.folder.write("h1 { color: teal }", to: "site.css")
        let old = try await site.run("verify", site.url)
        #expect(old.output.contains("\n    to load it again: substitute update \(site.url)site.css\n"), "\(old)")
    }

    @Test("A pale colour that differs in the folder makes the picture differ at the right position", .startsChromium)
    func otherColour() async throws {
        site.set("/site.css", "text/css", "h1 { width: 99px; background: #fbf9f5 }")
        try site.folder.write("h1 { width: 99px; background: #ffeeee }", to: "site.css")
        let result = try await site.run("verify", "--allow-changed", "--output", "report", site.url)
        #expect(result.status == 1, "\(result)")
        let found = result.output.firstMatch(
            of: /error: 0\.\d+ % of .* looks different, at x 0 y (\d+) \(\d+ × \d+\); look at "site.css"\n/
        )
        #expect(try #require(found.flatMap { Int($0.1) }, "\(result)") < 60)
        #expect(try await site.run("verify", "--allow-changed", "--mask", "h1", site.url).status == 0)
        let wrong = try await site.run("verify", "--mask", "h1[", site.url)
        #expect(wrong.status == 2 && wrong.errors.contains("\"h1[\" is not a CSS selector"), "\(wrong)")

        // The report contains both screenshots and their difference.
        let names = try FileManager.default.contentsOfDirectory(atPath: site.folder.url.path + "/report").sorted()
        let pictures = ["1-difference.png", "1-files.png", "1-network.png"]
        #expect(names == pictures + ["index.html", "written-by-substitute.txt"])
        let (network, files) = (site.file("report/1-network.png"), site.file("report/1-files.png"))
        #expect(network != nil && files != nil && network != files)
        let html = String(decoding: site.file("report/index.html") ?? Data(), as: UTF8.self)
        #expect(html.contains("<title>The files fit 0 of 1 page</title>"))
        let browser = try await DrivenChromium()
        defer { browser.stop() }
        try await browser.open(site.folder.url.appendingPathComponent("report/index.html").absoluteString)
        try await browser.wait(until: "[...document.images].every(image => image.naturalWidth > 0)")
        let shown =
            "['h1', '.problems li', 'figure', '.compare img'].map(each => document.querySelectorAll(each).length)"
        #expect(try await browser.text(shown) == "1,1,1,2")
        let problems = try await browser.text("document.querySelector('.problems').textContent")
        #expect(problems.contains(" looks different, at x 0 y ") && browser.complaints == [])
        // A report replaces an earlier report, but no other file.
        let words = ["verify", "--allow-changed", "--tolerance", "1%", "--output", "report", site.url]
        #expect(try await Tool.start(words, in: site.folder.url).status == 0)
        #expect(site.file("report/index.html") != Data(html.utf8))
        try site.folder.write("mine", to: "mine/index.html")
        let mine = try await site.run("verify", "--output", "mine", site.url)
        let refusal = "\"mine\" holds files that this tool did not write"
        #expect(mine.status == 2 && mine.errors.contains(refusal), "\(mine)")
        #expect(site.file("mine/index.html") == Data("mine".utf8))
    }

    @Test("Failures, script errors and blocked files that occur only with the files fail", .startsChromium)
    func onlyWithFiles() async throws {
        // The stylesheet's digest is that of the server's version.
        let digest = "sha256-oBCfd6miW/1pzsgh/3vVOeY+uwChN1P5mJ+rHVonggI="
        let style = "<link rel=\"stylesheet\" href=\"/site.css\" integrity=\"\(digest)\">"
        site.page("/", "\(style)<script src=\"/site.js\"></script>")
        site.set("/site.css", "text/css", "h1 {}")
        try site.folder.write("fetch('/more.json'); number.of.nothing();", to: "site.js")
        site.set("/site.js", "text/javascript", "console.error('as ever'); fetch('/always.json');")
        let result = try await site.run("verify", "--allow-changed", site.url)
        for words in [
            "only with the files: ReferenceError: number is not defined\n",
            "asked and failed only with the files: \(site.url)more.json; its server answers 404\n",
            "only with the files: Failed to find a valid digest",
        ] { #expect(result.output.contains("  error: \(words)"), "\(result)") }
        #expect(result.status == 1 && result.output.contains("  The files do not fit: "), "\(result)")
        #expect(!result.output.contains("as ever"), "\(result)")
    }

    @Test(
        "Both pictures and servers' answers behind a redirect are the app's, and the printed command adds the file",
        .startsChromium
    )
    func redirects() async throws {
        site.set("/", "text/html", page.replacing("/picture.svg", with: "/old.svg"))
        site.set("/old.svg", LoopbackServer.Response(status: 302, headers: ["Location": "/picture.svg"]))
        let result = try await site.run("verify", site.url)
        for words in [
            "2 of 4 requests came from files", "It is redirected to \(site.url)picture.svg; after a redirect",
            "  redirect 1 request is redirected to a URL that a file would answer",
        ] { #expect(result.output.contains(words), "\(result)") }
        let command = try #require(result.output.firstMatch(of: /Try: substitute (add .*old.svg)\n/))
        let added = await Tool.run(command.1.split(separator: " ").map(String.init), in: site.folder.url)
        #expect(added.status == 0, "\(added)")
        // The file of a URL is compared with what its server sends after redirects.
        site.set("/picture.svg", "image/svg+xml", LiveSite.picture(99))
        let again = try await site.run("verify", "--tolerance", "100%", site.url)
        #expect(again.output.contains("3 of 4 requests came from files"), "\(again)")
        #expect(again.output.contains("old.svg\" differs from \(site.url)old.svg"), "\(again)")
    }

    @Test("Where nothing was compared, no output says that the files fit", .startsChromium)
    func nothingCompared() async throws {
        // A file that answers after the network is not compared with anything.
        site.set("/site.css", .text("no", status: 404))
        let entry = "{ \"file\": \"site.css\", \"when\": 404 }"
        try site.folder.write("{ \"\(site.url)site.css\": \(entry) }", to: "manifest.json")
        let bare = site.url + "bare"
        site.page("/bare", "")
        let result = try await site.run("verify", "--tolerance", "100%", site.url, bare)
        for words in [
            "1 of 4 requests of \(site.url), but none could be compared with what its server sends; --at-least 0%",
            "0 of 1 request of \(bare), so nothing was compared; --at-least 0% permits this\n",
        ] { #expect(result.output.contains("  error: files answered \(words)"), "\(result)") }
        #expect(result.status == 1 && !result.output.contains("fit"), "\(result)")
        let words = ["verify", "--at-least", "0%", "--format", "json", "--output", "report", bare]
        let permitted = try await Tool.start(words, in: site.folder.url)
        #expect(permitted.status == 0 && permitted.output.contains("\"fits\":false"), "\(permitted)")
        let html = String(decoding: site.file("report/index.html") ?? Data(), as: UTF8.self)
        #expect(html.contains("<title>Nothing was compared</title>"))
    }

    @Test("Loads that the screenshot causes are not counted, and late errors are not called new", .startsChromium)
    func lateLoads() async throws {
        let page =
            page.replacing("<link rel=\"icon\" href=\"data:,\">", with: "") + """
                <p style="height: 5000px"></p><script>
                addEventListener("resize", () => { for (const name of "abc") fetch("/resized-" + name); });
                // The first load of the page ends before this request, and a later one after it.
                fetch("/count/loads").then(answer => answer.text()).then(text =>
                  setTimeout(() => fetch("/late.json").catch(() => 0), text === "1" ? 1500 : 0));
                </script>
                """
        site.set("/", "text/html", page)
        let result = try await site.run("verify", "--at-least", "50%", site.url)
        #expect(result.status == 0, "\(result)")
        for word in ["resized", "failed", "favicon"] { #expect(!result.output.contains(word), "\(result)") }
    }

    @Test("A page is compared at rest, whatever moves in it, and one that does not rest is named", .startsChromium)
    func movement() async throws {
        // Animations do not delay the page's load event. So the tool must not report that the page was not finished.
        let animated = """
            <style>
            @keyframes turn { to { transform: rotate(1turn); } }
            .a { animation: turn 3s infinite linear; width: 100px; background: teal; }
            .b { transition: margin 5s; } .c { animation: turn 2s; }
            </style><input autofocus><p class="a">turns</p><p class="b">moves</p><p class="c">turns once</p>
            <script>setTimeout(() => document.querySelector(".b").style.margin = "50px", 100)</script>
            """
        site.page("/", animated)
        for (name, last) in [("rested", 150), ("moving", 700)] {
            let growing = """
                <p style="width: 100px; background: teal">grows</p>
                <script>
                let width = 100;
                const grow = () => { document.querySelector("p").style.width = `${++width}px`; };
                // The load from the network does not move, and the one with the files still does when it is loaded.
                fetch("/count/\(name)").then(answer => answer.text()).then(text => {
                  if (text % 2 === 1) while (width < \(last)) grow();
                  else { const timer = setInterval(() => width < \(last) ? grow() : clearInterval(timer), 50); }
                });
                </script>
                """
            site.page("/\(name)", growing)
        }
        let width = "<script>document.querySelector('p').style.width = `${Math.random() * 900}px`</script>"
        site.page("/random", "<p style='background: teal'>differs</p>\(width)")
        let pages = ["", "rested", "moving", "random"].map { site.url + $0 }
        let words = ["verify", "--at-least", "0%"] + pages
        let result = try await Tool.start(words, in: site.folder.url)
        #expect(result.status == 0, "\(result)")
        let parts = result.output.components(separatedBy: "\(site.url)moving  Nothing was compared. 0 of 2 requests")
        try #require(parts.count == 2, "\(result)")
        for note in [
            "the picture differs, although each file is what its server sends",
            "still moves 5 seconds after it was loaded", "the page looks different each time, also without the files",
        ] { #expect(parts[1].contains(note), "\(result)") }
        for words in [" differs, ", "looks different", "still moves", "was not finished"] {
            #expect(!parts[0].contains(words), "\(result)")
        }
    }

    @Test("Each of several pages gets its own result on each device, as JSON and as annotations", .startsChromium)
    func formats() async throws {
        site.set("/site.css", "text/css", "h1 { color: teal } ")
        site.set("/second.html", "text/html", page.replacing("/site.css", with: "data:,"))
        let words = ["verify", "--device", "phone", "--device", "800x600@1.5", "--format", "json"]
        let json = try await Tool.start(words + [site.url, site.url + "second.html"], in: site.folder.url)
        let pages = try json.output.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\(json)")
        }
        let fits = pages.compactMap { $0["fits"] as? Bool }
        #expect(json.status == 1 && fits == [false, false, true, true], "\(json)")
        for (key, counts) in [("requests", [4, 4, 3, 3]), ("fromFiles", [3, 3, 2, 2])] {
            #expect(pages.compactMap { $0[key] as? Int } == counts, "\(json)")
        }
        let devices = pages.compactMap { $0["device"] as? String }
        #expect(devices == ["390x844@3", "800x600@1.5", "390x844@3", "800x600@1.5"])
        let change = try #require((pages.first?["changed"] as? [[String: Any]])?.first)
        #expect(change["file"] as? String == "site.css")
        #expect(["line", "size", "servedSize"].map { change[$0] as? Int } == [2, 18, 19])
        let annotations = try await site.run("verify", "--format", "github", site.url)
        let beginning = "::error file=manifest.json,line=2,col=1,title=changed-file::\"site.css\" differs"
        #expect(annotations.output.hasPrefix(beginning), "\(annotations)")
    }

    @Test("A page that fails, or is not finished, does not fit, and the other pages are still judged", .startsChromium)
    func failingPages() async throws {
        let films = """
            <video src="/one.webm"></video><video src="/two.webm"></video>
            <script>console.error("##[error]no".repeat(500)); for (let i = 0; i < 5000; i++) console.error(i);</script>
            """
        site.page("/films.html", films)
        for path in ["/one.webm", "/two.webm"] { site.set(path, "video/webm", "no film") }
        let gone = try LoopbackServer { _ in .text("") }
        gone.stop()
        site.set("/slow.html", "text/html", page + "<script>fetch('/silent.txt')</script>")
        site.set("/silent.txt", LoopbackServer.Response(transfer: .silent))
        let urls = [gone.url.absoluteString] + ["missing.html", "films.html", "slow.html"].map { site.url + $0 }
        let words = ["verify", "--timeout", "8", "--output", "report"] + urls
        let result = try await Tool.start(words, in: site.folder.url)
        #expect(result.status == 1, "\(result)")
        #expect(result.errors.hasPrefix("substitute verify: \(gone.url) could not be loaded: "), "\(result)")
        for words in [
            "  error: the server answers 404 for \(site.url)missing.html\n", "\(site.url)films.html\n",
            "  error: \(site.url)slow.html was not finished after 8 seconds; still loading: ",
        ] { #expect(result.output.contains(words), "\(result)") }
        #expect(!result.output.contains("fit") && !result.output.contains("##["), "\(result)")
        #expect(site.file("report/3-files.png") != nil && site.file("report/4-files.png") == nil)
    }

    @Test(
        "What several frames load, and what a bypassed service worker loads, does not make a site misfit",
        .startsChromium
    )
    func framesAndWorker() async throws {
        let site = try LiveSite()
        let script = """
            <script>
            navigator.serviceWorker.register("/worker.js");
            navigator.serviceWorker.ready.then(() => fetch("/ready.txt"));
            </script>
            """
        site.page("/", script + (1...6).map { "<iframe src=\"/frame\($0).html\"></iframe>" }.joined())
        for number in 1...6 {
            site.page("/frame\(number).html", "<link rel=\"stylesheet\" href=\"/shared.css\"><img src=\"/shared.svg\">")
        }
        site.set("/shared.css", "text/css", "img { width: 20px }", ["ETag": "\"1\""])
        site.set("/shared.svg", "image/svg+xml", LiveSite.picture(60), ["ETag": "\"2\""])
        for name in ["ready", "early"] { site.set("/\(name).txt", "text/plain", name) }
        let worker = "addEventListener(\"install\", event => event.waitUntil(fetch(\"/early.txt\")));"
        site.set("/worker.js", "text/javascript", worker)
        let captured = try await site.run("add", "--in-browser", site.url)
        #expect(captured.status == 0 && !captured.output.contains("304"), "\(captured)")
        let result = try await site.run("verify", "--at-least", "100%", site.url)
        #expect(result.status == 0, "\(result)")
    }

    @Test("An error that also occurs without the files is not new")
    func newErrors() {
        func load(_ url: String, _ status: Int?) -> LiveTable.FinishedLoad {
            LiveTable.FinishedLoad(url: url, method: "GET", kind: "Image", file: nil, status: status, type: nil)
        }
        func said(_ words: String, _ url: String? = nil) -> ReportedError { .init(words: words, failedURL: url) }
        var before = NewErrors.Observations(asked: ["https://h/both", "https://h/slow", "https://h/good"])
        before.loads = [load("https://h/both", 404), load("https://h/good", 200), load("https://h/track?1", nil)]
        before.complaints = [said("once"), said("Failed to load (x)", "https://h/blocked?1")]
        let errors = NewErrors(
            in: [
                load("https://h/both", 404), load("https://h/slow", 500), load("https://h/good", 404),
                load("https://h/new", nil), load("https://h/track?2", nil), load("https://h/new", nil),
            ],
            [
                said("once"), said("once"), said("Failed to load (y)", "https://h/blocked?2"),
                said("Failed to load (z)", "https://h/good"), said("Failed to load (v)", "https://h/cors"),
            ],
            notIn: before
        )
        #expect(errors.loads.map(\.url) == ["https://h/good", "https://h/new"])
        #expect(errors.loads.map(\.wasAskedBefore) == [true, false])
        #expect(errors.complaints == ["once", "Failed to load (v)"])
    }

    @Test("A share can be written in several ways, and is never rounded up")
    func shares() throws {
        #expect(try ["90%", "100", "0.5 %", "0"].map(VerificationLimits.share) == [0.9, 1, 0.005, 0])
        #expect([1, 0.9999, 0.29, 0].map(VerificationLimits.percent) == ["100 %", "99.9 %", "29 %", "0 %"])
    }
}
#endif
