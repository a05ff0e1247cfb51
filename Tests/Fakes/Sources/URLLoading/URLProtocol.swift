// The declarations here are documented by Apple.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation
public import FoundationNetworking

/// An abstract class whose subclasses load requests and report events to a client (NSURLProtocol.h).
open class URLProtocol: NSObject {
    /// A copy of the request, as in the header: `@property (readonly, copy) NSURLRequest *request`.
    public let request: URLRequest
    public let client: (any URLProtocolClient)?
    /// The task of the load; nil only for a load without a task.
    public private(set) var task: URLSessionTask?

    public required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        (self.request, self.client) = (request, client)
    }

    public required convenience init(
        task: URLSessionTask,
        request: URLRequest,
        cachedResponse: CachedURLResponse?,
        client: (any URLProtocolClient)?
    ) {
        self.init(request: request, cachedResponse: cachedResponse, client: client)
        self.task = task
    }

    open class func canInit(with request: URLRequest) -> Bool { false }
    open class func canInit(with task: URLSessionTask) -> Bool { task.currentRequest.map(canInit) ?? false }
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    open func startLoading() {}
    open func stopLoading() {}

    // MARK: - Registered classes

    private static let lock = NSLock()
    private nonisolated(unsafe) static var classes: [URLProtocol.Type] = []

    /// The classes in reverse order of registration: NSURLProtocol.h says that they are consulted in this order.
    static var registered: [URLProtocol.Type] { lock.withLock { classes.reversed() } }

    open class func registerClass(_ protocolClass: AnyClass) -> Bool {
        guard let protocolClass = protocolClass as? URLProtocol.Type else { return false }
        lock.withLock { classes.append(protocolClass) }
        return true
    }

    open class func unregisterClass(_ protocolClass: AnyClass) {
        lock.withLock { classes.removeAll { $0 == protocolClass } }
    }

    // MARK: - Properties

    /// Sets a property, which survives copies of the request.
    ///
    /// In Foundation on Linux, properties do not survive copies. So here a header field carries each property, and the
    /// field is removed before the request is sent.
    open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
        request.setValue("\(value)", forHTTPHeaderField: prefix + key)
    }

    open class func property(forKey key: String, in request: URLRequest) -> Any? {
        request.value(forHTTPHeaderField: prefix + key)
    }

    open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
        request.setValue(nil, forHTTPHeaderField: prefix + key)
    }

    static let prefix = "Property-Of-Request-"
}

public protocol URLProtocolClient: NSObjectProtocol {
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
    func urlProtocol(
        _ protocol: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    )
    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
    func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
}
