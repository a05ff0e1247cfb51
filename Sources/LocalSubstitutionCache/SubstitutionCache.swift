public import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// Foundation's URLCache is thread-safe, and each property that this subclass adds is a `let` of a thread-safe type.

/// A `URLCache` that answers requests for the URLs of a manifest with files of the app.
///
/// ```swift
/// let cache = try SubstitutionCache(bundle: .main)
/// cache.install()
/// ```
///
/// Every session that uses the shared cache then gets those URLs from the bundle: no network, no waiting. Everything
/// else goes to `URLCache` as before.
///
/// - Through this cache, files answer only GET and HEAD requests, and only for the http and https URLs of entries
///   without `when`.
/// - This cache answers no request with a reloading policy, such as `reloadIgnoringLocalCacheData`. Nor does it answer
///   a request with `Authorization` from a file. ``SubstitutionURLProtocol`` answers both kinds of request for the URLs
///   of these entries.
/// - No file answers a request with the policy `.reloadIgnoringLocalAndRemoteCacheData`, neither through this cache nor
///   through the protocol. Use this policy to switch the library off for one request.
/// - Storing or removing a response for a substituted URL has no effect. Removing all responses removes no
///   substitution.
///
/// All GET requests for one URL get the same `CachedURLResponse` if they spell the URL as in the manifest and have no
/// `Range`. This response is built in the background after the manifest is loaded, or earlier, by the first of these
/// requests. After that, each of these requests costs one dictionary lookup. A request that is named by no entry costs
/// as much as in a plain `URLCache`.
///
/// Responses that are not substituted are stored where the system's own cache stores them: in the folder that
/// `URLCache` uses if its `diskPath` is nil. So everything that the app had cached before is still there, and several
/// instances share the folder, each with its own capacities. (On Apple's systems, this has not been run.)
///
/// All methods may be called on any thread, even while another thread reloads.
public final class SubstitutionCache: URLCache, @unchecked Sendable {
    package let source: ManifestSource
    /// The lock that is held while the current table is being replaced.
    let reloading = NSLock()
    /// The current table; internal so that tests can see what the background pass has built.
    let table: CurrentTable
    /// The object that watches the files in a development build; internal for tests.
    let companion = Locked<(any AnyObject & Sendable)?>(nil)
    /// The cache that was shared when this one was created.
    ///
    /// If the shared cache was a cache of this library, this property is the predecessor of the shared cache.
    let predecessor: URLCache

    // MARK: - Creating a cache

    /// Creates a cache from `Substitutions/manifest.json` in a bundle, or from a newer folder.
    ///
    /// The bundle's own lookup finds its folder: a `Substitutions` folder that is not localised, or else the one for
    /// the user's language.
    ///
    /// ```swift
    /// let downloads = URL.applicationSupportDirectory.appending(path: "Substitutions", directoryHint: .isDirectory)
    /// let cache = try SubstitutionCache(bundle: .main, newerFolder: downloads)
    /// if let error = cache.newerFolderError { print(error) }
    /// cache.install()
    /// ```
    ///
    /// The newer folder answers if the `$version` in its `manifest.json` is higher than in the bundle's. Otherwise the
    /// bundle answers, also if both are equal, so that no old download hides the files of a newer app. The two are
    /// never mixed. The choice is made here, in ``reload()`` and in ``adopt(_:)``.
    ///
    /// The folder never stops a launch. If anything in it is wrong, or changes while it is read, it is passed over, and
    /// ``newerFolderError`` has the reason. This also applies to a manifest of more than 16 MB, and to a script,
    /// stylesheet, JSON or image that begins like a page of HTML. A folder that does not exist is no error. But an
    /// error in the bundle is thrown, whatever the folder holds, so that developers see it.
    ///
    /// To switch all substitutions off, bring a folder with the manifest `{ "$version": 13 }`, the number being higher.
    ///
    /// Cost: beside the folder, the names and kinds of the bundle's files are always checked, but not their bytes if
    /// the folder answers. The files of a folder that answers are opened twice.
    ///
    /// - Parameters:
    ///   - bundle: `.main` in an app made with Xcode, `.module` in a target of a Swift package.
    ///   - folder: The newer folder, a file URL; nil for none. The app brings it by its own means, and trusts what it
    ///     brings.
    ///   - reading: How the newer folder's files are loaded into memory, at most 100 MB of them as copies. Choose
    ///     ``ReadingMode/mapped`` only if files are never written in place there, as when ``adopt(_:)`` alone changes
    ///     the folder.
    /// - Throws: ``ManifestError`` with every error of the bundle's manifest and its files, or the first mistake in its
    ///   JSON.
    public convenience init(
        bundle: Bundle,
        newerFolder folder: URL? = nil,
        reading: ReadingMode = .copied
    ) throws(ManifestError) {
        let manifest = try Self.manifest(in: bundle)
        let own = manifest.deletingLastPathComponent()
        try self.init(
            ManifestSource(file: manifest, folder: own, reading: .mapped, newer: folder.map { ($0, reading) })
        )
    }

