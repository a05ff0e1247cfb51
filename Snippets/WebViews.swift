// Without WebKit, and on watchOS and tvOS, there are no web views.
#if canImport(WebKit) && !os(watchOS) && !os(tvOS)
import Foundation
import LocalSubstitutionCache
import LocalSubstitutionWebViews
import WebKit

/// A web view that shows a page with the app's files.
@MainActor
enum WebViews {
    // snippet.real
    @available(iOS 18.4, macOS 15.4, visionOS 2.4, *)
    static func show(_ page: URL, _ cache: SubstitutionCache) async throws -> WKWebView {
        let web = try await WebViewSubstitutions(cache)
        let configuration = WKWebViewConfiguration()
        web.attach(to: configuration)
        let webView = WKWebView(frame: .zero, configuration: configuration)
        webView.load(URLRequest(url: page))
        return webView
    }

    // snippet.mirror
    static func showMirror(of page: URL, _ cache: SubstitutionCache) -> WKWebView {
        let configuration = WKWebViewConfiguration()
        configuration.serveMirrors(from: cache, forwardingTo: ["www.example.com"])
        let webView = WKWebView(frame: .zero, configuration: configuration)
        webView.load(URLRequest(url: cache.mirror(of: page)))
        return webView
    }
    // snippet.end
}
#endif

// Every snippet is built as a program, which needs an entry point.
@main
struct Nothing {
    static func main() {}
}
