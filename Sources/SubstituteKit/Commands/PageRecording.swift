import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// A recording of pages that a separate browser loads.
enum PageRecording {
    /// The options that only pages in a browser have.
    static let options: [any CommandOption] = [
        Device.option, LoadOptions.scroll, LoadOptions.wait, har, BrowserSettings.timeout, BrowserProgram.option,
    ]

    private static let har = Option("har", value: "file") { $0 }

    /// Loads pages, and adds their resources.
    static func add(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let (named, texts) = try ManifestLocation(console).split(arguments.operands)
        let urls = try texts.map(PageAddress.init)
        guard !urls.isEmpty else { throw UsageError("name a page to load, such as https://example.com/") }
        let devices = try arguments[Device.option]
        let manner = try LoadOptions(arguments)
        let run = try AddRun(arguments, console)
        var filter = try RecordedSource.Filter(arguments)
        let manifest = try ManifestLocation(console).find(named)
        // Report the manifest's errors before anything is loaded. During the recording, the user is free to edit the
        // manifest, because the run reads it again.
        _ = try Addition(to: manifest, console)
        var settings = try BrowserSettings(arguments, console)

        let kept = try arguments[har]
        if let kept { try checkPlace(of: kept, besides: manifest.folder, console) }

        let screens: [Device] = devices.isEmpty ? [.desktop] : devices
        let show = console.network.showProgress
        let recorder = Recorder(limit: filter.limit ?? .max) { count, bytes in
            show?(ProgressLine.line("\(counted(count, "response")), \(ByteCount(bytes))"))
        }
        settings.maximumBody = recorder.limit
        var (notes, failed): ([String], Set<String>) = ([], [])
        do {
            defer { show?(ProgressLine.line("")) }
            // Each screen gets a browser of its own.
            for screen in screens {
                settings.device = screen
                notes += try await Browser.run(settings, recorder) { browser in
                    recorder.traffic = browser.traffic
                    for url in urls {
                        try await browser.load(url.text, manner)
                        let status = await browser.status ?? 200
                        if status >= 400 { await browser.report("\(shortened(url.text)) answers \(status)") }
                        if await browser.incompleteness != nil || status >= 400 { failed.insert(url.text) }
                    }
                    return await browser.notes
                }
            }
        }
        let recording = try recorder.finish()
        for note in notes { console.printError(visible(note)) }
        if let kept { try save(recording, kept, console) }
        do {
            let capture = try HARFile(recording, name: kept ?? "the recording")
            filter.leftOut = recorder.leftOut
            let source = RecordedSource(capture, filter, console)
            _ = try await run.add(source, to: Addition(to: manifest, console))
        } catch {
            if let kept { console.printError("The recording is in \(visible(kept)).") }
            throw error
        }
        if failed.isEmpty { return .good }
        console.printError(
            "substitute add: \(counted(failed.count, "page")) \(failed.count == 1 ? "was" : "were") not loaded completely; what was loaded is kept"
        )
        return .bad
    }

    /// Checks that the recording can be written, and that it replaces nothing but a recording.
    private static func checkPlace(of path: String, besides sources: URL, _ console: Console) throws(ToolError) {
        let url = console.folder.url(path)
        let files = sources.resolvingSymlinksInPath().path + "/"
        if (url.deletingLastPathComponent().resolvingSymlinksInPath().path + "/").hasPrefix(files) {
            throw ToolError(
                "\(quoted(path)) lies in the manifest's folder, and would ship with the app, with all that the page sent; "
                    + "name another place"
            )
        }
        let kind = console.folder.targetKind(of: path)
        let target = kind == nil ? url.deletingLastPathComponent() : url
        guard kind == nil || kind == .typeRegular, access(target.path, W_OK) == 0 else {
            throw ToolError.unwritable(path)
        }
        guard kind != nil, let file = try? FileHandle(forReadingFrom: url) else { return }
        let head = (try? file.read(upToCount: 4096)) ?? Data()
        if !head.isEmpty, !HARFile.hasLog(head) {
            throw ToolError("\(quoted(path)) is not a recording, and is not replaced; name another file for --har")
        }
    }

    /// Writes the recording into a file that no other user can read, because URLs may hold secrets.
    private static func save(_ recording: Data, _ path: String, _ console: Console) throws(ToolError) {
        let url = console.folder.url(path)
        do {
            // An existing file may be readable for others.
            let descriptor = open(url.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            let isReady = descriptor >= 0 && fchmod(descriptor, 0o600) == 0 && ftruncate(descriptor, 0) == 0
            if !isReady { throw FileSystem.systemError }
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try file.write(contentsOf: recording)
            try file.close()
        } catch {
            throw ToolError("\(quoted(path)) cannot be written: \(FileSystem.reason(error))")
        }
    }
}
