// Apple documents what is declared here.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation
public import FoundationNetworking

/// What the library reads, writes and copies of a configuration (NSURLSession.h).
public final class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    public var protocolClasses: [AnyClass]? = []
    public var urlCache: URLCache? = URLCache.shared
    public var httpAdditionalHeaders: [AnyHashable: Any]?
    public var timeoutIntervalForRequest: TimeInterval = 60
    public var urlCredentialStorage: URLCredentialStorage?
    /// Whether a load without a connection waits for one, and does not fail.
    public var waitsForConnectivity = false

    public static var `default`: URLSessionConfiguration { URLSessionConfiguration() }

    public static var ephemeral: URLSessionConfiguration {
        let configuration = URLSessionConfiguration()
        configuration.urlCache = nil
        return configuration
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = URLSessionConfiguration()
        copy.protocolClasses = protocolClasses
        copy.urlCache = urlCache
        copy.httpAdditionalHeaders = httpAdditionalHeaders
        copy.timeoutIntervalForRequest = timeoutIntervalForRequest
        copy.urlCredentialStorage = urlCredentialStorage
        copy.waitsForConnectivity = waitsForConnectivity
        return copy
    }
}
