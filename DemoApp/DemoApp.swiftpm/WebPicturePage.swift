import LocalSubstitutionCache
import LocalSubstitutionWebViews
import SwiftUI
import WebKit

/// A page with the pictures in a web view: the mirror of a page that no server has.
struct WebPicturePage: UIViewRepresentable {
    let cache: LocalSubstitutionCache

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
