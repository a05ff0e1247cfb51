import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import LocalSubstitutionCache

// Elsewhere the same page is shown by the package WebKitGTK.
#if canImport(WebKit) && !os(watchOS) && !os(tvOS)
import WebKit

/// Nine kinds of resources in the system's own web views: what `.ci/apple` prints.
@Suite("Nine kinds of what a page loads", .serialized)
@MainActor
struct NineKindsTests {
    /// Who answered each, and what reached the server; the page's title says it.
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
            fixtures: try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures/WebViews")
        )
        let manifest = kinds.folder.url.appendingPathComponent("manifest.json")
        let cache = try LocalSubstitutionCache(manifest: manifest)
        var text = ""
        if #available(iOS 18.4, macOS 15.4, visionOS 2.4, *) {
            let web = try await WebViewSubstitutions(cache)
            let configuration = WKWebViewConfiguration()
            web.attach(to: configuration)
            text +=
                "With rules (active: \(web.isActive))\n" + (try await show(kinds, kinds.page, in: configuration)) + "\n"
        }
        let configuration = WKWebViewConfiguration()
        configuration.useSubstitutions(
            cache,
            forwardingTo: [kinds.server.url.absoluteString.replacingOccurrences(of: "http://", with: "")]
        )
        text += "As a mirror\n" + (try await show(kinds, cache.mirror(of: kinds.page), in: configuration))
        try compare(text, withFixture: "WebViews/Nine-\(Platform.name).txt")
    }
}
#endif
