import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import LoopbackServer

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Shows the library's main task with a server on this machine.
@main
struct Demo {
    static let help = """
        USAGE: swift run Demo [--offline | --silent | --status CODE] [--record FILE | --serve] [--folder FOLDER] [--help]
               swift run Demo --newer

        Starts a small web site on this machine, loads its page and everything the page refers to twice, and prints
        what answered: first in an ephemeral session, then in URLSession.shared after cache.install().
        Exits with 1 if anything is not as expected.

        OPTIONS:
          --offline      Stop the site first, so that there is no connection to it.
          --silent       Let the site never answer the request for the changing picture, for which the app then waits
                         one second.
          --status CODE  Let the site answer with this HTTP status when the changing picture is requested: 404, or
                         500 to 599, which the manifest names.
          --record FILE  Record the requests of the page with the library, as an app in development does, and print
                         the commands that read the recording.
          --serve        Keep running, and print an address to open in a browser. It shows the page before and after
                         side by side: pictures of the remote site say "from the network", those of the bundle say
                         "from the bundle". It also prints how to see the site itself with the app's files, through
                         a web extension. To see files that were saved meanwhile, reload the page. End it with
                         Control-C. Each load that a file answers is printed.
          --folder FOLDER
                         Take the app's files from this folder, a copy of Resources/Substitutions. Without this
                         option, --serve uses that folder itself, if it exists.
          --newer        Launch an app that adopts a newer folder, launch it again, and then without that folder.
          -h, --help     Print this help.
        """

