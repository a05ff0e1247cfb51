// Declarations of WebKit that an older SDK lacks, for .ci/typecheck-apple. Names, types and availability are those of
// Apple's documentation. This code is only compiled, and never runs.
// https://developer.apple.com/documentation/webkit
public import Foundation
public import WebKit

@available(iOS 18.4, macOS 15.4, visionOS 2.4, *)
@MainActor
class WKWebExtension: NSObject {
    struct Permission: Hashable, Sendable {
        static let declarativeNetRequestWithHostAccess = Permission()
    }
    @MainActor
    class MatchPattern: NSObject {
        class func allURLs() -> MatchPattern { MatchPattern() }
    }
    init(resourceBaseURL: URL) async throws {}
}

@available(iOS 18.4, macOS 15.4, visionOS 2.4, *)
@MainActor
class WKWebExtensionContext: NSObject {
    enum PermissionStatus: Int { case grantedExplicitly = 3 }
    init(for: WKWebExtension) {}
    var hasAccessToPrivateData: Bool {
        get { false }
        set {}
    }
    func setPermissionStatus(_ status: PermissionStatus, for permission: WKWebExtension.Permission) {}
    func setPermissionStatus(_ status: PermissionStatus, for pattern: WKWebExtension.MatchPattern) {}
}

@available(iOS 18.4, macOS 15.4, visionOS 2.4, *)
@MainActor
public class WKWebExtensionController: NSObject {
    @MainActor
    class Configuration: NSObject {
        class func nonPersistent() -> Self { fatalError() }
    }
    init(configuration: Configuration) {}
    func load(_ context: WKWebExtensionContext) throws {}
}

extension WKWebViewConfiguration {
    @available(iOS 18.4, macOS 15.4, visionOS 2.4, *)
    var webExtensionController: WKWebExtensionController? {
        get { nil }
        set {}
    }
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
public struct URLScheme: Hashable, Sendable {
    @MainActor public init?(_ rawValue: String) { nil }
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
public enum URLSchemeTaskResult: Sendable {
    case response(URLResponse)
    case data(Data)
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
public protocol URLSchemeHandler {
    associatedtype TaskSequence: AsyncSequence where TaskSequence.Element == URLSchemeTaskResult
    func reply(for request: URLRequest) -> TaskSequence
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@MainActor
public final class WebPage {
    @MainActor
    public struct Configuration {
        public var urlSchemeHandlers: [URLScheme: any URLSchemeHandler]
        public var websiteDataStore: WKWebsiteDataStore
    }
}
