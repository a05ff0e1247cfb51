public import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// Foundation's URLCache is safe to share; each property that this subclass adds is a `let`, or guarded by the lock.

/// A `URLCache` that answers requests for the URLs of a manifest with files of the app.
///
/// ```swift
/// let cache = try LocalSubstitutionCache(bundle: .main)
/// cache.install()
/// ```
///
/// From then on every session that asks the shared cache gets those URLs from the bundle: no network, no waiting.
/// Everything else goes to `URLCache` as before.
///
/// - Only GET and HEAD requests of http and https are answered, and only entries without `when`.
/// - Policies that ask for a load from the origin (`reloadIgnoringLocalCacheData` and its relatives) are never answered
///   from the cache, and requests with `Authorization` are not answered from the manifest.
/// - A request whose policy is `.reloadIgnoringLocalAndRemoteCacheData` is not substituted: the way to switch the
///   library off for one request.
/// - Storing or removing a response for a substituted URL has no effect; removing all responses removes no
///   substitution.
///
/// Every request spelled as in the manifest gets the same `CachedURLResponse`, which is built in the background after
/// the manifest was loaded, or by the request itself where that comes first. From then on such a request costs one
/// dictionary look-up; a request that no entry names costs whatever `URLCache` takes.
///
/// What is not substituted is stored where the system's own cache stores it: the folder of a `URLCache` whose disk path
/// is nil. So what the app had cached before is still there, and several instances share it, each with capacities of
/// its own.
///
/// All methods may be called from any thread, also while another reloads.
public final class LocalSubstitutionCache: URLCache, @unchecked Sendable {
    package let source: ManifestSource
    private let reloading = NSLock()
    /// Internal for tests, which look at what the background has built.
    let table: CurrentTable
    /// What watches the files, in an app that is being made; internal for tests.
    let companion = Locked<(any AnyObject & Sendable)?>(nil)
    private let observing = Locked<(any RequestObserver)?>(nil)
    /// The cache that was shared when this one was made, and that is none of this library's.
    let predecessor: URLCache

    // MARK: - Making one

    /// Reads `Substitutions/manifest.json` of a bundle.
    ///
    /// The bundle's own look-up is used: a `Substitutions` folder that is not localised, or else the one of the user's
    /// language.
    ///
    /// - Parameter bundle: `.main` in an app made with Xcode, `.module` in a target of a Swift package.
    /// - Throws: ``ManifestError`` with every error of the manifest and its files, or the first mistake in its JSON.
    public convenience init(bundle: Bundle) throws(ManifestError) {
        try self.init(manifest: Self.manifest(in: bundle))
    }

    /// Reads a manifest file; the files it names lie beside it.
    ///
    /// - Parameters:
    ///   - url: The manifest, a file URL.
    ///   - reading: How the files are brought into memory. ``ReadingMode/mapped`` is for files that never change,
    ///     ``ReadingMode/copied`` for those that may.
    /// - Throws: ``ManifestError`` with every error of the manifest and its files, or the first mistake in its JSON.
    public convenience init(manifest url: URL, reading: ReadingMode = .mapped) throws(ManifestError) {
        try self.init(ManifestSource(file: url, reading: reading))
    }

    /// Reads a manifest from memory.
    ///
    /// - Parameters:
    ///   - data: The manifest's text, in UTF-8. Messages call it `manifest.json`.
    ///   - folder: The folder that its files lie in, a file URL.
    ///   - reading: How the files are brought into memory.
    /// - Throws: ``ManifestError`` with every error of the manifest and its files, or the first mistake in its JSON.
    public convenience init(
        manifestData data: Data,
        folder: URL,
        reading: ReadingMode = .mapped
    ) throws(ManifestError) {
        try self.init(ManifestSource(text: data, folder: folder, reading: reading))
    }

    /// The designated initialiser of every platform.
    ///
    /// Apple's `URLCache` has a convenience initialiser with `directory:`, which ends the process when a subclass calls
    /// it as `super.init`.
    private init(_ source: ManifestSource) throws(ManifestError) {
        table = CurrentTable(try source.load())
        self.source = source
        let shared = URLCache.shared
        Self.making.lock()
        predecessor = (shared as? LocalSubstitutionCache)?.predecessor ?? shared
        Self.making.unlock()
        super.init(memoryCapacity: shared.memoryCapacity, diskCapacity: shared.diskCapacity, diskPath: nil)
    }

    /// Shows the thread sanitizer that the shared cache was made before it is read, which Foundation's own lock hides.
    private static let making = NSLock()

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

    /// How the folder gets into a bundle as it is.
    private static let remedy =
        "in Xcode select the folder and untick \"Build Folder Contents\" in the File inspector (before Xcode 16: add it as "
        + "a folder reference), in a Swift package declare it with .copy(\"Substitutions\") and not with .process"

    // MARK: - Using it

    /// Reads the manifest and its files again; requests that come later get what is new.
    ///
    /// Answers that were given before stay as they are. A cache made from a manifest in memory reads the same text
    /// again, and the files anew.
    ///
    /// - Throws: ``ManifestError``; what was there before stays.
    public func reload() throws(ManifestError) { try reload(with: nil) }

    /// Reloads with the advice for somebody at a desk.
    package func reload(with advice: (any ManifestAdvice)?) throws(ManifestError) {
        // One reload at a time, so that the table that was read last is the one that stays.
        reloading.lock()
        defer { reloading.unlock() }
        table.replace(with: try source.load(with: advice))
    }

    /// Keeps something as long as the cache lives, or until something else is kept.
    package func keep(_ companion: any AnyObject & Sendable) { _ = self.companion.replace(with: companion) }

