import LocalSubstitutionCache
import LocalSubstitutionWebViews
import SwiftUI
import WebKit

/// A web view that shows the pictures in a page.
///
/// No server has this page. The view loads the page's mirror: the same URL with a custom scheme. The library answers
/// this URL from the app's files.
struct WebPicturePage: UIViewRepresentable {
    let cache: SubstitutionCache

    func makeUIView(context: Context) -> WKWebView {
        let configuration = WKWebViewConfiguration()
        configuration.serveMirrors(from: cache)
        let view = WKWebView(frame: .zero, configuration: configuration)
        if let page = URL(string: "https://pictures.invalid/") {
            view.load(URLRequest(url: cache.mirror(of: page)))
        }
        return view
    }

    func updateUIView(_ view: WKWebView, context: Context) {}
}
