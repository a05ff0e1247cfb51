// Not run on Apple's platforms yet: typechecked, and run on Linux against a fake of WebKit. tvOS and watchOS have a
// module of this name in some SDKs, and no web views.
#if canImport(WebKit) && !os(watchOS) && !os(tvOS)
public import LocalSubstitutionCache
import SubstitutionRules
public import WebKit

/// Real pages in web views, on their own https origin, with the files of a cache.
///
/// ```swift
/// let web = try await WebViewSubstitutions(cache)
/// web.attach(to: configuration)
/// let webView = WKWebView(frame: .zero, configuration: configuration)
/// ```
///
/// Pictures, styles, fonts, scripts and what scripts load come from the bundle; pages and frames from the network. The
/// rules are made once: after ``LocalSubstitutionCache/reload()`` make another. <doc:WebViews> says what works where.
/// Not run on Apple's platforms by its authors.
@available(iOS 18.4, macOS 15.4, visionOS 2.4, *)
@MainActor
public final class WebViewSubstitutions {
    /// For `WebPage.Configuration`, whose `serveMirrors(from:)` is needed, too.
    public let controller = WKWebExtensionController(configuration: .nonPersistent())
    /// True when pages that were loaded for a test got their script from the app; if false, everything stays on the
    /// network.
    ///
    /// The test needs no network, so it cannot know whether WebKit treats a page of a server alike; by WebKit's source
    /// it does.
    public private(set) var isActive = false
    private let cache: LocalSubstitutionCache

    /// Compiles what is mapped to rules, and tries them; takes up to two seconds where they are not applied, and up to
    /// four where they are applied to some views only.
    ///
    /// - Throws: ``ManifestError`` for more rules than WebKit takes, the system's error when the folder of caches
    ///   cannot be written or WebKit refuses the rules, and `CancellationError` when the task is cancelled meanwhile.
    public init(_ cache: LocalSubstitutionCache) async throws {
        self.cache = cache
        let folder = try PageExtension(cache.substitutions, name: cache.manifestName).write()
        let context = WKWebExtensionContext(for: try await WKWebExtension(resourceBaseURL: folder))
        context.setPermissionStatus(.grantedExplicitly, for: .declarativeNetRequestWithHostAccess)
        context.setPermissionStatus(.grantedExplicitly, for: .allURLs())
        context.hasAccessToPrivateData = true
        try controller.load(context)
        // WebKit 305585: it ends the process when rules are let go while they load.
        Task { [controller] in
            try? await Task.sleep(nanoseconds: 3_000_000_000)
            withExtendedLifetime(controller) {}
        }
        // WebKit 301720: it may attach rules only to views that are there when they were compiled. An app's come later,
        // and so does the second one here.
        if try await isLed() { isActive = try await isLed() }
    }

    /// Returns whether a script of a page in a new view came from the app, and ran.
    ///
    /// The page comes as a simulated request: of what needs no network, WebKit treats that most like a real page. It
    /// has an https origin and a place in the history, and rules are applied to what it loads. As XHTML it is loaded
    /// also in apps with `WKAppBoundDomains`, where WebKit limits simulated pages of `text/html` to these domains
    /// (`WebPageProxy.cpp`).
    private func isLed() async throws -> Bool {
        let configuration = WKWebViewConfiguration()
        configuration.websiteDataStore = .nonPersistent()
        configuration.register(SchemeHandler(SchemeServer(cache)))
        configuration.webExtensionController = controller
        let view = WKWebView(frame: .zero, configuration: configuration)
        guard let url = URL(string: PageProbe.page) else { return false }
        let response = URLResponse(
            url: url,
            mimeType: "application/xhtml+xml",
            expectedContentLength: PageProbe.body.count,
            textEncodingName: "utf-8"
        )
        // Rules are attached some time after they were loaded, and only to pages that are loaded after that.
        for attempt in 0..<20 where view.title != PageProbe.title {
            // A new load cancels one that a slow device has not finished.
            if attempt % 5 == 0 || !view.isLoading {
                view.loadSimulatedRequest(URLRequest(url: url), response: response, responseData: PageProbe.body)
            }
            try await Task.sleep(nanoseconds: 100_000_000)
        }
        return view.title == PageProbe.title
    }

    /// Lets the pages of a configuration's views have the files.
    ///
    /// Before a view is made of it, which copies it. Where mirrors are to be forwarded, too, call
    /// `serveMirrors(from:forwardingTo:)` on it first.
    public func attach(to configuration: WKWebViewConfiguration) {
        configuration.serveMirrors(from: cache)
        if isActive { configuration.webExtensionController = controller }
    }
}

@MainActor
extension WKWebViewConfiguration {
    /// Lets views show mirrors, as ``LocalSubstitutionCache/mirror(of:)`` names them.
    ///
    /// Before a view is made of it, which copies it; a second call has no effect.
    ///
    /// - Parameters:
    ///   - cache: What is mapped.
    ///   - hosts: `host` or `host:port` of each site of which mirror pages get from the network what is not mapped.
    public func serveMirrors(from cache: LocalSubstitutionCache, forwardingTo hosts: Set<String> = []) {
        register(SchemeHandler(SchemeServer(cache, forwardingTo: hosts)))
    }

    /// WebKit ends the process for a scheme that has a handler already.
    fileprivate func register(_ handler: SchemeHandler) {
        for scheme in MirrorURL.schemes where urlSchemeHandler(forURLScheme: scheme) == nil {
            setURLSchemeHandler(handler, forURLScheme: scheme)
        }
    }
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(macCatalyst, unavailable)
extension WebPage.Configuration {
    /// The same for pages of SwiftUI; after `websiteDataStore` was set, whose cookies go along.
    public mutating func serveMirrors(from cache: LocalSubstitutionCache, forwardingTo hosts: Set<String> = []) {
        let server = SchemeServer(cache, forwardingTo: hosts)
        let handler = PageSchemeHandler(server: server, store: CookieStore(websiteDataStore))
        for scheme in MirrorURL.schemes.compactMap({ URLScheme($0) }) where urlSchemeHandlers[scheme] == nil {
            urlSchemeHandlers[scheme] = handler
        }
    }
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(macCatalyst, unavailable)
private struct PageSchemeHandler: URLSchemeHandler {
    let server: SchemeServer
    let store: CookieStore

    func reply(for request: URLRequest) -> AsyncMapSequence<SchemeReply, URLSchemeTaskResult> {
        server.reply(to: request) { await store.cookies() }.map { element in
            switch element {
            case .response(let response): URLSchemeTaskResult.response(response)
            case .data(let data): .data(data)
            }
        }
    }
}
#endif
