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

        Program.say("Loading \(site.page.absoluteString) in an ephemeral session, without the library:\n")
        let before = try await loadWithout(site, mode)
        let requestsBefore = report(before, site)

        cache.install()
        Program.say("\nThe same in URLSession.shared, after cache.install():\n")
        let after = try await MeasuredLoad.page(site.page, in: .shared)
        let requestsAfter = report(after, site)

        let answerer =
            switch mode {
            case .online: "network"
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
            throw Program.Failure(
                "\nThis is not as expected: \(Site.live) should be from \(answerer), and all else from the bundle."
            )
        }
        switch mode {
        case .online: Program.say("\nOnly the tide, which changes every hour, was still requested.")
        case .offline: Program.say("\nWithout a connection, the file that the manifest names for the tide answered.")
        case .silent:
            Program.say(
                "\nThe network was silent for a second, and the file that the manifest names for the tide answered."
            )
        case .refusing(let status):
            Program.say(
                "\nThe tide was requested, and after the \(status), the file that the manifest names for it answered."
            )
        }
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
            Program.say("  This would wait for the tide for 60 seconds, so it is left out.\n")
            return []
        }
        do {
            return try await MeasuredLoad.page(site.page, in: URLSession(configuration: .ephemeral))
        } catch let error as URLError where mode == .offline {
            Program.say("  \(error.localizedDescription)\n")
            return []
        }
    }

    /// Prints the loads, and the number of requests that reached the server; returns the targets of these requests.
    private static func report(_ loads: [MeasuredLoad], _ site: Site) -> [String] {
        let requests = site.server.requests.map(\.target)
        site.server.forgetRequests()
        if !loads.isEmpty { Program.say(MeasuredLoad.table(loads) + "\n") }
        Program.say("  \(requests.count) \(requests.count == 1 ? "request" : "requests") reached the server.")
        return requests
    }

    /// True for a resource from the network; for a substituted resource, true if it has the bytes of its file.
    private static func isIntact(_ load: MeasuredLoad, _ site: Site) -> Bool {
        guard load.answerer != "network" else { return true }
        let path = load.url.path.hasSuffix("/") || load.url.path.isEmpty ? "index.html" : load.url.path
        return (try? Data(contentsOf: site.substitutions.appendingPathComponent(path))) == load.body
    }
}