    /// Who takes note of the requests; nil for nobody, as in every app that is shipped.
    package var observer: (any RequestObserver)? {
        get { table.isObserved ? observing.value : nil }
        set {
            _ = observing.replace(with: newValue)
            table.isObserved = newValue != nil
        }
    }

    /// What is substituted, folders expanded.
    public var substitutions: [Substitution] { table.value.substitutions }

    /// Tells whether a request would be substituted, why, and what would change that.
    ///
    /// Judges the request, never a session. The first call indexes the table; later ones take a few look-ups.
    ///
    /// - Parameter request: Any request; it is not loaded.
    /// - Returns: The answer, which prints as a sentence.
    public func explain(_ request: URLRequest) -> Explanation {
        Explanation(request, table.value)
    }

    /// What messages call the manifest.
    package var manifestName: String { table.value.manifestName }

    /// What becomes of a request.
    func verdict(on request: URLRequest) -> Verdict { table.verdict(on: request) }

    /// The file that answers a GET or HEAD without a question to the network; nil where none does.
    package func representation(for request: URLRequest) -> Representation? {
        switch verdict(on: request) {
        case .answered(let match), .answeredByProtocol(let match, _): match.row.representation
        case .leftAlone, .afterNetwork, .unnamed: nil
        }
    }

    /// Whether a file, without a condition, stands in for the URL of this GET or HEAD, whatever its policy is.
    package func isSubstituted(_ request: URLRequest) -> Bool { verdict(on: request).isSubstituted }

    /// Whether the network is asked for this request, and a file answers when a condition of its entry holds.
    package func asksNetworkFirst(for request: URLRequest) -> Bool {
        if case .afterNetwork = verdict(on: request) { true } else { false }
    }

    // MARK: - URLCache

    /// The file that stands in for the request's URL, or what `URLCache` has stored.
    ///
    /// - Parameter request: The request that is about to be loaded.
    /// - Returns: The same instance for each GET spelled as in the manifest; nil when the network is to be asked.
    public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        let (verdict, isObserved) = table.judge(request)
        let response: CachedURLResponse? =
            switch verdict {
            case .answered(let match): match.response(to: request)
            case .answeredByProtocol: nil
            case .afterNetwork, .leftAlone, .unnamed:
                request.cachePolicy.allowsCache ? super.cachedResponse(for: request) : nil
            }
        // A question that nothing answers is no load.
        if isObserved, response != nil { note(response, isFile: verdict.isFile, to: request, by: nil) }
        return response
    }

    /// The same as ``cachedResponse(for:)``, for the way in which sessions ask.
    ///
    /// - Parameters:
    ///   - dataTask: The task that is about to be loaded.
    ///   - completionHandler: Called with the answer; at once when a file answers.
    public override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let request = dataTask.currentRequest else {
            return super.getCachedResponse(for: dataTask, completionHandler: completionHandler)
        }
        let (verdict, isObserved) = table.judge(request)
        guard isObserved else { return answer(dataTask, request, verdict, completionHandler) }
        let isFile = verdict.isFile
        answer(dataTask, request, verdict) { [self] response in
            note(response, isFile: isFile, to: request, by: dataTask)
            completionHandler(response)
        }
    }

    /// Notes what a cache answers to a request; nil for nothing.
    private func note(
        _ response: CachedURLResponse?,
        isFile: Bool,
        to request: URLRequest,
        by task: URLSessionTask?
    ) {
        var step = RequestStep.asked
        if let response {
            step = isFile ? .answered(response.response, byteCount: response.data.count) : .offered(response)
        }
        observer?.observe(step, of: request, by: task)
    }

    /// Answers a task whose request was judged.
    func answer(
        _ dataTask: URLSessionDataTask,
        _ request: URLRequest,
        _ verdict: Verdict,
        _ completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        switch verdict {
        case .answered(let match): completionHandler(match.response(to: request))
        case .answeredByProtocol: completionHandler(nil)
        case .afterNetwork, .leftAlone, .unnamed:
            guard request.cachePolicy.allowsCache else { return completionHandler(nil) }
            super.getCachedResponse(for: dataTask, completionHandler: completionHandler)
        }
    }

    /// Stores a response in `URLCache`; ignored for a URL that a file stands in for.
    ///
    /// - Parameters:
    ///   - cachedResponse: The response.
    ///   - request: The request that it answers.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard !isSubstituted(request) else { return }
        super.storeCachedResponse(cachedResponse, for: request)
    }

    /// Stores a response in `URLCache`; ignored for a URL that a file stands in for.
    ///
    /// - Parameters:
    ///   - cachedResponse: The response.
    ///   - dataTask: The task that it answers.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard dataTask.currentRequest.map(isSubstituted) != true else { return }
        note(cachedResponse, handedOverBy: dataTask)
        super.storeCachedResponse(cachedResponse, for: dataTask)
    }

    /// Notes what the network answered to a task.
    func note(_ response: CachedURLResponse, handedOverBy dataTask: URLSessionDataTask) {
        guard let observer, let request = dataTask.currentRequest else { return }
        observer.observe(.stored(response), of: request, by: dataTask)
    }

    /// Removes a response from `URLCache`; ignored for a URL that a file stands in for.
    ///
    /// URL loading calls it on its own.
    ///
    /// - Parameter request: The request whose response is removed.
    public override func removeCachedResponse(for request: URLRequest) {
        guard !isSubstituted(request) else { return }
        super.removeCachedResponse(for: request)
    }

    /// Removes a response from `URLCache`; ignored for a URL that a file stands in for.
    ///
    /// URL loading calls it on its own.
    ///
    /// - Parameter dataTask: The task whose response is removed.
    public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        guard dataTask.currentRequest.map(isSubstituted) != true else { return }
        super.removeCachedResponse(for: dataTask)
    }
}