    static func main() async {
        do {
            guard let (mode, serves, folder, recording) = try options() else { return say(help) }
            if mode == .newer { return try await showNewer() }
            let files = folder ?? (serves ? Site.sources : nil) ?? Site.shipped
            let site = try Site(mode.live, substitutions: files)
            if serves { try await serve(site, mode) } else { try await show(site, mode, recordingTo: recording) }
        } catch let error as UsageError {
            complain("Demo: \(error.message); see swift run Demo --help")
            exit(2)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    /// Parses the command line; returns nil if the user asks for help.
    private static func options() throws(UsageError) -> (mode: Mode, serves: Bool, folder: URL?, recording: String?)? {
        var (mode, serves) = (Mode.online, false)
        var (folder, recording): (URL?, String?)
        var words = CommandLine.arguments.dropFirst()
        while let word = words.popFirst() {
            switch word {
            case "--serve" where recording == nil:
                serves = true
            case "--record" where !serves:
                guard let path = words.popFirst() else { throw UsageError(message: "--record needs a file") }
                recording = path
            case "--serve", "--record":
                throw UsageError(message: "--record and --serve cannot be combined")
            case "--folder":
                guard let path = words.popFirst() else { throw UsageError(message: "--folder needs a folder") }
                folder = URL(fileURLWithPath: path)
            case "--help", "-h":
                return nil
            case "--newer" where CommandLine.arguments.count == 2:
                mode = .newer
            case "--newer":
                throw UsageError(message: "--newer has no other options")
            case "--offline" where mode == .online:
                mode = .offline
            case "--silent" where mode == .online:
                mode = .silent
            case "--status" where mode == .online:
                let code = words.popFirst() ?? "nothing"
                guard let status = Int(code), status == 404 || (500..<600).contains(status) else {
                    throw UsageError(message: "--status takes 404, or a number from 500 to 599, not \(code)")
                }
                mode = .refusing(status)
            case "--offline", "--silent", "--status":
                throw UsageError(message: "--offline, --silent and --status cannot be combined")
            default:
                throw UsageError(message: "there is no option \(word)")
            }
        }
        return (mode, serves, folder, recording)
    }

    private struct UsageError: Error {
        let message: String
    }

    /// The behaviour of the site.
    private enum Mode: Equatable {
        case online
        case offline
        /// The site never answers the request for the changing picture.
        case silent
        /// The app adopts a newer folder.
        case newer
        /// The site answers the request for the changing picture with this status.
        case refusing(Int)

        /// The site's response when the changing picture is requested.
        var live: Site.Live {
            switch self {
            case .online, .offline, .newer: .sent
            case .silent: .silent
            case .refusing(let status): .refused(status)
            }
        }
    }

    /// Creates the cache of the sample manifest.
    private static func makeCache(for site: Site, reading: ReadingMode = .mapped) throws -> SubstitutionCache {
        try SubstitutionCache(
            manifestData: Data(site.manifest().utf8),
            folder: site.substitutions,
            reading: reading
        )
    }

    private static func show(_ site: Site, _ mode: Mode, recordingTo name: String?) async throws {
        defer { site.server.stop() }
        let cache = try makeCache(for: site)
        if mode == .offline { site.server.stop() }

        say("Loading \(site.page.absoluteString) in an ephemeral session, without the library:\n")
        let before = try await loadWithout(site, mode)
        let requestsBefore = report(before, site)

        cache.install()
        let recording = try name.map { try cache.record(to: URL(fileURLWithPath: $0)) }
        say("\nThe same in URLSession.shared, after cache.install():\n")
        let after = try await MeasuredLoad.page(site.page, in: .shared)
        let requestsAfter = report(after, site)

        let answerer =
            switch mode {
            case .online, .newer: "network"
            case .offline: "bundle, offline"
            case .silent: "bundle, after 1 s"
            case .refusing(let status): "bundle, after \(status)"
            }
        let live = after.filter { $0.resource == Site.live }
        let others = after.filter { $0.resource != Site.live }
        let isExpected =
            before.allSatisfy { $0.answerer == "network" } && requestsBefore == before.map(\.resource)
            && before.filter { $0.resource != Site.live }.allSatisfy { $0.response.statusCode == 200 }
            && (before.isEmpty && [.offline, .silent].contains(mode) || before.map(\.resource) == after.map(\.resource))
            && others.count > 5
            && others.allSatisfy { $0.answerer == "bundle" } && live.map(\.answerer) == [answerer]
            && after.allSatisfy { $0.response.statusCode == 200 && isIntact($0, site) }
            && requestsAfter == (mode == .offline ? [] : [Site.live])
        guard isExpected else {
            complain(
                "\nThis is not as expected: \(Site.live) should be from \(answerer), and all else from the bundle."
            )
            exit(1)
        }
        switch mode {
        case .online, .newer: say("\nOnly the tide, which changes every hour, was still requested.")
        case .offline: say("\nWithout a connection, the file that the manifest names for the tide answered.")
        case .silent:
            say("\nThe network was silent for a second, and the file that the manifest names for the tide answered.")
        case .refusing(let status):
            say(
                "\nThe tide was requested, and after the \(status), the file that the manifest names for it answered."
            )
        }
        if let recording { try report(recording, in: name) }
    }

    private static func showNewer() async throws {
        let site = try Site(.sent, substitutions: Site.shipped)
        defer { site.server.stop() }
        let steps = try await Newer(site).steps()
        for (step, version, _) in steps { say("\(step): version \(version) answers") }
        guard steps.map(\.version) == [0, 1, 1, 0], steps.allSatisfy(\.isRight), site.server.requests.isEmpty else {
            complain("This is not as expected: the versions should be 0, 1, 1 and 0, each with its own stylesheet.")
            exit(1)
        }
    }

    /// Ends a recording, and prints its summary and the commands that read the recording.
    private static func report(_ recording: Recording, in name: String?) throws {
        let name = name ?? ""
        try recording.stop()
        say(
            """

            Recorded in \(name):
            \(recording.summary)

              swift run substitute preview --format text --used \(name) Resources/Substitutions
              swift run substitute explain Resources/Substitutions \(name)
            """
        )
    }

    /// Loads the page without the library.
    ///
    /// Without a connection, this load fails, and no loads are returned.
    private static func loadWithout(_ site: Site, _ mode: Mode) async throws -> [MeasuredLoad] {
        if mode == .silent {
            say("  This would wait for the tide for 60 seconds, so it is left out.\n")
            return []
        }
        do {
            return try await MeasuredLoad.page(site.page, in: URLSession(configuration: .ephemeral))
        } catch let error as URLError where mode == .offline {
            say("  \(error.localizedDescription)\n")
            return []
        }
    }

    /// Prints the loads, and the number of requests that reached the server; returns the targets of these requests.
    private static func report(_ loads: [MeasuredLoad], _ site: Site) -> [String] {
        let requests = site.server.requests.map(\.target)
        site.server.forgetRequests()
        if !loads.isEmpty { say(MeasuredLoad.table(loads) + "\n") }
        say("  \(requests.count) \(requests.count == 1 ? "request" : "requests") reached the server.")
        return requests
    }

    /// True for a resource from the network; for a substituted resource, true if it has the bytes of its file.
    private static func isIntact(_ load: MeasuredLoad, _ site: Site) -> Bool {
        guard load.answerer != "network" else { return true }
        let path = load.url.path.hasSuffix("/") || load.url.path.isEmpty ? "index.html" : load.url.path
        return (try? Data(contentsOf: site.substitutions.appendingPathComponent(path))) == load.body
    }

    private static func serve(_ site: Site, _ mode: Mode) async throws {
        // Copy files that are being edited: if an editor truncates a mapped file, SIGBUS kills the process.
        let cache = try makeCache(for: site, reading: .copied)
        cache.install()
        try cache.reloadWhenChanged { outcome in
            switch outcome {
            case .success(let paths): say("Saved: \(paths.joined(separator: ", ")). Reload the page to see it.")
            case .failure(let error): say("\(error)\nThe previous version stays in use.")
            }
        }
        let events = cache.events
        Task { for await event in events where event.kind != .miss { say("  \(event)") } }
        if mode == .offline { site.server.stop() }
        let showcase = try Showcase(of: site)
        say("Open \(showcase.server.url.absoluteString)/ in a browser. End with Control-C.")
        say("The app's files are in \(site.substitutions.path): change css/site.css, save, and reload the page.")
        guard mode == .online else { while true { try await Task.sleep(nanoseconds: .max) } }
        let signals = interruptions()
        let folder = try site.writeSubstitutions()
        say(
            """

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

    // Write without a buffer, so that the reader of a pipe also receives each text immediately.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
