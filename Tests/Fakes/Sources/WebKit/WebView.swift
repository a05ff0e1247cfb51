// The declarations here are documented by Apple.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@MainActor
public final class WKWebViewConfiguration: NSObject {
    public lazy var websiteDataStore = WKWebsiteDataStore.nonPersistent()
    public weak var webExtensionController: WKWebExtensionController?
    private var handlers: [String: any WKURLSchemeHandler] = [:]

    public func setURLSchemeHandler(_ handler: (any WKURLSchemeHandler)?, forURLScheme scheme: String) {
        if WKWebView.handlesURLScheme(scheme) {
            fatalError("'\(scheme)' is a URL scheme that WKWebView handles natively")
        }
        if handlers[scheme.lowercased()] != nil {
            fatalError("URL scheme '\(scheme)' already has a registered URL scheme handler")
        }
        handlers[scheme.lowercased()] = handler
    }

    public func urlSchemeHandler(forURLScheme scheme: String) -> (any WKURLSchemeHandler)? {
        handlers[scheme.lowercased()]
    }

    fileprivate func copied() -> WKWebViewConfiguration {
        let copy = WKWebViewConfiguration()
        copy.handlers = handlers
        copy.websiteDataStore = websiteDataStore
        copy.webExtensionController = webExtensionController
        return copy
    }
}

@MainActor
public final class WKWebView: NSObject {
    public let configuration: WKWebViewConfiguration

    public init(frame: CGRect, configuration: WKWebViewConfiguration) {
        // WebKit copies the configuration.
        self.configuration = configuration.copied()
        super.init()
        configuration.webExtensionController?.add(self)
    }

    public nonisolated static func handlesURLScheme(_ scheme: String) -> Bool {
        ["http", "https", "file", "ftp", "data", "blob", "about", "ws", "wss"].contains(scheme.lowercased())
    }

    /// Starts a load as a page would, and calls the handler of the request's scheme.
    public func start(_ request: URLRequest) -> FakeTask? {
        let scheme = request.url?.scheme ?? ""
        guard let handler = configuration.urlSchemeHandler(forURLScheme: scheme) else { return nil }
        let task = FakeTask(request)
        handler.webView(self, start: task)
        return task
    }

    /// Ends a load as a navigation does: stops the task, and then calls the handler of the task's scheme.
    public func stop(_ task: FakeTask) {
        guard !task.hasEnded, let scheme = task.request.url?.scheme else { return }
        task.stop()
        configuration.urlSchemeHandler(forURLScheme: scheme)?.webView(self, stop: task)
    }

    /// The title that the last page's script has set.
    public private(set) var title: String?
    public var isLoading: Bool { false }

    /// Loads the script in the page's first `src` attribute, and runs the script if it sets a title.
    ///
    /// The rules of extensions may redirect the script's URL.
    public func loadSimulatedRequest(_ request: URLRequest, response: URLResponse, responseData: Data) {
        title = ""
        let parts = String(decoding: responseData, as: UTF8.self).components(separatedBy: "src=\"")
        guard parts.count > 1, let address = parts[1].components(separatedBy: "\"").first else { return }
        let target = configuration.webExtensionController?.target(of: address, in: self) ?? address
        guard let url = URL(string: target) else { return }
        var script = URLRequest(url: url)
        script.mainDocumentURL = response.url
        guard let task = start(script), task.head?.statusCode == 200 else { return }
        let text = String(decoding: task.body, as: UTF8.self).components(separatedBy: "\"")
        if text.first == "document.title = ", text.count > 1 { title = text[1] }
    }
}

@MainActor
public final class WKWebsiteDataStore: NSObject {
    public let httpCookieStore = WKHTTPCookieStore()
    public static func nonPersistent() -> WKWebsiteDataStore { WKWebsiteDataStore() }
}

@MainActor
public final class WKHTTPCookieStore: NSObject {
    private var cookies: [HTTPCookie] = []

    public func getAllCookies(_ completionHandler: @escaping @MainActor @Sendable ([HTTPCookie]) -> Void) {
        Task { completionHandler(cookies) }
    }

    public func setCookie(_ cookie: HTTPCookie, completionHandler: (@MainActor @Sendable () -> Void)? = nil) {
        cookies = cookies.filter { $0.name != cookie.name || $0.domain != cookie.domain } + [cookie]
        if let completionHandler { Task { completionHandler() } }
    }

    public func delete(_ cookie: HTTPCookie, completionHandler: (@MainActor @Sendable () -> Void)? = nil) {
        cookies = cookies.filter { $0.name != cookie.name || $0.domain != cookie.domain }
        if let completionHandler { Task { completionHandler() } }
    }
}
