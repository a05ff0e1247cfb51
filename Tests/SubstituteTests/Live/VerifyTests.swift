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
    private let page: String

    init() throws {
        site = try LiveSite()
        page = """
            <!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="/site.css">
            <script src="/site.js"></script><h1>Title</h1><p class="clock">text</p><img src="/picture.svg">
            """
        site.set("/", "text/html", Data(page.utf8))
        site.set("/site.css", "text/css", Data("h1 { color: teal }".utf8))
        site.set("/site.js", "text/javascript", Data("var number = 1;".utf8))
        site.set("/picture.svg", "image/svg+xml", LiveSite.picture(100))
        let folder = site.folder
        try folder.write("h1 { color: teal }", to: "site.css")
        try folder.write("var number = 1;", to: "site.js")
        try folder.write(LiveSite.picture(100), to: "picture.svg")
        let manifest = """
            {
              "\(site.url)site.css": "site.css",
              "\(site.url)site.js": "site.js",
              "\(site.url)picture.svg": "picture.svg"
            }

            """
        try folder.write(manifest, to: "manifest.json")
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
        let strict = try await site.run("verify", "--at-least", "76%", site.url)
        let sentence = "files answered 3 of 4 requests of \(site.url), 75 %, and 76 % are required"
        #expect(strict.status == 1 && strict.output.hasPrefix("\(site.url)\n  error: \(sentence)\n"), "\(strict)")
        #expect(strict.output.hasSuffix("\n  The page is not verified: 1 error.\n"), "\(strict)")
    }

    @Test("A page is verified on each device that is named", .startsChromium)
    func devices() async throws {
        let text = try await site.run("verify", "--device", "desktop", "--device", "phone", "-o", "report", site.url)
        for device in ["1280x800", "390x844@3"] {
            #expect(text.status == 0 && text.output.contains("\(site.url) (\(device))  The files fit."), "\(text)")
        }
        #expect(site.file("report/2-files.png") != nil)
    }

    @Test("A changed stylesheet is reported with both sizes, and its remedy says where it was changed", .startsChromium)
    func changed() async throws {
        // The change is not visible on the page.
        let newer = Data("/* new */ h1 { color: teal }".utf8)
        site.set("/site.css", "text/css", newer)
        let unknown = try await site.run("verify", site.url)
        #expect(unknown.status == 1, "\(unknown)")
        #expect(
            unknown.output.hasPrefix(
                "\(site.url)\n  error: \"site.css\" differs from \(site.url)site.css: here 18 bytes, there 28 bytes\n"
                    + "    it is not in .substitute.json, so it counts as edited here (here 18 bytes, there 28 bytes)\n"
            ),
            "\(unknown)"
        )
        let allowed = try await site.run("verify", "--allow-changed", site.url)
        let note = "  changed  \(site.url)site.css → site.css: here 18 bytes, there 28 bytes\n"
        #expect(allowed.status == 0 && allowed.output.contains(note), "\(allowed)")
        #expect(allowed.output.contains("  The files fit. "), "\(allowed)")
        site.set("/site.css", .text("gone", status: 404))
        let gone = try await site.run("verify", "--allow-changed", "--tolerance", "100%", site.url)
        #expect(gone.status == 0 && gone.output.contains("here 18 bytes, its server answers 404\n"), "\(gone)")

        site.set("/site.css", "text/css", Data("h1 { color: teal }".utf8))
        #expect(await Tool.run(["update"], in: site.folder.url).status == 0)
        try site.folder.write("h1 { color: navy }", to: "site.css")
        let edited = try await site.run("verify", site.url)
        let remedies = """
                it was edited here, and its server has not changed
                to permit it: --allow-changed
                to take its server's version: substitute update --discard-edits \(site.url)site.css

            """
        #expect(edited.output.contains(remedies), "\(edited)")
        let words = ["update", "--discard-edits", "\(site.url)site.css"]
        #expect(await Tool.run(words, in: site.folder.url).status == 0)
        site.set("/site.css", "text/css", newer)
        let old = try await site.run("verify", site.url)
        #expect(old.output.contains("\n    to load it again: substitute update \(site.url)site.css\n"), "\(old)")
    }

    @Test("A stylesheet that is broken in the folder makes the picture differ at the right position", .startsChromium)
    func brokenInFolder() async throws {
        try site.folder.write("h1 { colour: teal }", to: "site.css")
        let result = try await site.run("verify", "--allow-changed", "--output", "report", site.url)
        #expect(result.status == 1, "\(result)")
        let found = result.output.firstMatch(
            of: /error: 0\.\d+ % of .* looks different, at x 0 y (\d+) \(\d+ × \d+\); look at "site.css"\n/
        )
        #expect(try #require(found.flatMap { Int($0.1) }, "\(result)") < 60)
        #expect(try await site.run("verify", "--allow-changed", "--tolerance", "1%", site.url).status == 0)
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
        #expect(problems.contains(" looks different, at x 0 y "))
        #expect(browser.complaints == [])
        // A report replaces an earlier report, but no other file.
        #expect(try await site.run("verify", "--output", "report", site.url).status == 1)
        try site.folder.write("mine", to: "mine/index.html")
        let mine = try await site.run("verify", "--output", "mine", site.url)
        let refusal = "\"mine\" holds files that this tool did not write"
        #expect(mine.status == 2 && mine.errors.contains(refusal), "\(mine)")
        #expect(site.file("mine/index.html") == Data("mine".utf8))
    }

    @Test("A change of a pale background colour makes the picture differ", .startsChromium)
    func paleColour() async throws {
        site.set("/site.css", "text/css", Data("body { background: #fbf9f5 }".utf8))
        try site.folder.write("body { background: #ffeeee }", to: "site.css")
        let result = try await site.run("verify", "--allow-changed", site.url)
        #expect(result.status == 1 && result.output.contains(" looks different, at x 0 y 0 ("), "\(result)")
    }

    @Test("Failures and script errors that occur only with the files fail, unless they are allowed", .startsChromium)
    func onlyWithFiles() async throws {
        try site.folder.write("fetch('/more.json'); number.of.nothing();", to: "site.js")
        site.set("/site.js", "text/javascript", Data("console.error('as ever'); fetch('/always.json');".utf8))
        let result = try await site.run("verify", "--allow-changed", site.url)
        for sentence in [
            "only with the files: ReferenceError: number is not defined",
            "asked and failed only with the files: \(site.url)more.json; its server answers 404",
        ] { #expect(result.output.contains("  error: \(sentence)\n"), "\(result)") }
        #expect(result.status == 1 && result.output.hasSuffix("The files do not fit: 2 errors.\n"), "\(result)")
        #expect(!result.output.contains("as ever"), "\(result)")
    }

    @Test(
        "Both pictures and servers' answers behind a redirect are the app's, and the printed command adds the file",
        .startsChromium
    )
    func redirects() async throws {
        site.set("/", "text/html", Data(page.replacingOccurrences(of: "/picture.svg", with: "/old.svg").utf8))
        site.set("/old.svg", LoopbackServer.Response(status: 302, headers: ["Location": "/picture.svg"]))
        let result = try await site.run("verify", site.url)
        #expect(result.output.contains("2 of 4 requests came from files"), "\(result)")
        #expect(result.output.contains("It is redirected to \(site.url)picture.svg; after a redirect"), "\(result)")
        let note = "  redirect 1 request is redirected to a URL that a file would answer"
        #expect(result.output.contains(note), "\(result)")
        let command = try #require(result.output.firstMatch(of: /Try: substitute (add .*old.svg)\n/))
        let added = await Tool.run(command.1.split(separator: " ").map(String.init), in: site.folder.url)
        #expect(added.status == 0, "\(added)")
        let again = try await site.run("verify", site.url)
        #expect(again.status == 0 && again.output.contains("3 of 4 requests came from files"), "\(again)")
        // The file of a URL is compared with what its server sends after redirects.
        site.set("/picture.svg", "image/svg+xml", LiveSite.picture(99))
        let changed = try await site.run("verify", "--tolerance", "100%", site.url)
        #expect(changed.output.contains("old.svg\" differs from \(site.url)old.svg"), "\(changed)")
    }

    @Test("A script that only the browser's integrity check blocks fails", .startsChromium)
    func integrity() async throws {
        let page = """
            <!doctype html><link rel="icon" href="data:,">
            <script src="/site.js" integrity="sha256-0l7PKhe7Kd6m3oZbhlZYGHWjZy1WFkZUFf/WLsftUBE="></script>
            """
        site.set("/", "text/html", Data(page.utf8))
        site.set("/site.js", "text/javascript", Data("var number = 2;".utf8))
        let result = try await site.run("verify", "--allow-changed", site.url)
        let sentence = "error: only with the files: Failed to find a valid digest"
        #expect(result.status == 1 && result.output.contains(sentence), "\(result)")
    }

    @Test("Where nothing was compared, no output says that the files fit", .startsChromium)
    func nothingCompared() async throws {
        try site.folder.write("{ \"https://example.com/site.css\": \"site.css\" }", to: "manifest.json")
        let result = try await site.run("verify", site.url)
        let sentence =
            "files answered 0 of 4 requests of \(site.url), so nothing was compared; --at-least 0% permits this"
        #expect(result.status == 1 && result.output.contains("  error: \(sentence)\n"), "\(result)")
        let permitted = try await site.run("verify", "--at-least", "0%", "--output", "report", site.url)
        let line = "\(site.url)  Nothing was compared. 0 of 4"
        #expect(permitted.status == 0 && permitted.output.contains(line), "\(permitted)")
        let json = try await site.run("verify", "--at-least", "0%", "--format", "json", site.url)
        #expect(json.status == 0 && json.output.contains("\"fits\":false"), "\(json)")
        let html = String(decoding: site.file("report/index.html") ?? Data(), as: UTF8.self)
        #expect(html.contains("<title>Nothing was compared</title>"))
        for text in [result.output, permitted.output] { #expect(!text.contains("fit"), "\(text)") }
    }

    @Test("A file that answers after the network is not compared with anything", .startsChromium)
    func onlyAfterNetwork() async throws {
        site.set("/site.css", .text("no", status: 404))
        let entry = "{ \"file\": \"site.css\", \"when\": 404 }"
        try site.folder.write("{ \"\(site.url)site.css\": \(entry) }", to: "manifest.json")
        let result = try await site.run("verify", "--tolerance", "100%", site.url)
        #expect(result.status == 1 && result.output.contains("none could be compared"), "\(result)")
        #expect(!result.output.contains("fit"), "\(result)")
    }

    @Test("Loads that the screenshot causes are not counted, and late errors are not called new", .startsChromium)
    func lateLoads() async throws {
        let page =
            page.replacingOccurrences(of: "<link rel=\"icon\" href=\"data:,\">", with: "") + """
                <p style="height: 5000px"></p><script>
                addEventListener("resize", () => { for (const name of "abc") fetch("/resized-" + name); });
                // The first load of the page ends before this request, and a later one after it.
                fetch("/count").then(answer => answer.text()).then(text =>
                  setTimeout(() => fetch("/late.json").catch(() => 0), text === "1" ? 1500 : 0));
                </script>
                """
        site.set("/", "text/html", Data(page.utf8))
        site.counted = "/count"
        let result = try await site.run("verify", "--at-least", "50%", site.url)
        #expect(result.status == 0 && !result.output.contains("resized"), "\(result)")
        #expect(!result.output.contains("failed") && !result.output.contains("favicon"), "\(result)")
    }

    @Test("Animations and transitions do not make the pictures differ", .startsChromium)
    func movement() async throws {
        let page = """
            <!doctype html><link rel="icon" href="data:,"><style>
            @keyframes turn { to { transform: rotate(1turn); } }
            .a { animation: turn 3s infinite linear; width: 100px; background: teal; }
            .b { transition: margin 5s; } .c { animation: turn 2s; }
            </style><input autofocus><p class="a">turns</p><p class="b">moves</p><p class="c">turns once</p>
            <script>setTimeout(() => document.querySelector(".b").style.margin = "50px", 100)</script>
            """
        site.set("/", "text/html", Data(page.utf8))
        let result = try await site.run("verify", "--at-least", "0%", site.url)
        #expect(result.status == 0 && !result.output.contains("picture"), "\(result)")
        // Animations do not delay the page's load event. So the tool must not report that the page was not finished.
        #expect(!result.output.contains("was not finished"), "\(result)")
    }

    @Test(
        "A page is compared when its scripts have come to rest, and one that does not is called moving",
        .startsChromium
    )
    func movementByScripts() async throws {
        func page(_ last: Int) -> Data {
            Data(
                """
                <!doctype html><link rel="icon" href="data:,"><p style="width: 100px; background: teal">grows</p>
                <script>
                let width = 100;
                const grow = () => { document.querySelector("p").style.width = `${++width}px`; };
                // The load from the network does not move, and the one with the files still does when it is loaded.
                fetch("/count").then(answer => answer.text()).then(text => {
                  if (text % 2 === 1) while (width < \(last)) grow();
                  else { const timer = setInterval(() => width < \(last) ? grow() : clearInterval(timer), 50); }
                });
                </script>
                """.utf8
            )
        }
        site.counted = "/count"
        site.set("/", "text/html", page(150))
        let rested = try await site.run("verify", "--at-least", "0%", site.url)
        #expect(rested.status == 0 && !rested.output.contains("picture"), "\(rested)")
        site.counted = "/count"
        site.set("/", "text/html", page(700))
        let moving = try await site.run("verify", "--at-least", "0%", site.url)
        let note = "the picture differs, although each file is what its server sends"
        #expect(moving.status == 0 && moving.output.contains(note), "\(moving)")
        #expect(moving.output.contains("still moves 5 seconds after it was loaded"), "\(moving)")
    }

    @Test("A page that looks different each time fits, unless a file differs, which is then named", .startsChromium)
    func differentEachTime() async throws {
        let page = """
            <!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="/site.css"><h1>h</h1><div></div>
            <script>document.querySelector("div").style.cssText =
            `height: ${30 + Date.now() % 1000}px; background: hsl(${Date.now() % 360} 50% 50%)`</script>
            """
        site.set("/", "text/html", Data(page.utf8))
        let same = try await site.run("verify", site.url)
        let note = "  note     the page looks different each time, also without the files\n"
        #expect(same.status == 0 && same.output.contains("The files fit.") && same.output.contains(note), "\(same)")
        site.set("/site.css", "text/css", Data("/* new */ h1 { color: teal }".utf8))
        let changed = try await site.run("verify", site.url)
        #expect(changed.status == 1 && changed.output.contains("; look at \"site.css\"\n"), "\(changed)")
    }

    @Test("A page from a file may ask servers on other ports of this machine", .startsChromium)
    func otherPort() async throws {
        let other = try LoopbackServer { _ in
            LoopbackServer.Response(headers: ["Access-Control-Allow-Origin": "*"], body: Data("{}".utf8))
        }
        defer { other.stop() }
        let page = """
            <!doctype html><link rel="icon" href="data:,"><h1>h</h1>
            <script>fetch("\(other.url.absoluteString)/api").then(() => document.body.append("answered"))</script>
            """
        site.set("/", "text/html", Data(page.utf8))
        try site.folder.write(page, to: "index.html")
        try site.folder.write("{ \"\(site.url)\": \"index.html\" }", to: "manifest.json")
        let result = try await site.run("verify", site.url)
        #expect(result.status == 0 && result.output.contains("The files fit. 1 of 2 requests"), "\(result)")
    }

    @Test("Each of several pages gets its own result on each device, as JSON and as annotations", .startsChromium)
    func formats() async throws {
        struct Page: Decodable {
            struct Change: Decodable {
                let file: String
                let line: Int
                let size: Int
                let servedSize: Int
            }
            let device: String
            let fits: Bool
            let requests: Int
            let fromFiles: Int
            let changed: [Change]
        }
        site.set("/site.css", "text/css", Data("h1 { color: teal } ".utf8))
        let second = page.replacingOccurrences(of: "Title", with: "Second")
        site.set("/second.html", "text/html", Data(second.replacingOccurrences(of: "/site.css", with: "data:,").utf8))
        let words = ["verify", "--device", "phone", "--device", "800x600@1.5", "--format", "json"]
        let json = try await Tool.start(words + [site.url, site.url + "second.html"], in: site.folder.url)
        let pages = try json.output.split(separator: "\n").map {
            try JSONDecoder().decode(Page.self, from: Data($0.utf8))
        }
        #expect(json.status == 1 && pages.map(\.fits) == [false, false, true, true], "\(json)")
        #expect(pages.map(\.device) == ["390x844@3", "800x600@1.5", "390x844@3", "800x600@1.5"])
        #expect(pages.map(\.requests) == [4, 4, 3, 3] && pages.map(\.fromFiles) == [3, 3, 2, 2])
        let change = try #require(pages.first?.changed.first)
        #expect(change.file == "site.css" && change.line == 2 && change.size == 18 && change.servedSize == 19)
        let annotations = try await site.run("verify", "--format", "github", site.url)
        let beginning = "::error file=manifest.json,line=2,col=1,title=changed-file::\"site.css\" differs"
        #expect(annotations.output.hasPrefix(beginning), "\(annotations)")
    }

    @Test("A page that fails, or is not finished, does not fit, and the other pages are still judged", .startsChromium)
    func failingPages() async throws {
        let films = """
            <!doctype html><link rel="icon" href="data:,"><video src="/one.webm"></video><video src="/two.webm"></video>
            <script>console.error("##[error]no".repeat(500)); for (let i = 0; i < 5000; i++) console.error(i);</script>
            """
        site.set("/films.html", "text/html", Data(films.utf8))
        for path in ["/one.webm", "/two.webm"] {
            var film = LoopbackServer.Response(headers: ["Content-Type": "video/webm"], body: Data("no film".utf8))
            film.headers["X-Length"] = "more than there is"
            site.set(path, film)
        }
        let gone = try LoopbackServer { _ in .text("") }
        gone.stop()
        site.set("/slow.html", "text/html", Data((page + "<script>fetch('/silent.txt')</script>").utf8))
        site.set("/silent.txt", LoopbackServer.Response(transfer: .silent))
        let urls = [
            site.url + "missing.html", gone.url.absoluteString, site.url + "films.html", site.url + "slow.html",
        ]
        let words = ["verify", "--timeout", "8", "--output", "report"]
        let result = try await Tool.start(words + urls, in: site.folder.url)
        #expect(result.status == 1, "\(result)")
        #expect(result.output.contains("  error: the server answers 404 for \(site.url)missing.html\n"), "\(result)")
        let unloaded = "substitute verify: \(gone.url.absoluteString) could not be loaded: "
        #expect(result.errors.hasPrefix(unloaded), "\(result)")
        let sentence = "  error: \(site.url)slow.html was not finished after 8 seconds; still loading: "
        #expect(result.output.contains(sentence), "\(result)")
        #expect(!result.output.contains("fit"), "\(result)")
        #expect(result.output.contains("\(site.url)films.html\n") && !result.output.contains("##["), "\(result)")
        #expect(site.file("report/3-files.png") != nil && site.file("report/4-files.png") == nil)
    }

    @Test(
        "What several frames load, and what a bypassed service worker loads, does not make a site misfit",
        .startsChromium
    )
    func framesAndWorker() async throws {
        let site = try LiveSite()
        let page = """
            <!doctype html><link rel="icon" href="data:,"><script>
            navigator.serviceWorker.register("/worker.js");
            navigator.serviceWorker.ready.then(() => fetch("/ready.txt"));
            </script>
            """
        let frames = (1...6).map { "<iframe src=\"/frame\($0).html\"></iframe>" }.joined()
        site.set("/", "text/html", Data((page + frames).utf8))
        for number in 1...6 {
            let frame = "<!doctype html><link rel=\"stylesheet\" href=\"/shared.css\"><img src=\"/shared.svg\">"
            site.set("/frame\(number).html", "text/html", Data(frame.utf8))
        }
        site.set("/shared.css", "text/css", Data("img { width: 20px }".utf8), ["ETag": "\"1\""])
        site.set("/shared.svg", "image/svg+xml", LiveSite.picture(60), ["ETag": "\"2\""])
        site.set("/ready.txt", "text/plain", Data("ready".utf8))
        site.set("/early.txt", "text/plain", Data("early".utf8))
        let worker = "addEventListener(\"install\", event => event.waitUntil(fetch(\"/early.txt\")));"
        site.set("/worker.js", "text/javascript", Data(worker.utf8))
        let captured = try await site.run("add", "--in-browser", site.url)
        #expect(captured.status == 0 && !captured.output.contains("304"), "\(captured)")
        let result = try await site.run("verify", "--at-least", "100%", site.url)
        #expect(result.status == 0, "\(result)")
        site.set("/shared.css", "text/css", Data("img { width: 30px }".utf8), ["ETag": "\"3\""])
        let changed = try await site.run("verify", site.url)
        #expect(changed.status == 1 && changed.output.contains("shared.css\" differs from"), "\(changed)")
    }

    @Test("An error that also occurs without the files is not new")
    func newErrors() {
        func load(_ url: String, _ status: Int?) -> LiveTable.FinishedLoad {
            LiveTable.FinishedLoad(url: url, method: "GET", kind: "Image", file: nil, status: status, type: nil)
        }
        var before = NewErrors.Observations(asked: ["https://h/both", "https://h/slow", "https://h/good"])
        before.loads = [load("https://h/both", 404), load("https://h/good", 200), load("https://h/track?1", nil)]
        before.complaints = [ReportedError(words: "once", failedURL: nil)]
        before.complaints.append(ReportedError(words: "Failed to load (x)", failedURL: "https://h/blocked?1"))
        let errors = NewErrors(
            in: [
                load("https://h/both", 404), load("https://h/slow", 500), load("https://h/good", 404),
                load("https://h/new", nil), load("https://h/track?2", nil), load("https://h/new", nil),
            ],
            [
                ReportedError(words: "once", failedURL: nil), ReportedError(words: "once", failedURL: nil),
                ReportedError(words: "Failed to load (y)", failedURL: "https://h/blocked?2"),
                ReportedError(words: "Failed to load (z)", failedURL: "https://h/good"),
                ReportedError(words: "Failed to load (v)", failedURL: "https://h/cors"),
            ],
            notIn: before
        )
        #expect(errors.loads.map(\.url) == ["https://h/good", "https://h/new"])
        #expect(errors.loads.map(\.wasAskedBefore) == [true, false])
        #expect(errors.complaints == ["once", "Failed to load (v)"])
    }

    @Test("A share can be written in several ways", arguments: [("90%", 0.9), ("100", 1), ("0.5 %", 0.005), ("0", 0)])
    func shares(text: String, share: Double) throws {
        #expect(try VerificationLimits.share(text) == share)
    }

    @Test("A share is never rounded up", arguments: [(1, "100 %"), (0.9999, "99.9 %"), (0.29, "29 %"), (0, "0 %")])
    func percent(share: Double, text: String) {
        #expect(VerificationLimits.percent(share) == text)
    }
}
#endif
