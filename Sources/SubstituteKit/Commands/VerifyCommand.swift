import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// Loads live pages without and with the app's files, and reports whether the files still fit.
enum VerifyCommand {
    static let command = Command(
        name: "verify",
        summary: "Loads live pages without and with the files, and reports whether the files still fit.",
        operands: "[OPTIONS] [MANIFEST] [URL…]",
        options: [
            atLeast, allowsChanged, allowsErrors, tolerance, mask, output, format, .json, Device.option,
            LoadOptions.scroll,
            LoadOptions.wait,
            BrowserSettings.timeout, BrowserProgram.option,
        ],
        discussion: """
            Starts Chrome, Chromium, Edge or Brave without a window, with a fresh profile, and loads each page twice:
            from the network, and with the files. It prints how many requests and bytes came from files, which files
            differ from what their servers send, which requests no file answered and why, which loads failed and which
            errors occurred only with the files, and how much of the page's picture differs; then, which files the
            browser cannot read. Caches are off, and service workers are bypassed.

            It counts GET requests over http and https, including the request for the page; a redirected request
            counts once. Two pixels differ if their red, green or blue differs by more than 4 of 255.

            \(SavedOptions.about)

            \(Command.aboutManifest)

            Exits with 0 if every page passes, 2 on a usage error, and 1 for any of these reasons:
              the manifest has errors;
              a page could not be loaded, its server answers 400 or above, or it was not finished in time;
              no request of a page came from a file, or no such file could be compared with what its server sends
              (--at-least 0% permits both); fewer requests came from files than --at-least demands;
              a file differs from what its server sends (--allow-changed permits this);
              a script error or a failed load occurs only with the files (--allow-errors permits this);
              the picture differs by more than --tolerance.
            """,
        example: "  substitute verify --at-least 90% -o verified https://example.com/",
        run: run
    )

    private static let atLeast = Option(
        "at-least",
        value: "share",
        "The share of each page's requests that files must at least answer, such as 90%;\nby default at least one request. With 0%, none has to.",
        VerificationLimits.share
    )
    private static let allowsChanged = Option(
        "allow-changed",
        "Report files that differ from what their servers send, but do not fail."
    )
    private static let allowsErrors = Option(
        "allow-errors",
        "Report errors that occur only with the files, but do not fail."
    )
    private static let tolerance = Option(
        "tolerance",
        value: "share",
        "The share of each picture that may differ, such as 0.5%; by default 0%.",
        VerificationLimits.share
    )
    private static let mask = Option(
        repeated: "mask",
        value: "selector",
        "Hide elements that match this CSS selector in the pictures, such as \".advert\".\nMay be repeated."
    ) { $0 }
    private static let output = Option(
        "output",
        short: "o",
        value: "folder",
        "Write a page with the results and the pictures into this folder."
    ) { $0 }
    private static let format = ReportFormat.option(of: "page")

    private static func run(_ typed: Arguments, _ console: Console) async throws -> ExitStatus {
        let saved = try SavedOptions(for: command, typed.operands, console)
        let arguments = try typed.completed(by: saved?.options ?? [], saved?.pages ?? [])
        let (named, texts) = try ManifestLocation(console).split(arguments.operands)
        let urls = try texts.map(PageAddress.init)
        guard !urls.isEmpty else { throw UsageError("name a page to load, such as https://example.com/") }
        let manner = try PageVisit.Manner(load: LoadOptions(arguments), masks: arguments[mask])
        let (required, tolerance) = try (arguments[atLeast], arguments[tolerance] ?? 0)
        let manifest = try ManifestLocation(console).find(named)
        let limits = try VerificationLimits(
            manifest: manifest,
            required: required,
            tolerance: tolerance,
            allowsChanges: arguments.has(allowsChanged),
            allowsErrors: arguments.has(allowsErrors),
            record: RemoteRecord(in: manifest.folder)
        )
        let printer = VerificationPrinter(try arguments.format(format) ?? .text, limits, console)
        let table = try manifest.table()
        var settings = try BrowserSettings(arguments, console)
        let devices = try arguments[Device.option]
        settings.suppressesMotion = true
        let report = try arguments[output].map { try OutputFolder($0, in: console.folder) }
        var files: [String: OutputFolder.Content] = [:]

        let explainer = MissExplainer(manifest: manifest)
        printer.begin(settings)
        var (pages, unloaded): ([Verification], [UnloadedPage]) = ([], [])
        for (url, device) in urls.flatMap({ url in (devices.isEmpty ? [.desktop] : devices).map { (url, $0) } }) {
            do {
                settings.device = device
                var page = try await Verification(of: url.text, with: table, explainer, settings, manner)
                page.device = devices.count > 1 ? device.words : nil
                if report != nil { files.merge(page.pictureFiles(number: pages.count + 1)) { $1 } }
                page.dropPictures()
                pages.append(page)
                try printer.print(page, manifest)
            } catch let error as ToolError {
                // Report the error, and verify the remaining pages.
                let page = UnloadedPage(url: url.text, reason: error.message)
                unloaded.append(page)
                try printer.print(page)
            }
        }
        let html = VerificationPage(pages: pages, unloaded: unloaded, limits: limits).html
        files["index.html"] = .bytes(Data(html.utf8))
        try report?.write(files)
        let check = try manifest.checked(on: console.now())
        // If no page was loaded, the browser may be the reason.
        let judged = try await pages.isEmpty ? [] : BrowserJudge(settings: settings).issues(of: check)
        if !judged.isEmpty {
            let format = try arguments.format(format) ?? .text
            try CheckReport([CheckReport.Result(check: check, issues: judged)], console).print(as: format)
        }
        return unloaded.isEmpty && !pages.contains { limits.verdict(on: $0) == .fails } ? .good : .bad
    }
}
