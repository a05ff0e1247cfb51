import Foundation
import TestSupport
import Testing

@testable import Browser
@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

extension WebKitTests {
    /// Tests of a site with rules for the URLs of its pages.
    ///
    /// A web extension for browsers has no such rules.
    @Suite("Service workers and rules", .serialized)
    struct ServiceWorkerTests {
        @Test("A site whose service worker caches its pages opens every time, although its pages have rules")
        func keeping() async throws {
            let folder = try TemporaryFolder()
            let site = try KeepingSite(in: folder)
            defer { site.stop() }
            let manifest = folder.url.appendingPathComponent("Substitutions/manifest.json")
            let cache = try SubstitutionCache(manifest: manifest)
            #expect(Ruleset(cache.substitutions) { _ in nil }.rules.contains { $0.filter.start == site.address })
            let browser = try await Way.rules.browser(cache, forwardingTo: [])
            let open = {
                try await browser.load(site.address)
                var state = ""
                for _ in 0..<300 where state.isEmpty {
                    try await Task.sleep(nanoseconds: 100_000_000)
                    state = try await browser.evaluate(KeepingSite.state)
                }
                return state
            }
            let parts = "style bundle, pictures bundle bundle bundle, script bundle"
            #expect(try await open() == "page network, \(parts), without its worker")
            for _ in 0..<2 { #expect(try await open() == "page network, \(parts), with its worker") }
            // In WebKit, the response from the app's file does not count as redirected. A service worker can therefore
            // cache it and answer with it.
            let keep = """
                const answer = await fetch("/");
                const isRedirected = answer.redirected;
                await (await caches.open("v1")).put("/", answer);
                return isRedirected;
                """
            #expect(try await browser.evaluate(keep) == "false")
            for _ in 0..<2 { #expect(try await open() == "page bundle, \(parts), with its worker") }
        }
    }
}