    /// Creates a cache from a manifest file and the files beside it.
    ///
    /// - Parameters:
    ///   - url: The manifest, a file URL.
    ///   - reading: How the files are loaded into memory: ``ReadingMode/mapped`` is for files that never change,
    ///     ``ReadingMode/copied`` for files that may change.
    /// - Throws: ``ManifestError`` with every error of the manifest and its files, or the first mistake in its JSON.
    public convenience init(manifest url: URL, reading: ReadingMode = .mapped) throws(ManifestError) {
        try self.init(ManifestSource(file: url, folder: url.deletingLastPathComponent(), reading: reading))
    }

    /// Creates a cache from a manifest in memory.
    ///
    /// - Parameters:
    ///   - data: The manifest's text, in UTF-8. Messages call it `manifest.json`.
    ///   - folder: The folder that holds the manifest's files, a file URL.
    ///   - reading: How the files are loaded into memory.
    /// - Throws: ``ManifestError`` with every error of the manifest and its files, or the first mistake in its JSON.
    public convenience init(
        manifestData data: Data,
        folder: URL,
        reading: ReadingMode = .mapped
    ) throws(ManifestError) {
        try self.init(ManifestSource(text: data, folder: folder, reading: reading))
    }

    // MARK: - Creating a cache off the caller's thread

    /// Does the same as ``init(bundle:newerFolder:reading:)``, but off the caller's thread and actor.
    ///
    /// ```swift
    /// let cache = try await SubstitutionCache.load(bundle: .main)
    /// ```
    @concurrent public static func load(
        bundle: Bundle,
        newerFolder folder: URL? = nil,
        reading: ReadingMode = .copied
    ) async throws(ManifestError) -> SubstitutionCache {
        try SubstitutionCache(bundle: bundle, newerFolder: folder, reading: reading)
    }

    /// Does the same as ``init(manifest:reading:)``, but off the caller's thread and actor.
    @concurrent public static func load(
        manifest url: URL,
        reading: ReadingMode = .mapped
    ) async throws(ManifestError) -> SubstitutionCache {
        try SubstitutionCache(manifest: url, reading: reading)
    }

    /// Does the same as ``init(manifestData:folder:reading:)``, but off the caller's thread and actor.
    @concurrent public static func load(
        manifestData data: Data,
        folder: URL,
        reading: ReadingMode = .mapped
    ) async throws(ManifestError) -> SubstitutionCache {
        try SubstitutionCache(manifestData: data, folder: folder, reading: reading)
    }

    /// The designated initialiser on every platform.
    ///
    /// On Apple platforms `URLCache` has a convenience initialiser with `directory:`; a subclass that calls it as
    /// `super.init` crashes.
    private init(_ source: ManifestSource) throws(ManifestError) {
        table = CurrentTable(try source.load())
        self.source = source
        let shared = URLCache.shared
        Self.sharingLock.lock()
        predecessor = (shared as? SubstitutionCache)?.predecessor ?? shared
        Self.sharingLock.unlock()
        super.init(memoryCapacity: shared.memoryCapacity, diskCapacity: shared.diskCapacity, diskPath: nil)
    }

    /// The lock that is held while a cache is created, installed or uninstalled.
    ///
    /// A creation needs it for the Thread Sanitizer, which cannot see Foundation's own lock. URL loading calls no
    /// method of this library that takes this lock. The objects that an installation replaces are released after the
    /// lock is unlocked, because their release may deallocate an object of the app, and that object's `deinit` may call
    /// ``uninstall()``.
    static let sharingLock = NSLock()

