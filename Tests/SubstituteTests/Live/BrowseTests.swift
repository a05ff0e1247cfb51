// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
import TestSupport
import Testing

@Suite("substitute browse", .serialized, .timeLimit(.minutes(10)))
struct BrowseTests {
    private let site: LiveSite
    /// An address at which no server listens.
    private let nowhere: String
    private let scratch: TemporaryFolder

    init() throws {
        let gone = try LoopbackServer { _ in .text("") }
        gone.stop()
        nowhere = gone.url.absoluteString + "/offline.json"
        site = try LiveSite()
        scratch = try TemporaryFolder(name: String(UUID().uuidString.prefix(8)))
        site.set("/", "text/html", LiveSite.reportingPage("Remote", nowhere))
        site.set("/site.css", "text/css", Data("h1 { color: red }".utf8))
        site.set("/picture.svg", "image/svg+xml", LiveSite.picture(10))
    }

    /// Writes a manifest, and files that differ from the site's files.
    private func writeFiles() throws {
        let folder = site.folder
        try folder.write(LiveSite.reportingPage("File", nowhere), to: "index.html")
        try folder.write("h1 { color: blue }", to: "site.css")
        try folder.write(LiveSite.picture(20), to: "picture.svg")
        try folder.write(LiveSite.picture(33), to: "gone.svg")
        try folder.write("{}", to: "offline.json")
        let manifest = """
            {
              "\(site.url)": "index.html",
              "\(site.url)site.css": "site.css",
              "\(site.url)picture.svg": "picture.svg",
              "\(site.url)gone.svg": { "file": "gone.svg", "when": 404 },
              "\(nowhere)": { "file": "offline.json", "when": "offline" }
            }

            """
        try folder.write(manifest, to: "manifest.json")
    }

    private func browse(_ arguments: String...) async throws -> ServingProcess {
        try await ServingProcess(
            Tool.url,
            ["browse"] + arguments + [site.url],
            in: site.folder.url,
            environment: [
                "TMPDIR": scratch.url.path, "DISPLAY": "", "WAYLAND_DISPLAY": "", "SUBSTITUTE_NO_SANDBOX": "1",
            ]
        )
    }

    /// Waits until the browser has removed its temporary files.
    private func waitUntilGone() async throws {
        try await wait(for: "an empty folder") {
            try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).isEmpty
        }
    }

    @Test("Files answer, also after an error or offline, and saves appear in the page", .startsChromium)
    func saves() async throws {
        try writeFiles()
        let browser = try await browse()
        try await site.wait(untilShown: "File | rgb(0, 0, 255) | 20 | 33 | {}")

        try site.folder.write("h1 { color: green }", to: "site.css")
        try await site.wait(untilShown: "File | rgb(0, 128, 0) | 20 | 33 | {}")
        try site.folder.write("h1 { color: navy }", to: "site.css")
        try await site.wait(untilShown: "File | rgb(0, 0, 128) | 20 | 33 | {}")
        try site.folder.write(LiveSite.picture(25), to: "picture.svg")
        try await site.wait(untilShown: "File | rgb(0, 0, 128) | 25 | 33 | {}")
        try site.folder.write(LiveSite.reportingPage("Saved", nowhere), to: "index.html")
        try await site.wait(untilShown: "Saved | rgb(0, 0, 128) | 25 | 33 | {}")
        try site.folder.write("nobody asks for it", to: "other.txt")
        try await browser.wait(untilPrinted: "Saved: other.txt. The page does not use it.\n")
        try site.folder.write("{ \"https", to: "manifest.json")
        try await browser.wait(untilPrinted: "The previous version stays in use.\n")

        // A request that is answered with a file does not reach the server. The browser itself requests the icon.
        let asked = Set(site.requests().filter { !$0.hasPrefix("/shown/") && !$0.hasPrefix("/started/") })
        #expect(asked.subtracting(["/favicon.ico"]) == ["/gone.svg"])
        let printed = browser.printed
        #expect(printed.hasPrefix("\(site.url)\n  file     \(site.url) → index.html\n"), "\(printed)")
        for words in [
            "  file     \(site.url)gone.svg → gone.svg, after 404\n", "  file     \(nowhere) → offline.json, offline\n",
            "Saved: site.css. The page is reloaded.\n", "Saved: index.html. The page is reloaded.\n\(site.url)\n",
            "manifest.json:1:",
        ] { #expect(printed.contains(words), "\(printed)") }
        browser.stop()
        try await waitUntilGone()
    }

    @Test(
        "--misses explains why no file answers, and a killed tool leaves neither browser nor profile",
        .startsChromium
    )
    func misses() async throws {
        try site.folder.write("{ \"\(site.url)Site.css\": \"site.css\" }", to: "manifest.json")
        try site.folder.write("h1 { color: blue }", to: "site.css")
        let browser = try await browse("--misses")
        try await browser.wait(
            untilPrinted:
                "  network  \(site.url)site.css is not substituted, because no entry names it. The nearest is "
                + "\"\(site.url)Site.css\" (manifest.json:1), which differs in upper and lower case of the path."
        )
        browser.kill()
        try await waitUntilGone()
    }

    // The test finds the browser's processes in /proc, which only Linux has.
    #if os(Linux)
    @Test("A crashed tab ends the tool with a message", .startsChromium)
    func crash() async throws {
        try writeFiles()
        let browser = try await browse()
        try await site.wait(untilShown: "File | rgb(0, 0, 255) | 20 | 33 | {}")
        // All processes of the browser are in the process group of the shell that started it.
        let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
        let words = processes.map { process in
            let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
            return (process, String(decoding: line, as: UTF8.self))
        }
        let shell = try #require(words.first { $1.hasPrefix("/bin/sh") && $1.contains(scratch.url.path) }?.0)
        for (process, text) in words where text.contains("--type=renderer") && getpgid(process) == shell {
            kill(process, SIGKILL)
        }
        #expect(try await browser.ending == 1)
        #expect(browser.complained == "substitute browse: the browser's tab with the page has crashed\n")
        try await waitUntilGone()
    }
    #endif
}
#endif
