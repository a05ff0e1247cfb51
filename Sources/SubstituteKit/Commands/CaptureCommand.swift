import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Loads pages in a separate browser, and imports the resources of these pages.
enum CaptureCommand {
    static let command = Command(
        name: "capture",
        summary: "Loads pages in a browser, and adds the files that they load, with their entries.",
        operands: "[OPTIONS] [MANIFEST] URL…",
        operandKind: .manifest,
        options: [devices, LoadOptions.scroll, LoadOptions.wait, show, har] + ImportRun.options + [
            BrowserSettings.timeout, BrowserProgram.option, BrowserSettings.noSandbox,
        ],
        discussion: """
            Starts Chrome, Chromium, Edge or Brave with a fresh profile, loads each page with the cache off and
            without service workers, and adds each response as its server sent it. As with substitute import, existing
            entries are not changed, and the command prints the reason for each response that it leaves out.

            With --show, a window opens in which you can sign in and click; the recording ends when you close it.

            \(Command.aboutManifest)

            Exits with 0 if the pages were loaded; 1 if a page could not be loaded or the manifest has errors, in
            which case nothing is changed; and 2 on a usage error.
            """,
        example: "  substitute capture --device phone --device desktop --scroll https://example.com/",
        run: run
    )

    private static let devices = Option(
        Device.option.name,
        value: "device",
        Device.option.help + "May be repeated; the pages are loaded for each."
    )
    private static let show = Option("show", "Open a window, and record until it is closed.")
    private static let har = Option("har", value: "file", "Also save the recording (HAR) in this file.")

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> Int32 {
        let (named, texts) = ManifestLocation(console).split(arguments.operands)
        let urls = try texts.map(PageAddress.init)
        guard !urls.isEmpty else { throw UsageError("name a page to load, such as https://example.com/") }
        let devices = try arguments.values(devices).map { text throws(UsageError) in try Device(text) }
        let manner = try LoadOptions(arguments)
        let importRun = try ImportRun(arguments, console)
        let limit = try Option.size(in: arguments)
        let manifest = try ManifestLocation(console).find(named)
        // Report the manifest's errors before anything is loaded. During the recording, the user is free to edit the
        // manifest, because the import reads it again.
        _ = try Addition(to: manifest, on: console.now())
        var settings = try BrowserSettings(arguments, console)
        settings.hasWindow = arguments.has(show)
        if settings.hasWindow, devices.count > 1 { throw UsageError("--show is for one device") }

        let kept = arguments.values(har).last
        if let kept { try checkPlace(of: kept, console) }

        let screens = devices.isEmpty ? (settings.hasWindow ? [] : [Device.desktop]) : devices
        let progress = CountLine(console.network.showProgress)
        let recorder = try Recorder(limit: limit ?? .max) { progress.show($0, $1) }
        if settings.hasWindow { console.printError("Recording; close the browser's window to end it.") }
        let notes: [String]
        do {
            defer { progress.end() }
            notes = try await record(urls, on: screens, settings, recorder) { browser, url in
                try await browser.load(url, manner)
                if let status = await browser.status, status >= 400 {
                    await browser.report("\(shortened(url)) answers \(status)")
                }
            }
        }
        let recording = try recorder.finish()
        for note in notes { console.printError(visible(note)) }
        if let kept {
            do {
                try recording.write(to: console.folder.url(kept))
            } catch {
                throw ToolError("\(quoted(kept)) cannot be written: \(FileSystem.reason(error))")
            }
        }
        do {
            let capture = try HARFile(recording, name: kept ?? "the recording")
            try importRun.importExchanges(of: capture, to: manifest, without: recorder.incomplete)
        } catch {
            if let kept { console.printError("The recording is in \(visible(kept)).") }
            throw error
        }
        return 0
    }

    /// Loads the pages once for each screen, and starts a separate browser for each screen.
    ///
    /// - Returns: The browsers' notes about the loads, as sentences.
    private static func record(
        _ urls: [PageAddress],
        on screens: [Device],
        _ settings: BrowserSettings,
        _ recorder: Recorder,
        _ load: (Browser, String) async throws -> Void
    ) async throws -> [String] {
        var notes: [String] = []
        for screen in screens.isEmpty ? [nil] : screens.map(Optional.some) {
            var settings = settings
            settings.device = screen
            notes += try await Browser.run(settings, recorder) { browser in
                recorder.traffic = browser.traffic
                for url in urls { try await load(browser, url.text) }
                if settings.hasWindow { try await browser.waitUntilClosed() }
                return await browser.notes
            }
        }
        return notes
    }

    /// Checks that the file for the recording can be written.
    private static func checkPlace(of path: String, _ console: Console) throws(ToolError) {
        let url = console.folder.url(path)
        let kind = console.folder.targetKind(of: path)
        let target = kind == nil ? url.deletingLastPathComponent() : url
        guard kind == nil || kind == .typeRegular, access(target.path, W_OK) == 0 else {
            throw ToolError(
                "\(quoted(path)) cannot be written; its folder must exist, and it must not be a folder itself"
            )
        }
    }
}

/// A counter of responses, on one line of a terminal.
private struct CountLine: Sendable {
    private let write: (@Sendable (String) -> Void)?

    init(_ write: (@Sendable (String) -> Void)?) { self.write = write }

    func show(_ count: Int, _ bytes: Int) {
        write?("\r\u{1B}[K\(counted(count, "response")), \(ByteCount(bytes))")
    }

    func end() { write?("\r\u{1B}[K") }
}