    private static func manifest(in bundle: Bundle) throws(ManifestError) -> URL {
        if let url = bundle.url(forResource: "manifest", withExtension: "json", subdirectory: "Substitutions") {
            return url
        }
        let resources = bundle.resourceURL ?? bundle.bundleURL
        let expected = resources.appendingPathComponent("Substitutions/manifest.json").path
        if bundle.url(forResource: "manifest", withExtension: "json") != nil {
            throw ManifestError(
                unreadable: expected,
                because:
                    "the bundle has manifest.json at its root, so the folder Substitutions was flattened when it was "
                    + "copied; \(Self.remedy)"
            )
        }
        throw ManifestError(
            unreadable: expected,
            because: "the bundle has no Substitutions/manifest.json; \(Self.remedy); in a package pass bundle: .module"
        )
    }

    /// The part of an error message that says how to keep the folder structure intact in the bundle.
    private static let remedy =
        "in Xcode select the folder and untick \"Build Folder Contents\" in the File inspector (before Xcode 16: add it as "
        + "a folder reference), in a Swift package declare it with .copy(\"Substitutions\") and not with .process"

    // MARK: - Using it

    /// Reads the manifest and its files again; later requests get the new responses.
    ///
    /// Responses that were returned before do not change. A cache that was created from a manifest in memory keeps the
    /// manifest's text, but reads the files again. A cache that was created with ``init(bundle:newerFolder:reading:)``
    /// chooses again. If a page is loading, some of its files may be of the old set and some of the new.
    ///
    /// - Throws: ``ManifestError``; the cache then keeps the previous substitutions.
    public func reload() throws(ManifestError) {
        // One reload at a time, so that the table that was read last stays in use.
        reloading.lock()
        defer { reloading.unlock() }
        table.replace(with: try source.load())
    }

    /// Retains an object until the cache is deallocated or this method is called again.
    package func retainCompanion(_ companion: any AnyObject & Sendable) { _ = self.companion.replace(with: companion) }

