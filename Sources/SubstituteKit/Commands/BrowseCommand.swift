import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Opens the real site in a browser, and answers the browser's requests from the app's files.
enum BrowseCommand {
    static let command = Command(
        name: "browse",
        options: [
            misses, device, BrowserSettings.timeout, BrowserProgram.option,
        ],
        run: run
    )

    private static let misses = Option("misses")
    private static let device = Option("device", value: "device", Device.init(_:))

    private static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let (named, texts) = try ManifestLocation(console).split(arguments.operands)
        guard texts.count == 1 else { throw UsageError("name one page, such as https://example.com/") }
        let url = try PageAddress(texts[0])
        let manifest = try ManifestLocation(console).find(named)
        let table = try manifest.table()
        var settings = try BrowserSettings(arguments, console)
        settings.device = try arguments[device]
        settings.hasWindow = settings.hasDisplay
        let printer = BrowsePrinter(console, arguments.has(misses) ? MissExplainer(manifest: manifest) : nil)
        let live = LiveTable(table) { printer.print($0, in: $1) }
        let saves = try SaveFollower.saves(of: [manifest])
        try await Browser.run(settings, live, onEvent: { printer.print($0) }) { browser in
            let follower = SaveFollower(manifest: manifest, live: live, browser: browser)
            let following = Task {
                for await paths in saves { await follow(paths, follower, printer) }
            }
            defer { following.cancel() }
            try await browser.load(url.text)
            try await browser.waitUntilClosed()
        }
        return .good
    }

    private static func follow(_ paths: [String], _ follower: SaveFollower, _ printer: BrowsePrinter) async {
        let saved = "Saved: \(paths.map { visible($0) }.joined(separator: ", "))."
        do {
            try await follower.follow(paths, printer.loads) { isUsed in
                printer.print("\(saved) \(isUsed ? "The page is reloaded." : "The page does not use it.")")
            }
        } catch let error as ManifestError {
            printer.print("\(saved)\n\(error)\nThe previous version stays in use.")
        } catch {
            printer.print("\(saved) \((error as? ToolError)?.message ?? "The page cannot be reached.")")
        }
    }
}

/// Prints each load of a page on one line, and records the load.
// Mutable state is only accessed inside the lock.
private final class BrowsePrinter: @unchecked Sendable {
    private let lock = NSLock()
    private let console: Console
    /// Explains the requests that no file answered; nil to leave them out.
    private let explainer: MissExplainer?
    private var current: [LiveTable.FinishedLoad] = []
    /// The number of loads before the current navigation.
    private var start = 0

    init(_ console: Console, _ explainer: MissExplainer?) { (self.console, self.explainer) = (console, explainer) }

    /// The loads of the page.
    var loads: [LiveTable.FinishedLoad] { lock.withLock { current } }

    func print(_ line: String) {
        lock.withLock {
            console.print(line)
            console.flush()
        }
    }

    func print(_ happening: Browser.Event) {
        switch happening {
        case .navigating(let url):
            lock.withLock { start = current.count }
            print(shortened(url))
        // Discard the loads of the previous page only once the page shows the new document. A navigation that ends in a
        // download, for example, does not replace the page.
        case .navigated: lock.withLock { current.removeFirst(min(start, current.count)) }
        case .note(let sentence): print("  note     \(visible(sentence))")
        }
    }

    func print(_ load: LiveTable.FinishedLoad, in table: SubstitutionTable) {
        lock.withLock { current.append(load) }
        if let file = load.file {
            let after = load.status.map { ", after \($0)" } ?? (file.substitution.conditions.isEmpty ? "" : ", offline")
            print("  file     \(shortened(load.url)) → \(visible(file.substitution.path))\(after)")
        } else if let first = load.redirectedFrom, explainer == nil, table.file(at: load.url) != nil {
            print(
                "  network  \(shortened(first)) → \(shortened(load.url)), redirected: an app asks no cache for it then"
            )
        } else if let explainer {
            let miss = explainer.miss(load, besides: Set(loads.compactMap(\.file?.substitution.url)), in: table)
            print("  network  \(miss.reason)" + (miss.advice.map { "\n           \($0)" } ?? ""))
        }
    }
}
