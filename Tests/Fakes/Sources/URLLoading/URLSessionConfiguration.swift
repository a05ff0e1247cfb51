// The declarations here are documented by Apple.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation
public import FoundationNetworking

/// The properties of a configuration that the library reads, writes and copies (NSURLSession.h).
public final class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    public var protocolClasses: [AnyClass]? = []
    public var urlCache: URLCache? = URLCache.shared
    public var httpAdditionalHeaders: [AnyHashable: Any]?
    public var urlCredentialStorage: URLCredentialStorage?
    public var httpCookieStorage: HTTPCookieStorage?
    public var httpShouldSetCookies = true
    /// A Boolean value that indicates whether a load waits for a connection instead of failing.
    public var waitsForConnectivity = false

    public static var `default`: URLSessionConfiguration { URLSessionConfiguration() }

    public static var ephemeral: URLSessionConfiguration {
        let configuration = URLSessionConfiguration()
        configuration.urlCache = nil
        configuration.httpCookieStorage = FoundationNetworking.URLSessionConfiguration.ephemeral.httpCookieStorage
        return configuration
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = URLSessionConfiguration()
        copy.protocolClasses = protocolClasses
        copy.urlCache = urlCache
        copy.httpAdditionalHeaders = httpAdditionalHeaders
        copy.urlCredentialStorage = urlCredentialStorage
        copy.httpCookieStorage = httpCookieStorage
        copy.httpShouldSetCookies = httpShouldSetCookies
        copy.waitsForConnectivity = waitsForConnectivity
        return copy
    }
}
