// The declarations here are documented by Apple.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Foundation
public import FoundationNetworking

/// A cache that keeps nothing, with the members that the library overrides (NSURLCache.h).
open class URLCache: NSObject, @unchecked Sendable {
    public typealias StoragePolicy = FoundationNetworking.URLCache.StoragePolicy

    public nonisolated(unsafe) static var shared = URLCache(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)

    open var memoryCapacity: Int
    open var diskCapacity: Int

    public init(memoryCapacity: Int, diskCapacity: Int, diskPath: String?) {
        (self.memoryCapacity, self.diskCapacity) = (memoryCapacity, diskCapacity)
    }

    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? { nil }
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {}
    open func removeCachedResponse(for request: URLRequest) {}
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {}
    open func removeCachedResponse(for dataTask: URLSessionDataTask) {}
    open func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { completionHandler(nil) }
}
