// Only Foundation on Linux consults a session's cache for a request that a protocol loads, and only there is the
// configuration of `URLSession.shared` created once.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// A cache in front of a session's own cache, for a session that lists ``SubstitutionProtocol``.
///
/// Foundation consults it after the protocol has accepted a request. If a file answers, this cache hands the response
/// to the protocol, which then needs no further lookup. Then the session's own cache, which lists a folder on disk for
/// each miss, is not consulted. All other calls are forwarded to the session's own cache.
///
/// The instance in `URLSession.shared` forwards to whichever cache is installed. That session reads its configuration
/// without a lock whenever a load begins, so the configuration is only written once.
// Foundation's URLCache is thread-safe, and this subclass only adds constants.
final class FrontCache: URLCache, @unchecked Sendable {
    /// A file's response, handed to the protocol that loads one task.
    ///
    /// To any other protocol this looks like a plain `URLResponse`. The system's class refuses it, because it is not an
    /// HTTP response.
    final class HandedOverResponse: CachedURLResponse, @unchecked Sendable {
        let answer: CachedURLResponse
        private(set) weak var task: URLSessionTask?

        init(_ answer: CachedURLResponse, to task: URLSessionTask) {
            (self.answer, self.task) = (answer, task)
            let url = task.currentRequest?.url ?? URL(fileURLWithPath: "/")
            let none = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            super.init(response: none, data: Data(), userInfo: nil, storagePolicy: .notAllowed)
        }

        required init?(coder: NSCoder) { nil }
    }

    /// The cache that the session had before; nil for none.
    private let wrapped: URLCache?
    private let isShared: Bool

    private init(_ wrapped: URLCache?, isShared: Bool) {
        (self.wrapped, self.isShared) = (wrapped, isShared)
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
    }

    /// Makes `URLSession.shared` consult the installed cache and the protocol; does nothing if it does so already.
    ///
    /// The caller must ensure that two calls never overlap.
    static func installShared() {
        let configuration = URLSession.shared.configuration
        if (configuration.urlCache as? FrontCache)?.isShared != true {
            let previous = configuration.urlCache
            let stock = (previous as? LocalSubstitutionCache)?.predecessor ?? previous
            configuration.urlCache = FrontCache(stock, isShared: true)
        }
        URLSession.shared.registerForSubstitutions()
    }

    /// Puts a front cache before a configuration's cache, if that is a plain `URLCache` and not the shared one.
    ///
    /// No code of the app casts such a cache to a subclass, or looks for it in the configuration.
    static func install(in configuration: URLSessionConfiguration) {
        guard let wrapped = configuration.urlCache, type(of: wrapped) == URLCache.self, wrapped !== URLCache.shared
        else { return }
        configuration.urlCache = FrontCache(wrapped, isShared: false)
    }

    private var target: URLCache? { isShared ? Installation.current?.cache ?? wrapped : wrapped }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        target?.cachedResponse(for: request)
    }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        if let request = dataTask.currentRequest, let installed = Installation.current?.cache {
            let verdict = installed.verdict(on: request)
            if case .answered(let match) = verdict, let answer = match.response(to: request) {
                return completionHandler(HandedOverResponse(answer, to: dataTask))
            }
            if isShared { return installed.answer(dataTask, request, verdict, completionHandler) }
        }
        guard let wrapped else { return completionHandler(nil) }
        wrapped.getCachedResponse(for: dataTask, completionHandler: completionHandler)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        target?.storeCachedResponse(cachedResponse, for: request)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        if !isShared { Installation.current?.cache.reportToObserver(cachedResponse, handedOverBy: dataTask) }
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
