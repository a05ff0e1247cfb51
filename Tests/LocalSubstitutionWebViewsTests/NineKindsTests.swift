import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import LocalSubstitutionCache
@testable import LocalSubstitutionWebViews
@testable import SubstitutionRules

// Only these platforms have WKWebView. On Linux the package WebKitGTK shows the same page.
#if canImport(WebKit) && !os(watchOS) && !os(tvOS)
import WebKit

/// Nine kinds of resources in the system's own web views; `.ci/apple` prints the results.
@Suite("Nine kinds of what a page loads", .serialized)
@MainActor
struct NineKindsTests {
    /// Loads a page, and returns its title and the requests that reached the server.
    ///
    /// The title names the source of each kind of resource: the network or the bundle.
    private func show(_ kinds: NineKinds, _ page: URL, in configuration: WKWebViewConfiguration) async throws -> String
    {
        kinds.server.forgetRequests()
        let view = WKWebView(frame: CGRect(x: 0, y: 0, width: 600, height: 400), configuration: configuration)
        view.load(URLRequest(url: page))
        for _ in 0..<150 where !(view.title ?? "").contains("; ") { try await Task.sleep(nanoseconds: 100_000_000) }
        let requests = kinds.requests.isEmpty ? "nothing" : kinds.requests.joined(separator: " ")
        return "\(view.title ?? "no title")\nreached the server beside the page: \(requests)\n"
    }

    private static let isAsked = ProcessInfo.processInfo.environment["UPDATE_GOLDEN_FILES"] != nil

    @Test("Who answers, on the page's own origin and as a mirror", .enabled(if: isAsked, ".ci/apple asks for it"))
    func kinds() async throws {
        let kinds = try NineKinds(
            fixtures: try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures")
        )
        let manifest = kinds.folder.url.appendingPathComponent("manifest.json")
        let cache = try SubstitutionCache(manifest: manifest)
        var text = ""
        if #available(iOS 18.4, macOS 15.4, visionOS 2.4, *) {
            let web = try await WebViewSubstitutions(cache)
            let configuration = WKWebViewConfiguration()
            web.attach(to: configuration)
            let answers = try await show(kinds, kinds.page, in: configuration)
            // `isActive` says whether the library's test pages received their script from the app. Those pages do not
            // come from a server, but this page does. So check that `isActive` is right for this page, too.
            let isRight = web.isActive == answers.contains("script: bundle")
            text +=
                "With rules (isActive: \(web.isActive), and for a page of a server that is \(isRight ? "right" : "WRONG"))\n"
            text += answers + "\n"
        }
        for (title, page) in [
            ("As a mirror", kinds.page), ("\nAs a mirror that names the mirror of the other scheme", kinds.schemes),
        ] {
            let configuration = WKWebViewConfiguration()
            let authority = kinds.server.url.absoluteString.replacingOccurrences(of: "http://", with: "")
            configuration.serveMirrors(from: cache, forwardingTo: [authority])
            text += "\(title)\n" + (try await show(kinds, cache.mirror(of: page), in: configuration))
        }
        try Repository.compare(text, withFixture: "LocalSubstitutionWebViewsTests/Fixtures/Nine-\(Platform.name).txt")
    }
}
#endif
