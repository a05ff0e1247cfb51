// Only Foundation on Linux asks a session's cache for what a protocol loads, and makes the configuration of
// `URLSession.shared` once.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// The cache of a session that asks ``SubstitutionProtocol``, in front of the session's own.
///
/// Foundation asks it after the protocol has taken the request. The file's answer goes to the protocol with the one
/// look-up that finds it, and the session's own cache, which lists a folder for each miss, is not asked in vain.
/// Everything else is passed on.
///
/// That of `URLSession.shared` stands before whatever is installed: that session reads its configuration without a lock
/// whenever a load begins, so the configuration is written once.
// Foundation's URLCache is safe to share, and this subclass only adds constants.
final class FrontCache: URLCache, @unchecked Sendable {
    /// A file's answer, on its way to the protocol that loads one task.
    ///
    /// For everything else it is a response without HTTP, which the system's class refuses.
    final class Answer: CachedURLResponse, @unchecked Sendable {
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

    /// What the session had before; nil for none.
    private let own: URLCache?
    private let isShared: Bool

    private init(_ own: URLCache?, isShared: Bool) {
        (self.own, self.isShared) = (own, isShared)
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
    }

    /// Makes `URLSession.shared` ask what is installed; writes nothing that is there already.
    ///
    /// The caller sees to it that this runs once at a time.
    static func installShared() {
        let configuration = URLSession.shared.configuration
        if (configuration.urlCache as? FrontCache)?.isShared != true {
            let previous = configuration.urlCache
            let stock = (previous as? LocalSubstitutionCache)?.predecessor ?? previous
            configuration.urlCache = FrontCache(stock, isShared: true)
        }
        URLSession.shared.registerForSubstitutions()
    }

    /// Puts one before the cache of a configuration, if that is Foundation's own and not the shared one: nobody casts
    /// that, or looks for it there.
    static func install(in configuration: URLSessionConfiguration) {
        guard let own = configuration.urlCache, type(of: own) == URLCache.self, own !== URLCache.shared else { return }
        configuration.urlCache = FrontCache(own, isShared: false)
    }

    private var target: URLCache? { isShared ? Installation.current?.cache ?? own : own }

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
                return completionHandler(Answer(answer, to: dataTask))
            }
            if isShared { return installed.answer(dataTask, request, verdict, completionHandler) }
        }
        guard let own else { return completionHandler(nil) }
        own.getCachedResponse(for: dataTask, completionHandler: completionHandler)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        target?.storeCachedResponse(cachedResponse, for: request)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        if !isShared { Installation.current?.cache.note(cachedResponse, handedOverBy: dataTask) }
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
