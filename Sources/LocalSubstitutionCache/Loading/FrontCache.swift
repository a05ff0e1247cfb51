// Only Foundation on Linux consults a session's cache for a request that a protocol loads. On Linux,
// `URLSession.shared.configuration` is the object that the session itself uses; elsewhere it is a copy.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// A cache in front of a session's own cache, for a session that lists ``SubstitutionURLProtocol``.
///
/// Foundation consults this cache after `canInit(with:)` of the protocol has returned true. If a file answers, this
/// cache returns the response, which Foundation passes to the protocol as `cachedResponse`. The protocol then needs no
/// further lookup. In that case the session's own cache is not consulted. This saves work on disk, because the
/// session's own cache lists its folder whenever it has no response. All other calls are forwarded to the session's own
/// cache.
///
/// The instance in `URLSession.shared` forwards to the ``SubstitutionCache`` that the app has installed, whichever
/// that is at the time of the call. `URLSession.shared` reads its configuration without a lock whenever a load begins,
/// so this cache is put into the configuration once and then stays.
// Foundation's URLCache is thread-safe, and this subclass only adds constants.
final class FrontCache: URLCache, @unchecked Sendable {
    /// A file's response, handed to the protocol that loads one task.
    ///
    /// Any other protocol finds only an empty `URLResponse` in this object. Foundation's own protocol class uses only
    /// cached HTTP responses, so that class ignores this object.
    final class HandedOverResponse: CachedURLResponse, @unchecked Sendable {
        let answer: CachedURLResponse
        /// The observers of the load, and the row that answers; nil without observers.
        let observed: (by: RequestObservers, row: Row)?
        /// The task that was looked up; ``SubstitutionURLProtocol`` uses the response only for this task.
        private(set) weak var task: URLSessionTask?

        init(
            _ answer: CachedURLResponse,
            to task: URLSessionTask,
            _ observed: (RequestObservers, Row)? = nil
        ) {
            (self.answer, self.observed, self.task) = (answer, observed, task)
            let url = task.currentRequest?.url ?? URL(fileURLWithPath: "/")
            let none = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            super.init(response: none, data: Data(), userInfo: nil, storagePolicy: .notAllowed)
        }

        required init?(coder: NSCoder) { nil }
    }

    /// The cache that the session used before this one; nil for none.
    ///
    /// If the session used a cache of this library, this property holds that cache's
    /// ``SubstitutionCache/predecessor`` instead.
    private let wrapped: URLCache?
    /// True for the instance in `URLSession.shared`.
    private let isShared: Bool

    private init(_ wrapped: URLCache?, isShared: Bool) {
        (self.wrapped, self.isShared) = (wrapped, isShared)
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
    }

    /// Makes `URLSession.shared` consult the installed cache and the protocol; further calls change nothing.
    ///
    /// The caller must ensure that two calls never overlap.
    static func installShared() {
        let configuration = URLSession.shared.configuration
        if (configuration.urlCache as? FrontCache)?.isShared != true {
            let previous = configuration.urlCache
            // If the session has a cache of this library, wrap the stock cache that was shared before it.
            let stock = (previous as? SubstitutionCache)?.predecessor ?? previous
            configuration.urlCache = FrontCache(stock, isShared: true)
        }
        try? SessionLink.register(.shared)
    }

    /// Puts a front cache in front of a configuration's cache, if that is a plain `URLCache` and not the shared one.
    ///
    /// A cache of any other kind stays where it is. The app may cast such a cache to a subclass, or expect to find it
    /// in the configuration.
    static func install(in configuration: URLSessionConfiguration) {
        guard let wrapped = configuration.urlCache, type(of: wrapped) == URLCache.self, wrapped !== URLCache.shared
        else { return }
        configuration.urlCache = FrontCache(wrapped, isShared: false)
    }

    /// The cache to which calls are forwarded.
    private var target: URLCache? { isShared ? Installation.current?.cache ?? wrapped : wrapped }

    // URL loading does not call this method; it calls the one that takes a task.
    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        target?.cachedResponse(for: request)
    }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        if let request = dataTask.currentRequest, let installation = Installation.current {
            let installed = installation.cache
            let (decision, observers) = installed.table.observedDecision(on: request)
            if case .file(let match, cacheMayAnswer: true) = decision, let answer = match.response(to: request) {
                let observed = observers.map { ($0, match.row) }
                return completionHandler(HandedOverResponse(answer, to: dataTask, observed))
            }
            // No file answers. The installed cache answers with the response that it has stored, if any.
            if isShared { return installed.answer(dataTask, request, decision, completionHandler) }
        }
        guard let wrapped else { return completionHandler(nil) }
        wrapped.getCachedResponse(for: dataTask, completionHandler: completionHandler)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        target?.storeCachedResponse(cachedResponse, for: request)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        // The response is from the network. If the target is the installed cache, that cache notifies the observers.
        if !isShared { Installation.current?.cache.observe(cachedResponse, handedOverBy: dataTask) }
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
