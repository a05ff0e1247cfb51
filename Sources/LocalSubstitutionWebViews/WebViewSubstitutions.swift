// This code has not run on an Apple platform yet. It is typechecked, and runs on Linux against a fake WebKit. Some
// SDKs for tvOS and watchOS have a module named WebKit, but no web views.
#if canImport(WebKit) && !os(watchOS) && !os(tvOS)
public import LocalSubstitutionArchive
public import LocalSubstitutionCache
import SubstitutionRules
public import WebKit

/// Substitutions in web views for real pages, which keep their own http or https origin.
///
/// ```swift
/// let web = try await WebViewSubstitutions(cache)
/// web.attach(to: configuration)
/// let webView = WKWebView(frame: .zero, configuration: configuration)
/// ```
///
/// The app's files replace images, styles, fonts, scripts and the resources that scripts load. Pages and frames
/// themselves are loaded from the network. The rules are compiled once, so create a new instance after
/// ``SubstitutionCache/reload()``. <doc:WebViews> lists what works on which system. This class has not been run on
/// Apple's platforms.
@available(iOS 18.4, macOS 15.4, visionOS 2.4, *)
@MainActor
public final class WebViewSubstitutions {
    /// The extension controller to set in a `WebPage.Configuration`.
    ///
    /// Call `serveMirrors(from:)` on that configuration, too.
    public let controller = WKWebExtensionController(configuration: .nonPersistent())
    /// A Boolean value that indicates whether test pages received their script from the app.
    ///
    /// If false, all requests go to the network. The test uses no network, so it cannot prove that WebKit treats a page
    /// from a server in the same way. According to WebKit's source code, WebKit does.
    public private(set) var isActive = false
    private let cache: SubstitutionCache

    /// Compiles the cache's substitutions to rules, and tests them.
    ///
    /// If WebKit does not apply the rules, the test takes up to two seconds. If WebKit applies the rules to some views
    /// only, the test takes up to four seconds.
    ///
    /// - Throws: ``ManifestError`` if there are more rules than WebKit accepts. The system's error if the caches folder
    ///   cannot be written, or if WebKit refuses the rules. `CancellationError` if the task is cancelled meanwhile.
    public init(_ cache: SubstitutionCache) async throws {
        self.cache = cache
        let folder = try PageExtension(cache.substitutions, name: cache.currentTable.manifestName).write()
        let context = WKWebExtensionContext(for: try await WKWebExtension(resourceBaseURL: folder))
        context.setPermissionStatus(.grantedExplicitly, for: .declarativeNetRequestWithHostAccess)
        context.setPermissionStatus(.grantedExplicitly, for: .allURLs())
        context.hasAccessToPrivateData = true
        try controller.load(context)
        // WebKit bug 305585: WebKit crashes the process if rules are released while they load. So retain them for three
        // seconds.
        Task { [controller] in
            try? await Task.sleep(nanoseconds: 3_000_000_000)
            withExtendedLifetime(controller) {}
        }
        // WebKit bug 301720: WebKit may fail to attach rules to views that are created after the rules have been
        // compiled. An app creates such views. So test again: the second test creates its view late enough.
        if try await isMirrored() { isActive = try await isMirrored() }
    }

    /// Returns true if a page in a new view received its script from the app and ran it.
    ///
    /// The page is loaded by a simulated request. This load needs no network, and WebKit treats it much like the load
    /// of a real page. The page has an https origin and an entry in the history, and rules apply to its requests.
    ///
    /// The page is XHTML, so that it also loads in apps with `WKAppBoundDomains`. In such apps, WebKit limits simulated
    /// pages of `text/html` to these domains (`WebPageProxy.cpp`).
    private func isMirrored() async throws -> Bool {
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
        // WebKit attaches rules some time after it has loaded them. The rules do not apply to a page that was loaded
        // before WebKit attached them.
        for attempt in 0..<20 where view.title != PageProbe.title {
            // Do not load the page at each attempt: a new load would cancel the previous one, which a slow device may
            // not have finished.
            if attempt % 5 == 0 || !view.isLoading {
                view.loadSimulatedRequest(URLRequest(url: url), response: response, responseData: PageProbe.body)
            }
            try await Task.sleep(nanoseconds: 100_000_000)
        }
        return view.title == PageProbe.title
    }

    /// Lets pages in the views of a configuration use the app's files.
    ///
    /// Call this before you create a view, because a view copies its configuration. If mirror pages are to load
    /// unmapped URLs from the network, call `serveMirrors(from:forwardingTo:)` on the configuration first.
    public func attach(to configuration: WKWebViewConfiguration) {
        configuration.serveMirrors(from: cache)
        if isActive { configuration.webExtensionController = controller }
    }
}

@MainActor
extension WKWebViewConfiguration {
    /// Lets views load the URLs that ``SubstitutionCache/mirror(of:)`` returns.
    ///
    /// Call this before you create a view, because a view copies its configuration. A second call has no effect.
    ///
    /// - Parameters:
    ///   - cache: The cache whose files answer.
    ///   - hosts: The hosts from which mirror pages may load URLs that no file answers, each as `host`, `host:port` or
    ///     a URL.
    ///   - archive: The archive that keeps the responses of these hosts. Without a connection, it answers in their
    ///     place, so a page that was shown once is shown again. It follows the archive's own rules: it keeps nothing of
    ///     a request with cookies, unless the host is one of its `hostsWithCredentials`.
    public func serveMirrors(
        from cache: SubstitutionCache,
        forwardingTo hosts: Set<String> = [],
        archive: OfflineArchive? = nil
    ) {
        register(SchemeHandler(SchemeServer(cache, forwardingTo: hosts, archive: archive)))
    }

    /// Registers a handler for each mirror scheme that has none.
    ///
    /// WebKit crashes the process if a scheme gets a second handler.
    fileprivate func register(_ handler: SchemeHandler) {
        for scheme in MirrorURL.schemes where urlSchemeHandler(forURLScheme: scheme) == nil {
            setURLSchemeHandler(handler, forURLScheme: scheme)
        }
    }
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(macCatalyst, unavailable)
extension WebPage.Configuration {
    /// Lets pages in SwiftUI load mirrors.
    ///
    /// Set `websiteDataStore` before this call: cookies of that store are sent when URLs are loaded from the network.
    public mutating func serveMirrors(
        from cache: SubstitutionCache,
        forwardingTo hosts: Set<String> = [],
        archive: OfflineArchive? = nil
    ) {
        let server = SchemeServer(cache, forwardingTo: hosts, archive: archive)
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
