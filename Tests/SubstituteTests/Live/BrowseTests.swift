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
        site.set("/site.css", "text/css", "h1 { color: red }")
        site.set("/picture.svg", "image/svg+xml", LiveSite.picture(10))
    }

    /// Writes a manifest, and files that differ from the site's files.
    private func writeFiles() throws {
        let folder = site.folder
        try folder.write(LiveSite.reportingPage("File", nowhere), to: "index.html")
        try folder.write("h1 { color: blue }", to: "site.css")
        try folder.write("{}", to: "offline.json")
        for (name, side) in [("picture", 20), ("gone", 33)] {
            try folder.write(LiveSite.picture(side), to: "\(name).svg")
        }
        let manifest = """
            { "\(site.url)": "index.html", "\(site.url)site.css": "site.css", "\(site.url)picture.svg": "picture.svg",
              "\(site.url)gone.svg": { "file": "gone.svg", "when": 404 },
              "\(nowhere)": { "file": "offline.json", "when": "offline" } }
            """
        try folder.write(manifest, to: "manifest.json")
    }

    private func browse(_ arguments: String...) async throws -> ServingProcess {
        let environment = [
            "TMPDIR": scratch.url.path, "DISPLAY": "", "WAYLAND_DISPLAY": "", "SUBSTITUTE_NO_SANDBOX": "1",
        ]
        let words = ["browse"] + arguments + [site.url]
        return try await ServingProcess(Tool.url, words, in: site.folder.url, environment: environment)
    }

    /// Waits until the browser has removed its temporary files.
    private func waitUntilGone() async throws {
        try await wait(for: "an empty folder") {
            // A folder that is being emptied may not be readable.
            (try? FileManager.default.contentsOfDirectory(atPath: scratch.url.path))?.isEmpty == true
        }
    }

    @Test(
        "Files answer, also after an error or offline, saves appear, and a killed tool leaves no browser",
        .startsChromium
    )
    func saves() async throws {
        try writeFiles()
        let browser = try await browse("--misses")
        try await site.wait(untilShown: "File | rgb(0, 0, 255) | 20 | 33 | {}")
        let larger = String(decoding: LiveSite.picture(25), as: UTF8.self)
        for (name, text, words) in [
            ("site.css", "h1 { color: green }", "File | rgb(0, 128, 0) | 20 | 33 | {}"),
            ("site.css", "h1 { color: navy }", "File | rgb(0, 0, 128) | 20 | 33 | {}"),
            ("picture.svg", larger, "File | rgb(0, 0, 128) | 25 | 33 | {}"),
            ("index.html", LiveSite.reportingPage("Saved", nowhere), "Saved | rgb(0, 0, 128) | 25 | 33 | {}"),
        ] {
            try site.folder.write(text, to: name)
            try await site.wait(untilShown: words)
        }
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
            "  file     \(site.url)gone.svg → gone.svg, after 404\n",
            "  file     \(nowhere) → offline.json, offline\n", "  network  \(site.url)started/",
            " is not substituted, because no entry names it.", "Saved: site.css. The page is reloaded.\n",
            "Saved: index.html. The page is reloaded.\n\(site.url)\n", "manifest.json:1:",
        ] { #expect(printed.contains(words), "\(printed)") }
        browser.kill()
        try await waitUntilGone()
        try writeFiles()
        let again = try await browse()
        try await again.wait(untilPrinted: "\(site.url)\n")
        again.stop()
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
