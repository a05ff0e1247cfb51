// iOS, tvOS, watchOS and visionOS cannot start processes.
#if os(macOS) || os(Linux)
import Foundation
import LoopbackServer
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

    private func capture(_ arguments: String..., environment: [String: String] = [:]) async -> Program.Result {
        let own = ["PATH": folder.url.path, "HOME": folder.url.path]
        return await Tool.run(
            ["add", "--in-browser", "--timeout", "1"] + arguments + ["http://127.0.0.1:9/"],
            in: folder.url,
            environment: own.merging(environment) { $1 }
        )
    }

    @Test("Without a browser, the tool says which ones it looked for, and where")
    func none() async {
        let result = await capture()
        #expect(result.status == 1, "\(result)")
        #expect(
            result.errors == """
                substitute add: there is no browser that can be used. Looked for google-chrome-stable, \
                google-chrome, chromium, chromium-browser, microsoft-edge-stable, microsoft-edge, brave-browser, brave in PATH, \
                and on a Mac for Google Chrome, Chromium, Microsoft Edge, Brave Browser in Applications. Install one, or name one \
                with --browser PATH or SUBSTITUTE_BROWSER

                """
        )
    }

    @Test("A snap or flatpak browser is mentioned, but not used")
    func confined() async throws {
        try write("chromium-browser", "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n")
        let result = await capture()
        let sentence = "can be used; \(folder.url.path)/chromium-browser is a snap or flatpak, which cannot"
        #expect(result.errors.contains(sentence), "\(result)")
    }

    @Test("The named browser is used: by option or variable, by name or path")
    func named() async throws {
        for name in ["one", "two"] { try write(name, "#!/bin/sh\necho \(name) is no browser >&2\nexit 1\n") }
        let variable = ["SUBSTITUTE_BROWSER": "two", "PATH": "\(folder.url.path):/usr/bin:/bin"]
        #expect(await capture(environment: variable).errors.hasSuffix("/two\" has ended: two is no browser\n"))
        #expect(await capture("--browser", "one", environment: variable).errors.hasSuffix("one is no browser\n"))
        #expect(await capture("--browser", "./one", environment: variable).errors.hasSuffix("one is no browser\n"))
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("My Browser.app/Contents/MacOS"),
            withIntermediateDirectories: true
        )
        try write("My Browser.app/Contents/MacOS/My Browser", "#!/bin/sh\necho an app >&2\nexit 1\n")
        #expect(await capture("--browser", "./My Browser.app", environment: variable).errors.hasSuffix("an app\n"))
        let missing = await capture("--browser", "three", environment: variable)
        let ending = "\"three\", which --browser or SUBSTITUTE_BROWSER names, is no program\n"
        #expect(missing.errors.hasSuffix(ending), "\(missing)")
    }

    @Test("The reason for a browser's end is its signal, not an unrelated line of its log", .startsChromium)
    func killed() async throws {
        let site = try LiveSite()
        let mark = folder.url.appendingPathComponent("killed").path
        site.set("/", "text/html", Data("<!doctype html><script>fetch('/kill')</script>".utf8))
        var answer = LoopbackServer.Response.stream {
            _ = FileManager.default.createFile(atPath: mark, contents: nil)
            return nil
        }
        answer.headers = ["Content-Type": "text/plain"]
        site.set("/kill", answer)
        let chromium = try #require(Program.find("chromium", "google-chrome", "chrome"))
        let script = """
            #!/bin/sh
            "\(chromium)" "$@" &
            until [ -e "\(mark)" ]; do sleep 0.1; done
            echo "[ERROR:nothing.cc] open /sys: No such file or directory" >&2
            kill -9 $!
            wait $!
            """
        try write("mortal", script)
        let result = try await site.run("add", "--in-browser", "--browser", folder.url.path + "/mortal", site.url)
        #expect(result.status == 1 && result.errors.hasSuffix("/mortal\" has ended: status 137\n"), "\(result)")
    }

    @Test("A silent program ends the tool with a message", .enabled(if: Program.isEverythingRequired, "takes 35 s"))
    func silent() async throws {
        try write("silent", "#!/bin/sh\nexec sleep 600\n")
        let path = ["PATH": "\(folder.url.path):/usr/bin:/bin"]
        let silent = await capture("--browser", "silent", environment: path)
        #expect(silent.errors.contains("does not answer; is it Chrome, Chromium, Edge or Brave"), "\(silent)")
    }

    @Test("A program that prints nonsense ends the tool with a message")
    func strange() async throws {
        let path = ["PATH": "\(folder.url.path):/usr/bin:/bin"]
        try write(
            "babbling",
            "#!/bin/sh\nprintf 'no\\0{\"id\":1}\\0{\"id\":1,\"error\":{\"message\":\"\\033]0;x\\007no\"}}\\0' >&4\ncat <&3\n"
        )
        let babbling = await capture("--browser", "babbling", environment: path)
        #expect(babbling.status == 1 && !babbling.errors.contains("\u{1B}"), "\(babbling)")
    }

    @Test(
        "Wrong use is reported before a browser is started",
        arguments: [
            ("add --in-browser", "name a page to load, such as https://example.com/"),
            ("add --in-browser ftp://example.com/", "\"ftp://example.com/\" is not the address of a page"),
            ("add --in-browser --device watch https://a.org/", "there is no device \"watch\"; write phone"),
            ("add --in-browser --device 0x0 https://a.org/", "there is no device \"0x0\""),
            ("add --in-browser --wait -1 https://a.org/", "\"-1\" is not a number of seconds"),
            ("add --in-browser --timeout soon https://a.org/", "\"soon\" is not a number of seconds"),
            ("browse", "name one page, such as https://example.com/"),
            ("verify --at-least most https://a.org/", "\"most\" is not a percentage; write it as 90%"),
            ("verify --at-least 0.9 https://a.org/", "\"0.9\" is not a percentage; write it as 90%"),
            ("verify --format xml https://a.org/", "there is no format \"xml\"; the formats are text, json, github"),
        ]
    )
    func wrongUse(line: String, sentence: String) async {
        let result = await Tool.run(line.components(separatedBy: " "), in: folder.url)
        #expect(result.status == 2 && result.errors.contains(sentence), "\(result)")
    }

    @Test(
        "A screen can be given as a name or as a size with a scale",
        arguments: [
            ("phone", 390, 844, 3.0, true), ("Tablet", 820, 1180, 2, true), ("desktop", 1280, 800, 1, false),
            ("390x844@3", 390, 844, 3, true), ("1920X1080", 1920, 1080, 1, false), ("800x600@1.5", 800, 600, 1.5, true),
        ]
    )
    func devices(text: String, width: Int, height: Int, scale: Double, isMobile: Bool) throws {
        let device = try Device(text)
        #expect(device.width == width && device.height == height && device.scale == scale)
        #expect(device.isMobile == isMobile && (device.userAgent != nil) == isMobile)
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
        site.set("/", "text/html", Data("<!doctype html>".utf8))
        let setpriv = try #require(Program.find("setpriv"))
        let home = try TemporaryFolder(name: String(UUID().uuidString.prefix(8)))
        for url in [home.url, site.folder.url] { chmod(url.path, 0o777) }
        let result = try await Program.run(
            setpriv,
            [
                "--reuid=65534", "--regid=65534", "--clear-groups", Tool.url.path, "add", "--in-browser", "--dry-run",
                site.url,
            ],
            in: site.folder.url,
            environment: ["HOME": home.url.path, "TMPDIR": home.url.path]
        )
        // A container may forbid the user namespaces that the browser's sandbox needs.
        let isRefused = result.errors.contains("finds no sandbox on this system; allow user namespaces")
        #expect(result.status == 0 && result.output.hasPrefix("added  ") || isRefused, "\(result)")
    }
}
#endif
