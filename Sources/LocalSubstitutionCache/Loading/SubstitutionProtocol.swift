// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers requests that no cache is asked about with the files of the installed ``LocalSubstitutionCache``.
///
/// In each session that lists it first, it answers whatever an entry without `when` names: requests with policies that
/// reload or with `Authorization`, and sessions with another cache or with none, such as ephemeral ones. Bytes and head
/// are those that the cache would give. ``LocalSubstitutionCache/install()`` puts it into `URLSession.shared`, and this
/// puts it into a session of one's own, before or after the cache is installed:
///
/// ```swift
/// let configuration = URLSessionConfiguration.ephemeral
/// configuration.useSubstitutions()
/// let session = URLSession(configuration: configuration)
/// ```
///
/// A request with the policy `.reloadIgnoringLocalAndRemoteCacheData` is left alone, and so is every method other than GET
/// and HEAD. On Linux a download task is loaded from the network: URL loading cannot finish one from a protocol.
///
/// The app makes no instances of it. Cost: for each request of such a session one look-up, as the cache makes.
public final class SubstitutionProtocol: URLProtocol {
    /// Loads in the place of this what it cannot answer itself.
    private var substitute: URLProtocol?
    private var hasFinished = false

    /// Whether an entry without `when` answers the request.
    ///
    /// - Parameter request: The request that is about to be loaded.
    /// - Returns: Whether URL loading should hand it to this class.
    public override class func canInit(with request: URLRequest) -> Bool {
        LocalSubstitutionCache.current?.answers(request) ?? false
    }

    /// The request itself.
    ///
    /// - Parameter request: Any request.
    /// - Returns: The same.
    public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Delivers the file, in one piece.
    public override func startLoading() {
        guard !hasFinished, isWanted else { return }
        // What the network has begun it goes on with, so that its bytes and ours are never mixed.
        if let substitute {
            substitute.startLoading()
            return
        }
        // The cache may have been replaced since it was asked.
        guard isAnswerable, let response = LocalSubstitutionCache.current?.answer(to: request) else {
            loadFromNetwork()
            return
        }
        hasFinished = true
        client?.urlProtocol(self, didReceive: response.response, cacheStoragePolicy: .notAllowed)
        if !response.data.isEmpty { client?.urlProtocol(self, didLoad: response.data) }
        client?.urlProtocolDidFinishLoading(self)
    }

    /// Whether the task still waits for an answer.
    ///
    /// Linux starts loads of tasks that were suspended, cancelled or even finished meanwhile, the last with another object,
    /// and ends the process when such a task is answered. A suspended one is started again when it is resumed.
    private var isWanted: Bool {
        // Nothing is known of this on Apple's systems.
        #if canImport(FoundationNetworking)
        guard let task else { return true }
        return task.state == .running && (task.response == nil || substitute != nil)
        #else
        return true
        #endif
    }

    /// Stops; nothing is delivered after it.
    public override func stopLoading() {
        substitute?.stopLoading()
        // When a task is cancelled at the moment in which it has finished, Linux tells the client that it failed, finds it
        // gone, and ends the process (its own class does so under load, with a response from any cache).
        #if canImport(FoundationNetworking)
        if hasFinished { client = nil }
        #endif
    }

    /// Whether the task can be answered with a file at all.
    private var isAnswerable: Bool {
        // Only there finishing a download from a protocol of one's own ends the process.
        #if canImport(FoundationNetworking)
        return !(task is URLSessionDownloadTask)
        #else
        return true
        #endif
    }

    /// Loads as if this class were not there: on Linux, with the system's own in the same task.
    private func loadFromNetwork() {
        // Apple's systems do not show theirs; there this happens only when an entry is gone that a moment ago was there.
        #if canImport(FoundationNetworking)
        if let task {
            let classes = (URLSessionConfiguration.default.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type }
            let system = classes.first { $0 != SubstitutionProtocol.self && $0.canInit(with: request) }
            substitute = system?.init(task: task, cachedResponse: nil, client: client)
        }
        #endif
        if let substitute {
            substitute.startLoading()
        } else {
            hasFinished = true
            client?.urlProtocol(self, didFailWithError: URLError(.resourceUnavailable))
        }
    }
}

extension URLSessionConfiguration {
    /// Puts ``SubstitutionProtocol`` first, so that sessions made with this configuration are answered by it.
    ///
    /// May be called before ``LocalSubstitutionCache/install()``, and more than once.
    public func useSubstitutions() {
        let others = (protocolClasses ?? []).filter { $0 != SubstitutionProtocol.self }
        protocolClasses = [SubstitutionProtocol.self] + others
    }
}
