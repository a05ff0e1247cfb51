import LoopbackServer
import TestSupport
import Testing
import WebKit

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

extension InstalledTests {
    @Suite("Real pages in web views", .realNetwork, .timeLimit(.minutes(5)))
    @MainActor
    struct WebViewSubstitutionsTests {
        init() {
            WKWebExtensionController.pagesBeforeRules = 0
            WKWebExtensionController.reachesLaterViews = true
        }

        @Test(
            "Requests of real pages are redirected to the bundle, and answered with the original URL",
            arguments: [0, 5]
        )
        func active(pages: Int) async throws {
            WKWebExtensionController.pagesBeforeRules = pages
            let views = try Views()
            let web = try await WebViewSubstitutions(views.cache)
            #expect(web.isActive)
            let configuration = WKWebViewConfiguration()
            web.attach(to: configuration)
            #expect(configuration.webExtensionController === web.controller)
            let view = WKWebView(frame: .zero, configuration: configuration)
            let task = try #require(view.start(Views.request("substitution-https://h/small", from: "https://h/page")))
            #expect(task.body.count == 10 && task.head?.url?.absoluteString == "https://h/small")
            #expect(task.head?.value(forHTTPHeaderField: "Access-Control-Allow-Origin") == "https://h")
        }

        @Test("Rules that reach only the first view do not count as active")
        func firstOnly() async throws {
            WKWebExtensionController.pagesBeforeRules = 1
            WKWebExtensionController.reachesLaterViews = false
            #expect(!(try await WebViewSubstitutions(try Views().cache).isActive))
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

        @Test("If rules are not applied, real pages stay on the network")
        func inactive() async throws {
            WKWebExtensionController.pagesBeforeRules = nil
            let web = try await WebViewSubstitutions(try Views().cache)
            #expect(!web.isActive)
            let configuration = WKWebViewConfiguration()
            web.attach(to: configuration)
            #expect(configuration.webExtensionController == nil)
            // Mirrors need no rules.
            #expect(configuration.urlSchemeHandler(forURLScheme: "substitution-https") != nil)
        }

        @Test("Two caches in one process do not share rules")
        func two() async throws {
            let (first, second) = (try Views(), try Views(and: #", "https://other/": "f/""#))
            let webs = [try await WebViewSubstitutions(first.cache), try await WebViewSubstitutions(second.cache)]
            #expect(webs.allSatisfy(\.isActive) && webs[0].controller !== webs[1].controller)
        }

        @Test("Pages of SwiftUI receive the same responses")
        func pages() async throws {
            let views = try Views()
            var configuration = WebPage.Configuration()
            configuration.serveMirrors(from: views.cache)
            configuration.serveMirrors(from: try Views().cache)
            #expect(configuration.urlSchemeHandlers.count == 2)
            let scheme = try #require(URLScheme("substitution-https"))
            let handler = try #require(configuration.urlSchemeHandlers[scheme])
            #expect(
                try await events(of: handler, Views.request("substitution-https://h/huge"))
                    == "200 1048576 1048576 1048576"
            )
            #expect(try await events(of: handler, Views.request("substitution-https://h/missing")).hasPrefix("404 "))
        }

        @Test("Requests forwarded for pages of SwiftUI carry the cookies of their store")
        func cookies() async throws {
            let server = try LoopbackServer { request in
                .init(headers: ["Set-Cookie": "b=2; Path=/"], body: Data((request.headers["cookie"] ?? "-").utf8))
            }
            defer { server.stop() }
            var configuration = WebPage.Configuration()
            configuration.websiteDataStore = .nonPersistent()
            let store = configuration.websiteDataStore.httpCookieStore
            store.setCookie(try Views.cookie())
            let authority = String(server.url.absoluteString.dropFirst("http://".count))
            configuration.serveMirrors(from: try Views().cache, forwardingTo: [authority])
            let scheme = try #require(URLScheme("substitution-http"))
            let handler = try #require(configuration.urlSchemeHandlers[scheme])
            let mirror = "substitution-\(server.url.absoluteString)"
            #expect(try await events(of: handler, Views.request(mirror + "/x", from: mirror + "/")) == "200 3")
            #expect(await Views.names(in: store) == ["a", "b"])
        }

        private func events(of handler: some URLSchemeHandler, _ request: URLRequest) async throws -> String {
            var events: [String] = []
            for try await result in handler.reply(for: request) {
                switch result {
                case .response(let response): events.append("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
                case .data(let data): events.append("\(data.count)")
                }
            }
            return events.joined(separator: " ")
        }
    }
}
