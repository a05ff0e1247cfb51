import DemoSite
import Foundation
import LocalSubstitutionCache
import LoopbackServer

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Shows the library's main task with a server on this machine.
@main
struct Demo {
    static let help = """
        USAGE: swift run Demo [--offline | --silent | --status CODE | --newer | --help]

        Starts a small web site on this machine, loads its page and everything the page refers to twice, and prints
        what answered: first in an ephemeral session, then in URLSession.shared after cache.install().
        Exits with 1 if anything is not as expected.

        OPTIONS:
          --offline      Stop the site first, so that there is no connection to it.
          --silent       Let the site never answer the request for the changing picture, for which the app then waits
                         one second.
          --status CODE  Let the site answer with this HTTP status when the changing picture is requested: 404, or
                         500 to 599, which the manifest names.
          --newer        Launch an app that adopts a newer folder, launch it again, and then without that folder.
          -h, --help     Print this help.
        """

    static func main() async {
        await Program.run { words in
            switch words {
            case []: try await show(.online)
            case ["--offline"]: try await show(.offline)
            case ["--silent"]: try await show(.silent)
            case ["--newer"]: try await showNewer()
            case ["--help"], ["-h"]: Program.say(help)
            case _ where words[0] == "--status":
                guard words.count == 2, let status = Int(words[1]), status == 404 || (500..<600).contains(status) else {
                    throw Program.Failure(usage: "--status takes 404, or a number from 500 to 599")
                }
                try await show(.refusing(status))
            default:
                let given = words.joined(separator: " ")
                throw Program.Failure(usage: "Demo takes one of its options, or none, not \(given)")
            }
        }
    }

    private static func show(_ mode: Site.Mode) async throws {
        let site = try Site(mode)
        defer { site.server.stop() }
        let cache = try site.makeCache()

        Program.say(
            """
            The page \(site.page.absoluteString) and its files, and where each came from:
            before, in an ephemeral session; after cache.install(), in URLSession.shared.

            """
        )
        let before = try await loadWithout(site, mode)
        let requestsBefore = takeRequests(of: site)
        cache.install()
        let after = try await MeasuredLoad.page(site.page, in: .shared)
        let requestsAfter = takeRequests(of: site)
        let counts = before.isEmpty ? "" : "\(requestsBefore.count) before, "
        Program.say(
            """
            \(MeasuredLoad.table(before: before, after: after))

            Requests that reached the server: \(counts)\(requestsAfter.count) after.
            """
        )

        let (answerer, conclusion) =
            switch mode {
            case .online: ("network", "Only the tide, which changes every hour, was still requested.")
            case .offline: ("bundle, offline", "Without a connection, the tide's file in the bundle answered, too.")
            case .silent: ("bundle, after 1 s", "After a second of silence, the tide's file in the bundle answered.")
            case .refusing(let status):
                ("bundle, after \(status)", "After the \(status), the tide's file in the bundle answered.")
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
            throw Program.Failure(
                "This is not as expected: \(Site.live) should be from \(answerer), and all else from the bundle."
            )
        }
        Program.say(conclusion)
        guard mode == .online else { return }
        Program.say(
            """

            Next:
              swift run Demo --offline   # or --silent, --status 503, --newer
              swift run Showcase         # the page in a browser, before and after
              swift run substitute check Resources/Substitutions   # checks the manifest
            """
        )
    }

    private static func showNewer() async throws {
        let site = try Site()
        defer { site.server.stop() }
        let steps = try await Newer(site).steps()
        for (step, version, _) in steps { Program.say("\(step): version \(version) answers") }
        guard steps.map(\.version) == [0, 1, 1, 0], steps.allSatisfy(\.isRight), site.server.requests.isEmpty else {
            throw Program.Failure(
                "This is not as expected: the versions should be 0, 1, 1 and 0, each with its own stylesheet."
            )
        }
    }

    /// Loads the page without the library.
    ///
    /// Without a connection, this load fails, and no loads are returned.
    private static func loadWithout(_ site: Site, _ mode: Site.Mode) async throws -> [MeasuredLoad] {
        if mode == .silent {
            Program.say("Before:\nLeft out, because it would wait for the tide for 60 seconds.\n")
            return []
        }
        do {
            return try await MeasuredLoad.page(site.page, in: URLSession(configuration: .ephemeral))
        } catch let error as URLError where mode == .offline {
            Program.say("Before:\n\(error.localizedDescription)\n")
            return []
        }
    }

    /// Returns the targets of the requests that reached the server since the last call.
    private static func takeRequests(of site: Site) -> [String] {
        defer { site.server.forgetRequests() }
        return site.server.requests.map(\.target)
    }

    /// True for a resource from the network; for a substituted resource, true if it has the bytes of its file.
    private static func isIntact(_ load: MeasuredLoad, _ site: Site) -> Bool {
        guard load.answerer != "network" else { return true }
        let path = load.url.path.hasSuffix("/") || load.url.path.isEmpty ? "index.html" : load.url.path
        return (try? Data(contentsOf: site.substitutions.appendingPathComponent(path))) == load.body
    }
}