    /// The requests from now on, for the app's own log or metrics; each call returns another stream.
    ///
    /// ```swift
    /// let events = cache.events
    /// Task { for await event in events { print(event) } }
    /// ```
    ///
    /// Each load of a session that uses this cache or, while the cache is installed, ``SubstitutionURLProtocol`` is
    /// reported once when it begins: as a hit or as a miss. If a file or an archived copy then replaces the network's
    /// response, a fallback follows. Requests of web views are reported, too. Where URL loading asks again after a
    /// redirect, as on Apple's platforms, the new URL is also reported.
    ///
    /// An event comes shortly after URL loading has asked. A stream has the loads that begin after it was taken. So
    /// take it before the first load, and not inside the task that reads it. It keeps up to 1,000 events that wait;
    /// then the oldest are dropped. It ends when the cache is deallocated, which a task that captures the cache
    /// prevents. It costs nothing once its last copy and iterator are gone, or once a cancelled task asks for its next
    /// event. A lookup by the app itself is a hit if a file answers, and otherwise no event.
    ///
    /// In a session without ``SubstitutionURLProtocol``, no event reports a request that reloads, or that has an
    /// `Authorization` field, if an entry without `when` names its URL.
    ///
    /// While there is a stream, ``SubstitutionURLProtocol`` on Linux also loads the requests that no file answers, as
    /// it does while a recording runs.
    public var events: AsyncStream<RequestEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1000)) { continuation in
            let reporter = EventReporter { $0.map { _ = continuation.yield($0) } ?? continuation.finish() }
            let id = ObjectIdentifier(reporter)
            continuation.onTermination = { [weak table] _ in
                table?.changeReporters { $0.filter { ObjectIdentifier($0) != id } }
            }
            table.changeReporters { $0 + [reporter] }
        }
    }

    /// The observer that records the requests; nil for none, as in every released app.
    package var observer: (any RequestObserver)? {
        get { observers?.recording }
        set { table.changeObservers { RequestObservers($0?.events ?? [], newValue) } }
    }

    /// The observers of the requests; nil for none.
    package var observers: RequestObservers? { table.observers }

    /// The substitutions, with each folder expanded to its files.
    public var substitutions: [Substitution] { table.value.substitutions }

    /// The table that answers at the moment.
    package var currentTable: SubstitutionTable { table.value }

    /// Decides what answers a request.
    package func decision(on request: URLRequest) -> Decision { table.decision(on: request) }

    private func isSubstituted(_ request: URLRequest) -> Bool { decision(on: request).isSubstituted }

    // MARK: - URLCache

    /// Returns the file that answers for the request's URL, or the response that `URLCache` has stored.
    ///
    /// - Parameter request: The request that is about to be loaded.
    /// - Returns: The response; nil if the request must go to the network. A file's response is the same instance for
    ///   each GET without `Range` whose URL is spelled as in the manifest.
    public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        let (decision, observers) = table.observedDecision(on: request)
        let response: CachedURLResponse? =
            switch decision {
            case .file(let match, let cacheMayAnswer): cacheMayAnswer ? match.response(to: request) : nil
            case .networkFirst, .leftAlone, .unnamed:
                request.cachePolicy.allowsCache ? super.cachedResponse(for: request) : nil
            }
        // A lookup without a task belongs to no load. So if it finds no file, it is not observed.
        if let observers, response != nil, decision.file != nil {
            observers.observe(Self.step(response, decision), of: request, by: nil)
        }
        return response
    }

    /// Does the same as ``cachedResponse(for:)`` for a task; sessions call this method.
    ///
    /// - Parameters:
    ///   - dataTask: The task that is about to be loaded.
    ///   - completionHandler: Called with the response. If a file answers, the call is made before this method returns.
    public override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let request = dataTask.currentRequest else {
            return super.getCachedResponse(for: dataTask, completionHandler: completionHandler)
        }
        let (decision, observers) = table.observedDecision(on: request)
        // A marked request belongs to a load that is observed already.
        guard let observers, !request.isMarked else { return answer(dataTask, request, decision, completionHandler) }
        answer(dataTask, request, decision) { response in
            // If only the protocol may answer with the file, it reports to the app itself.
            let told = response == nil && decision.file != nil ? RequestObservers([], observers.recording) : observers
            told?.observe(Self.step(response, decision), of: request, by: dataTask)
            completionHandler(response)
        }
    }

    /// Returns the step that observers see when this cache has a response, or none.
    private static func step(_ response: CachedURLResponse?, _ decision: Decision) -> RequestStep {
        guard let response else { return .asked }
        guard case .file(let match, cacheMayAnswer: true) = decision else { return .offered(response) }
        return .answered(response.response, byteCount: response.data.count, from: match.row.substitution)
    }

    /// Answers a task according to the decision on its request.
    func answer(
        _ dataTask: URLSessionDataTask,
        _ request: URLRequest,
        _ decision: Decision,
        _ completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        switch decision {
        case .file(let match, let cacheMayAnswer):
            completionHandler(cacheMayAnswer ? match.response(to: request) : nil)
        case .networkFirst, .leftAlone, .unnamed:
            guard request.cachePolicy.allowsCache else { return completionHandler(nil) }
            super.getCachedResponse(for: dataTask, completionHandler: completionHandler)
        }
    }

    /// Stores a response in `URLCache`; has no effect if a file answers for its URL.
    ///
    /// - Parameters:
    ///   - cachedResponse: The response.
    ///   - request: The request that it answers.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard !isSubstituted(request) else { return }
        super.storeCachedResponse(cachedResponse, for: request)
    }

    /// Stores a response in `URLCache`; has no effect if a file answers for its URL.
    ///
    /// - Parameters:
    ///   - cachedResponse: The response.
    ///   - dataTask: The task that it answers.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard dataTask.currentRequest.map(isSubstituted) != true else { return }
        observe(cachedResponse, handedOverBy: dataTask)
        super.storeCachedResponse(cachedResponse, for: dataTask)
    }

    /// Notifies the observers of the network's response to a task.
    func observe(_ response: CachedURLResponse, handedOverBy dataTask: URLSessionDataTask) {
        guard let observers, let request = dataTask.currentRequest else { return }
        observers.observe(.stored(response), of: request, by: dataTask)
    }

    /// Removes a response from `URLCache`; has no effect if a file answers for its URL.
    ///
    /// URL loading also calls this method by itself.
    ///
    /// - Parameter request: The request whose response is removed.
    public override func removeCachedResponse(for request: URLRequest) {
        guard !isSubstituted(request) else { return }
        super.removeCachedResponse(for: request)
    }

    /// Removes a response from `URLCache`; has no effect if a file answers for its URL.
    ///
    /// URL loading also calls this method by itself.
    ///
    /// - Parameter dataTask: The task whose response is removed.
    public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        guard dataTask.currentRequest.map(isSubstituted) != true else { return }
        super.removeCachedResponse(for: dataTask)
    }
}
