// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import SubstituteCheckKit
import TestSupport
import Testing

@testable import SubstituteKit

@Suite("The browser that a command starts", .serialized)
struct BrowserProgramTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("{\n}\n", to: "manifest.json")
    }

    /// Writes an executable script to the folder.
    private func write(_ name: String, _ script: String) throws {
        try folder.write(script, to: name)
        let path = folder.url.appendingPathComponent(name).path
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    private func capture(_ arguments: [String] = [], environment: [String: String] = [:]) async -> Program.Result {
        let own = ["PATH": folder.url.path, "HOME": folder.url.path]
        return await Tool.run(
            ["add", "--in-browser", "--timeout", "1"] + arguments + ["http://127.0.0.1:9/"],
            in: folder.url,
            environment: own.merging(environment) { $1 }
        )
    }

    @Test("Without a browser, the tool says which ones it looked for, and that a snap or flatpak is not used")
    func none() async throws {
        let errors = """
            substitute add: there is no browser that can be used. Looked for google-chrome-stable, \
            google-chrome, chromium, chromium-browser, microsoft-edge-stable, microsoft-edge, brave-browser, brave in PATH, \
            and on a Mac for Google Chrome, Chromium, Microsoft Edge, Brave Browser in Applications. Install one, or name one \
            with --browser PATH or SUBSTITUTE_BROWSER

            """
        let result = await capture()
        #expect(result.status == 1 && result.errors == errors, "\(result)")
        try write("chromium-browser", "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n")
        let confined = await capture()
        let sentence = "can be used; \(folder.url.path)/chromium-browser is a snap or flatpak, which cannot"
        #expect(confined.errors.contains(sentence), "\(confined)")
    }

    @Test("The named browser is used: by option or variable, by name or path")
    func named() async throws {
        for name in ["one", "two"] { try write(name, "#!/bin/sh\necho \(name) is no browser >&2\nexit 1\n") }
        let programs = "My Browser.app/Contents/MacOS"
        try write("\(programs)/My Browser", "#!/bin/sh\necho an app >&2\nexit 1\n")
        let variable = ["SUBSTITUTE_BROWSER": "two", "PATH": "\(folder.url.path):/usr/bin:/bin"]
        for (options, ending) in [
            ([String](), "/two\" has ended: two is no browser\n"), (["--browser", "one"], "one is no browser\n"),
            (["--browser", "./one"], "one is no browser\n"), (["--browser", "./My Browser.app"], "an app\n"),
            (["--browser", "three"], "\"three\", which --browser or SUBSTITUTE_BROWSER names, is no program\n"),
        ] {
            let result = await capture(options, environment: variable)
            #expect(result.errors.hasSuffix(ending), "\(result)")
        }
    }

    /// Runs a command with a browser of the folder.
    private func capture(in browser: String) async -> Program.Result {
        await capture(["--browser", browser], environment: ["PATH": "\(folder.url.path):/usr/bin:/bin"])
    }

    @Test("A silent program ends the tool with a message", .enabled(if: Program.isEverythingRequired, "takes 35 s"))
    func silent() async throws {
        try write("silent", "#!/bin/sh\nexec sleep 600\n")
        let silent = await capture(in: "silent")
        #expect(silent.errors.contains("does not answer; is it Chrome, Chromium, Edge or Brave"), "\(silent)")
    }

    @Test("A program that prints nonsense ends the tool with a message")
    func strange() async throws {
        let words = #"no\0{"id":1}\0{"id":1,"error":{"message":"\033]0;x\007no"}}\0"#
        try write("babbling", "#!/bin/sh\nprintf '\(words)' >&4\ncat <&3\n")
        let babbling = await capture(in: "babbling")
        #expect(babbling.status == 1 && !babbling.errors.contains("\u{1B}"), "\(babbling)")
    }

    @Test("Wrong use is reported before a browser is started")
    func wrongUse() async {
        for (line, sentence) in [
            ("add --in-browser", "name a page to load, such as https://example.com/"),
            ("add --in-browser ftp://example.com/", "\"ftp://example.com/\" is not the address of a page"),
            ("add --in-browser --device watch https://a.org/", "there is no device \"watch\"; write phone"),
            ("add --in-browser --device 0x0 https://a.org/", "there is no device \"0x0\""),
            ("add --in-browser --wait -1 https://a.org/", "\"-1\" is not a number of seconds"),
            ("browse", "name one page, such as https://example.com/"),
            ("verify --at-least 0.9 https://a.org/", "\"0.9\" is not a percentage; write it as 90%"),
            ("verify --format xml https://a.org/", "there is no format \"xml\"; the formats are text, json, github"),
        ] {
            let result = await Tool.run(line.components(separatedBy: " "), in: folder.url)
            #expect(result.status == 2 && result.errors.contains(sentence), "\(result)")
        }
    }

    @Test("A screen can be given as a name or as a size with a scale")
    func devices() throws {
        for (text, words, isMobile) in [
            ("phone", "390 844 3.0", true), ("Tablet", "820 1180 2.0", true), ("desktop", "1280 800 1.0", false),
            ("390x844@3", "390 844 3.0", true), ("1920X1080", "1920 1080 1.0", false),
        ] {
            let device = try Device(text)
            #expect("\(device.width) \(device.height) \(device.scale)" == words)
            #expect(device.isMobile == isMobile && (device.userAgent != nil) == isMobile)
        }
    }

    @Test("The tool explains why root has no browser", .startsChromium, .enabled(if: geteuid() == 0, "is for root"))
    func root() async {
        let environment = ProcessInfo.processInfo.environment.merging(["SUBSTITUTE_NO_SANDBOX": ""]) { $1 }
        let words = ["add", "--in-browser", "https://a.org/"]
        let result = await Tool.run(words, in: folder.url, environment: environment)
        #expect(result.status == 1 && result.errors.contains("refuses to run as root"), "\(result)")
    }

    @Test("For other users, the browser keeps its sandbox", .startsChromium, .enabled(if: geteuid() == 0, "needs root"))
    func sandboxed() async throws {
        let site = try LiveSite()
        site.page("/", "")
        let setpriv = try #require(Program.find("setpriv"))
        let home = try TemporaryFolder(name: String(UUID().uuidString.prefix(8)))
        for url in [home.url, site.folder.url] { chmod(url.path, 0o777) }
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"]
        let words = user + [Tool.url.path, "add", "--in-browser", "--dry-run", site.url]
        let places = ["HOME": home.url.path, "TMPDIR": home.url.path]
        let result = try await Program.run(setpriv, words, in: site.folder.url, environment: places)
        // A container may forbid the user namespaces that the browser's sandbox needs.
        let isRefused = result.errors.contains("finds no sandbox on this system; allow user namespaces")
        #expect(result.status == 0 && result.output.hasPrefix("added  ") || isRefused, "\(result)")
    }
}
#endif
