import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Loads live pages without and with the app's files, and reports whether the files still fit.
enum VerifyCommand {
    static let command = Command(
        name: "verify",
        options: [
            atLeast, allowsChanged, tolerance, mask, output, format, Device.option,
            LoadOptions.scroll,
            LoadOptions.wait,
            BrowserSettings.timeout, BrowserProgram.option,
        ],
        run: run
    )

    private static let atLeast = Option("at-least", value: "share", VerificationLimits.share)
    private static let allowsChanged = Option("allow-changed")
    private static let tolerance = Option("tolerance", value: "share", VerificationLimits.share)
    private static let mask = Option(repeated: "mask", value: "selector") { $0 }
    private static let output = Option("output", short: "o", value: "folder") { $0 }
    private static let format = ReportFormat.option()

    private static func run(_ typed: Arguments, _ console: Console) async throws -> ExitStatus {
        let saved = try SavedOptions(for: command, typed.operands, console)
        let arguments = try typed.completed(by: saved?.options ?? [], saved?.pages ?? [])
        let (named, texts) = try ManifestLocation(console).split(arguments.operands)
        let urls = try texts.map(PageAddress.init)
        guard !urls.isEmpty else { throw UsageError("name a page to load, such as https://example.com/") }
        let manner = try PageVisit.Manner(load: LoadOptions(arguments), masks: arguments[mask])
        let (required, tolerance) = try (arguments[atLeast], arguments[tolerance] ?? 0)
        let manifest = try ManifestLocation(console).find(named)
        let check = try manifest.checked(on: console.now())
        let remote = try RemoteCheck(check, in: manifest.folder)
        let staging = try StagingFolder.guarded(for: manifest, isDryRun: true, console)
        let limits = VerificationLimits(
            manifest: manifest,
            required: required,
            tolerance: tolerance,
            allowsChanges: arguments.has(allowsChanged)
        )
        let format = try arguments[format] ?? .text
        let table = try manifest.table()
        var settings = try BrowserSettings(arguments, console)
        let devices = try arguments[Device.option]
        settings.suppressesMotion = true
        let report = try arguments[output].map { try OutputFolder($0, in: console.folder) }
        var files: [String: OutputFolder.Content] = [:]

        let explainer = MissExplainer(manifest: manifest)
        var (pages, unloaded): ([Verification], [UnloadedPage]) = ([], [])
        for (url, device) in urls.flatMap({ url in (devices.isEmpty ? [.desktop] : devices).map { (url, $0) } }) {
            do {
                settings.device = device
                let title = shortened(url.text) + (devices.count > 1 ? " (\(device.words))" : "")
                let progress: (String) -> Void = { console.network.showProgress?(ProgressLine.line("\(title): \($0)")) }
                defer { console.network.showProgress?(ProgressLine.line("")) }
                var page = try await Verification(
                    of: url.text,
                    with: table,
                    (remote, staging, console.network),
                    explainer,
                    settings,
                    manner,
                    showing: progress
                )
                page.device = devices.count > 1 ? device.words : nil
                if report != nil { files.merge(page.pictureFiles(number: pages.count + 1)) { $1 } }
                page.dropPictures()
                pages.append(page)
                let sum = format == .github ? ["\(page.title): \(page.counts)"] : []
                try console.print([limits.item(for: page, console)], sum: sum, as: format)
            } catch let error as ToolError {
                // Report the error, and verify the remaining pages.
                let page = UnloadedPage(url: url.text, reason: error.message)
                unloaded.append(page)
                if format == .text { console.printError("substitute verify: \(page.reason)") }
                try console.print([page.item], as: format)
            }
            console.flush()
        }
        files["index.html"] = .bytes(Data(try Page(pages: pages, unloaded: unloaded, limits).html.utf8))
        try report?.write(files)
        // If no page was loaded, the browser may be the reason.
        let judged = try await pages.isEmpty ? [] : BrowserJudge(settings: settings).issues(of: check)
        if !judged.isEmpty {
            try CheckReport([CheckReport.Result(check: check, issues: judged)], console).print(as: format)
        }
        return unloaded.isEmpty && !pages.contains { limits.verdict(on: $0) == .fails } ? .good : .bad
    }
}
