// Foundation on Linux makes the configuration of `URLSession.shared` once; Apple's session asks `URLCache.shared`
// itself.
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking

/// The cache of `URLSession.shared` on Linux: passes everything on to the installed ``LocalSubstitutionCache``.
///
/// That session reads its configuration without a lock whenever a load begins. So the configuration is written once, by
/// the first ``LocalSubstitutionCache/install(archive:)``, and what is installed later is looked up here.
// Foundation's URLCache is safe to share, and this subclass only adds a `let`.
final class SharedSessionCache: URLCache, @unchecked Sendable {
    /// What the session had before; nil for none.
    private let previous: URLCache?

    private init(insteadOf previous: URLCache?) {
        self.previous = previous
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
    }

    /// Makes `URLSession.shared` ask what is installed; writes nothing that is there already.
    ///
    /// The caller sees to it that this runs once at a time.
    static func install() {
        let configuration = URLSession.shared.configuration
        if !(configuration.urlCache is SharedSessionCache) {
            let previous = configuration.urlCache
            let stock = (previous as? LocalSubstitutionCache)?.predecessor ?? previous
            configuration.urlCache = SharedSessionCache(insteadOf: stock)
        }
        URLSession.shared.useSubstitutions()
    }

    private var target: URLCache? { Installation.current?.cache ?? previous }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        target?.cachedResponse(for: request)
    }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let target else { return completionHandler(nil) }
        target.getCachedResponse(for: dataTask, completionHandler: completionHandler)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        target?.storeCachedResponse(cachedResponse, for: request)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        target?.storeCachedResponse(cachedResponse, for: dataTask)
    }

    override func removeCachedResponse(for request: URLRequest) { target?.removeCachedResponse(for: request) }

    override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        target?.removeCachedResponse(for: dataTask)
    }

    override func removeCachedResponses(since date: Date) { target?.removeCachedResponses(since: date) }

    override func removeAllCachedResponses() { target?.removeAllCachedResponses() }

    override var memoryCapacity: Int {
        get { target?.memoryCapacity ?? 0 }
        set { target?.memoryCapacity = newValue }
    }

    override var diskCapacity: Int {
        get { target?.diskCapacity ?? 0 }
        set { target?.diskCapacity = newValue }
    }

    override var currentMemoryUsage: Int { target?.currentMemoryUsage ?? 0 }

    override var currentDiskUsage: Int { target?.currentDiskUsage ?? 0 }
}
#endif
