import TestSupport
import Testing
import WebKit

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews

extension InstalledTests {
    @Suite("Real pages in web views", .timeLimit(.minutes(5)))
    @MainActor
    struct WebViewSubstitutionsTests {
        private let configuration = WKWebViewConfiguration()

        /// Compiles the rules of a cache, which the fake applies after `pages` pages, or never.
        private func compile(after pages: Int?, reachesLaterViews: Bool = true) async throws -> WebViewSubstitutions {
            WKWebExtensionController.pagesBeforeRules = pages
            WKWebExtensionController.reachesLaterViews = reachesLaterViews
            let web = try await WebViewSubstitutions(try Views().cache)
            web.attach(to: configuration)
            return web
        }

        @Test(
            "Requests of real pages are redirected to the bundle, and answered with the original URL",
            arguments: [0, 5]
        )
        func active(pages: Int) async throws {
            let web = try await compile(after: pages)
            #expect(web.isActive && configuration.webExtensionController === web.controller)
            let view = WKWebView(frame: .zero, configuration: configuration)
            let task = try #require(view.start(Views.request("substitution-https://h/small", from: "https://h/page")))
            #expect(task.body.count == 10 && task.head?.url?.absoluteString == "https://h/small")
            #expect(task.head?.value(forHTTPHeaderField: "Access-Control-Allow-Origin") == "https://h")
        }

        @Test("If rules reach no view, or only the first one, real pages stay on the network", arguments: [nil, 1])
        func inactive(pages: Int?) async throws {
            let web = try await compile(after: pages, reachesLaterViews: false)
            #expect(!web.isActive && configuration.webExtensionController == nil)
            // Mirrors need no rules.
            #expect(configuration.urlSchemeHandler(forURLScheme: "substitution-https") != nil)
        }

        @Test("Cancelling the initialiser does not release rules while they load")
        func cancelled() async throws {
            WKWebExtensionController.pagesBeforeRules = nil
            let cache = try Views().cache
            let making = Task { try await WebViewSubstitutions(cache) }
            try await Task.sleep(nanoseconds: 50_000_000)
            making.cancel()
            await #expect(throws: CancellationError.self) { try await making.value }
        }
    }
}
