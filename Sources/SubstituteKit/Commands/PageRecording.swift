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

        let kept = try arguments[har].map { path in
            try OutputFile(path, console, besides: manifest.folder) { HARFile.hasLog($0.prefix(4096)) }
        }
        let staging = try StagingFolder.guarded(for: manifest, isDryRun: arguments.has(.dryRun), console)

        let screens: [Device] = devices.isEmpty ? [.desktop] : devices
        let show = console.network.showProgress
        let recorder = try Recorder(in: staging, limit: filter.limit ?? .max) { count, bytes in
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
        let recorded = try recorder.finish()
        for note in notes { console.printError(visible(note)) }
        try kept?.write(Data(recorded))
        filter.leftOut = recorder.leftOut
        do {
            let source = RecordedSource(try recorded.map(HARFile.Exchange.init), filter, console)
            _ = try await run.add(source, to: Addition(to: manifest, console), in: staging)
        } catch {
            if let kept { console.printError("The recording is in \(visible(kept.path)).") }
            throw error
        }
        if failed.isEmpty { return .good }
        console.printError(
            "substitute add: \(counted(failed.count, "page")) \(failed.count == 1 ? "was" : "were") not loaded completely; what was loaded is kept"
        )
        return .bad
    }
}
