import Foundation
import FoundationNetworking
import LoopbackServer
import TestSupport
import Testing

@testable import Browser
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

/// The suites that show pages in a view, one suite at a time.
@Suite("In WebKit", .serialized, .timeLimit(.minutes(30)))
enum WebKitTests {}

extension WebKitTests {
    /// Tests of a page that loads one resource of each kind from a server that counts the requests.
    @Suite("Kinds of resources of a page", .serialized)
    struct KindsTests {
        private func reports(prefix: String, expressions: (SubstitutionCache) -> [String]) async throws
            -> [KindsSite.Report]
        {
            let folder = try TemporaryFolder()
            let site = try await KindsSite(in: folder, domain: "localhost", prefix: prefix)
            defer { site.stop() }
            let manifest = folder.url.appendingPathComponent("manifest.json")
            let cache = try SubstitutionCache(manifest: manifest)
            let hosts = Set(site.bases.compactMap { WebOrigin($0)?.authority })
            let server = SchemeServer(cache, forwardingTo: prefix.isEmpty ? [] : hosts)
            let cookies = PageCookies([])
            let browser = try await Browser(expressions: expressions(cache)) { server.reply(to: $0) { cookies } }
            try await browser.begin(site.start(withExtension: false).absoluteString)
            return try await site.reports()
        }

        @Test("Real pages, whose requests are redirected to mirrors by rules")
        func rules() async throws {
            let without = try await reports(prefix: "") { _ in [] }
            let with = try await reports(prefix: "") { cache in
                Ruleset(cache.substitutions) { _ in nil }.rules.map(\.filter.regularExpression)
            }
            try Repository.compare(
                KindsSite.table(without: without, with: with),
                withFixture: "SubstituteTests/Fixtures/WebKitGTK-rules.txt"
            )
        }

        @Test("Mirror pages")
        func mirrors() async throws {
            let without = try await reports(prefix: "") { _ in [] }
            let with = try await reports(prefix: MirrorURL.prefix) { _ in [] }
            try Repository.compare(
                KindsSite.table(without: without, with: with),
                withFixture: "SubstituteTests/Fixtures/WebKitGTK-mirror.txt"
            )
        }
    }
}

extension WebKitTests {
    /// Tests of the page that `.ci/apple` shows on a Mac.
    @Suite("Nine kinds of what a page loads")
    struct NineKindsTests {
        @Test("Who answers, on the page's own origin and as a mirror")
        func kinds() async throws {
            let fixtures = Repository.folder.appendingPathComponent("Tests/LocalSubstitutionWebViewsTests/Fixtures")
            let kinds = try NineKinds(fixtures: fixtures)
            let cache = try SubstitutionCache(manifest: kinds.folder.url.appendingPathComponent("manifest.json"))
            let authority = String(kinds.server.url.absoluteString.dropFirst("http://".count))
            var text = ""
            let pages = [
                (Way.rules, "With rules", kinds.page), (.mirror, "As a mirror", kinds.page),
                (.mirror, "As a mirror that names the mirror of the other scheme", kinds.schemes),
            ]
            for (way, title, page) in pages {
                kinds.server.forgetRequests()
                let browser = try await way.browser(cache, forwardingTo: [authority])
                try await browser.load(way.address(of: page.absoluteString))
                var answers = ""
                for _ in 0..<150 where !answers.contains("; ") {
                    try await Task.sleep(nanoseconds: 100_000_000)
                    answers = try await browser.evaluate("return document.title")
                }
                let requests = kinds.requests.isEmpty ? "nothing" : kinds.requests.joined(separator: " ")
                text += "\(title)\n\(answers)\nreached the server beside the page: \(requests)\n\n"
            }
            try Repository.compare(text, withFixture: "LocalSubstitutionWebViewsTests/Fixtures/Nine-WebKitGTK.txt")
        }
    }
}
