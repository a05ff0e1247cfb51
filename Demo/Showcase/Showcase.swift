import DemoSite
import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import LoopbackServer

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Shows the Demo's page in a browser, or records its requests.
@main
struct Showcase {
    static let help = """
        USAGE: swift run Showcase [--folder FOLDER | --record FILE | --help]

        Prints an address to open in a browser. It shows the Demo's page before and after side by side: pictures of
        the remote site say "from the network", those of the bundle say "from the bundle". It also prints how to see
        the site itself with the app's files, through a web extension. To see files that were saved meanwhile, reload
        the page. End it with Control-C. Each load that a file answers is printed.

        OPTIONS:
          --folder FOLDER  Take the app's files from this folder, a copy of Resources/Substitutions. Without this
                           option, that folder itself is used, if it exists.
          --record FILE    Load the page once, record its requests, as an app in development does, and print the
                           commands that read the recording.
          -h, --help       Print this help.
        """

    static func main() async {
        await Program.run { words in
            switch (words.first, words.count) {
            case (nil, _): try await serve(sources ?? Site.shipped)
            case ("--folder", 2): try await serve(URL(fileURLWithPath: words[1]))
            case ("--record", 2): try await record(to: words[1])
            case ("--help", 1), ("-h", 1): Program.say(help)
            default:
                let given = words.joined(separator: " ")
                throw Program.Failure(usage: "Showcase takes --folder FOLDER, --record FILE, or nothing, not \(given)")
            }
        }
    }

    /// The folder from which `Site.shipped` was copied; nil if it has been moved or removed since the build.
    private static var sources: URL? {
        let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = checkout.appendingPathComponent("Resources/Substitutions")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }

    /// Records the loads of the page, and prints their summary and the commands that read the recording.
    private static func record(to name: String) async throws {
        let site = try Site()
        defer { site.server.stop() }
        let cache = try site.makeCache()
        cache.install()
        let recording = try cache.record(to: URL(fileURLWithPath: name))
        _ = try await MeasuredLoad.page(site.page, in: .shared)
        try recording.stop()
        Program.say(
            """
            Recorded in \(name):
            \(recording.summary)

              swift run substitute preview --format text --used \(name) Resources/Substitutions
              swift run substitute explain Resources/Substitutions \(name)
            """
        )
    }

    private static func serve(_ substitutions: URL) async throws {
        let site = try Site(substitutions: substitutions)
        // Copy files that are being edited: if an editor truncates a mapped file, SIGBUS kills the process.
        let cache = try site.makeCache(reading: .copied)
        cache.install()
        try cache.reloadWhenChanged { outcome in
            switch outcome {
            case .success(let paths):
                Program.say("Saved: \(paths.joined(separator: ", ")). Reload the page to see it.")
            case .failure(let error): Program.say("\(error)\nThe previous version stays in use.")
            }
        }
        let events = cache.events
        Task { for await event in events where event.kind != .miss { Program.say("  \(event)") } }
        let comparison = try Comparison(of: site)
        let signals = interruptions()
        let folder = try site.writeSubstitutions()
        Program.say(
            """
            Open \(comparison.server.url.absoluteString)/ in a browser. End with Control-C.
            The app's files are in \(substitutions.path): change css/site.css, save, and reload the page.

            The site itself is at \(site.page.absoluteString). To see it in a browser with the app's files:
              swift run substitute extension \(folder.path) -o DemoExtension
            """
        )
        for await number in signals {
            try? FileManager.default.removeItem(at: folder)
            exit(128 + number)
        }
    }

    /// The signals that ask the process to end, such as Control-C.
    private static func interruptions() -> AsyncStream<Int32> {
        AsyncStream { continuation in
            // Any thread may cancel a source, but Dispatch on Linux does not declare sources Sendable.
            nonisolated(unsafe) let sources = [SIGINT, SIGTERM].map { number in
                EndingSignal.source(number) { continuation.yield(number) }
            }
            continuation.onTermination = { _ in
                for source in sources { source.cancel() }
            }
        }
    }
}
