import Foundation
import LocalSubstitutionCache
import LoopbackServer

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Shows the main job of the library against a server on this machine.
@main
struct Demo {
    static let help = """
        USAGE: swift run Demo [--serve] [--help]

        Starts a small web site on this machine, loads its page and everything the page refers to twice, and prints
        who answered: first with a session that has no cache, then with URLSession.shared after cache.install().
        Exits with 1 if anything is not as expected.

        OPTIONS:
          --serve     Keep running, and print an address to open in a browser. It shows the page before and after
                      side by side: pictures of the remote site say "from the network", those of the bundle say
                      "from the bundle". End it with Control-C.
          -h, --help  Print this.
        """

    static func main() async {
        do {
            switch Array(CommandLine.arguments.dropFirst()) {
            case []: try await show()
            case ["--serve"]: try await serve()
            case ["--help"], ["-h"]: say(help)
            case let arguments:
                complain("Demo does not know \(arguments.joined(separator: " ")); see swift run Demo --help")
                exit(2)
            }
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    /// Makes the cache of the sample manifest, with the site's address in the place of `http://localhost:0`.
    private static func makeCache(for site: Site) throws -> LocalSubstitutionCache {
        let file = Site.substitutions.appendingPathComponent("manifest.json")
        let manifest = try String(contentsOf: file, encoding: .utf8)
            .replacingOccurrences(of: "http://localhost:0", with: site.server.url.absoluteString)
        return try LocalSubstitutionCache(manifest: Data(manifest.utf8), folder: Site.substitutions)
    }

    private static func show() async throws {
        let site = try Site()
        defer { site.server.stop() }
        let cache = try makeCache(for: site)

        say("Loading \(site.page.absoluteString) with a session that has no cache:\n")
        let before = try await Load.page(site.page, in: URLSession(configuration: .ephemeral))
        let requestsBefore = report(before, site)

        cache.install()
        say("\nThe same with URLSession.shared, after cache.install():\n")
        let after = try await Load.page(site.page, in: .shared)
        let requestsAfter = report(after, site)

        let isExpected =
            before.allSatisfy { !$0.isFromBundle } && requestsBefore == before.map(\.resource)
            && after.map(\.resource) == before.map(\.resource)
            && after.allSatisfy { $0.isFromBundle == ($0.resource != "/live/tide.svg") && isIntact($0) }
            && requestsAfter == ["/live/tide.svg"] && (before + after).allSatisfy { $0.response.statusCode == 200 }
        guard isExpected else {
            complain(
                "\nThis is not as expected: only /live/tide.svg should have come from the network the second time."
            )
            exit(1)
        }
        say("\nOnly the tide, which no entry names, was still asked for.")
    }

    /// Prints what was loaded and what reached the server; returns the latter.
    private static func report(_ loads: [Load], _ site: Site) -> [String] {
        let requests = site.server.requests.map(\.target)
        site.server.forgetRequests()
        say(Load.table(loads))
        say("\n  \(requests.count) \(requests.count == 1 ? "request" : "requests") reached the server.")
        return requests
    }

    /// Whether a substituted resource has the bytes of its file.
    private static func isIntact(_ load: Load) -> Bool {
        guard load.isFromBundle else { return true }
        let path = load.url.path.hasSuffix("/") || load.url.path.isEmpty ? "index.html" : load.url.path
        return (try? Data(contentsOf: Site.substitutions.appendingPathComponent(path))) == load.body
    }

    private static func serve() async throws {
        let site = try Site()
        try makeCache(for: site).install()
        let showcase = try Showcase(of: site)
        say("Open \(showcase.server.url.absoluteString)/ in a browser. End with Control-C.")
        while true { try await Task.sleep(nanoseconds: .max) }
    }

    // Written at once, also into a pipe.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
