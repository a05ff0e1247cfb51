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
        private func reports(
            prefix: String,
            expressions: (SubstitutionCache) -> [String]
        ) async throws -> [KindsSite.Report] {
            let folder = try TemporaryFolder()
            let site = try await KindsSite(in: folder, domain: "localhost", prefix: prefix)
            defer { site.stop() }
            let cache = try SubstitutionCache(manifest: folder.url.appendingPathComponent("manifest.json"))
            let hosts = Set(site.bases.compactMap { WebOrigin($0)?.authority })
            let server = SchemeServer(cache, forwardingTo: prefix.isEmpty ? [] : hosts)
            let cookies = PageCookies([])
            let browser = try await Browser(expressions: expressions(cache)) { server.reply(to: $0) { cookies } }
            try await browser.begin(site.start(withExtension: false).absoluteString)
            return try await site.reports()
        }

        @Test("Real pages, whose requests are redirected to mirrors by rules, and mirror pages")
        func kinds() async throws {
            let without = try await reports(prefix: "") { _ in [] }
            let rules = try await reports(prefix: "") { cache in
                Ruleset(cache.substitutions) { _ in nil }.rules.map(\.filter.regularExpression)
            }
            let mirrors = try await reports(prefix: MirrorURL.prefix) { _ in [] }
            for (name, with) in [("rules", rules), ("mirror", mirrors)] {
                let table = KindsSite.table(without: without, with: with)
                try Repository.compare(table, withFixture: "SubstituteTests/Fixtures/WebKitGTK-\(name).txt")
            }
        }

        /// The page is the one that `.ci/apple` shows on a Mac.
        @Test("Nine kinds of what a page loads, on the page's own origin and as a mirror")
        func nine() async throws {
            let fixtures = Repository.folder.appendingPathComponent("Tests/LocalSubstitutionWebViewsTests/Fixtures")
            let kinds = try NineKinds(fixtures: fixtures)
            let cache = try SubstitutionCache(manifest: kinds.folder.url.appendingPathComponent("manifest.json"))
            var text = ""
            let pages = [
                (Way.rules, "With rules", kinds.page), (.mirror, "As a mirror", kinds.page),
                (.mirror, "As a mirror that names the mirror of the other scheme", kinds.schemes),
            ]
            for (way, title, page) in pages {
                kinds.server.forgetRequests()
                let browser = try await way.browser(cache, forwardingTo: [kinds.server.url.absoluteString])
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
