// The declarations here are documented by Apple.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// These types follow WebKit for SwiftUI.

public struct URLScheme: Hashable, Sendable {
    public let rawValue: String

    @MainActor
    public init?(_ rawValue: String) {
        if WKWebView.handlesURLScheme(rawValue) { return nil }
        self.rawValue = rawValue
    }
}

public enum URLSchemeTaskResult: Sendable {
    case response(URLResponse)
    case data(Data)
}

public protocol URLSchemeHandler {
    associatedtype TaskSequence: AsyncSequence<URLSchemeTaskResult, any Error>
    func reply(for request: URLRequest) -> TaskSequence
}

@MainActor
public final class WebPage {
    @MainActor
    public struct Configuration {
        public var urlSchemeHandlers: [URLScheme: any URLSchemeHandler] = [:]
        public var websiteDataStore = WKWebsiteDataStore.nonPersistent()
        public init() {}
    }
}
