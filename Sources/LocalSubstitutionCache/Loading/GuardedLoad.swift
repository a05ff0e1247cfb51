// Foundation on Linux lets this library create an instance of another protocol class. Foundation on Apple's systems
// does not.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// A load by another protocol class in the same task, guarded against events after its end.
///
/// If a task is cancelled at the moment it ends, Foundation on Linux also reports a failure to Foundation's client.
/// That client no longer finds the task, and the process crashes. So this object sits between Foundation's client and
/// the class that loads. This object passes on the events that the class reports, up to the end of the load.
// Mutable state is only accessed inside the lock. A protocol class of the app may call this object on any thread.
class GuardedLoad: NSObject, NetworkLoad, URLProtocolClient, @unchecked Sendable {
    private enum Stage {
        case open
        /// The load ended with a 401 that Foundation turns into a challenge.
        ///
        /// Foundation asks the app for a credential. Then the task continues or is cancelled.
        case challenged
        case finished
    }

    let task: URLSessionTask
    let client: (any URLProtocolClient)?
    /// Records the steps of this load; nil without an observer.
    let observed: ObservedLoad?
    private let lock = NSLock()
    private var stage = Stage.open
    private var loader: URLProtocol?

    /// Creates a load; the result is nil if the owner has no task or if there is no class.
    ///
    /// - Parameters:
    ///   - owner: The protocol whose task is loaded.
    ///   - protocolClass: The class that loads.
    ///   - cachedResponse: The response that the app's cache has for the request.
    ///   - observed: Records the steps of the load.
    init?(
        for owner: URLProtocol,
        with protocolClass: URLProtocol.Type?,
        _ cachedResponse: CachedURLResponse?,
        _ observed: ObservedLoad?
    ) {
        guard let task = owner.task, let protocolClass else { return nil }
        (self.task, client, self.observed) = (task, owner.client, observed)
        super.init()
        loader = protocolClass.init(task: task, cachedResponse: cachedResponse, client: self)
    }

    /// True once this object has begun to report the end of the load, or the load was stopped before its end.
    ///
    /// It stays false after a 401 that Foundation turns into a challenge.
    var hasFinished: Bool { lock.withLock { stage == .finished } }

    /// The instance that loads; nil once the load has ended.
    var openLoader: URLProtocol? { lock.withLock { loader } }

    func start() { openLoader?.startLoading() }

    func stop() {
        switch task.state {
        // The task was suspended, then resumed before this call. If the system's class were stopped now, it would treat
        // the task as cancelled.
        case .running: break
        case .suspended: openLoader?.stopLoading()
        // The task was suspended, then cancelled before this call. The system's class needs the task's error, which
        // Foundation sets next.
        case .canceling where task.error == nil: break
        default: finish()?.stopLoading()
        }
    }

    /// Ends the load, and returns the instance that loads; nil if the load has already ended.
    ///
    /// If the instance later reports a head, a part of a body or an end, the client does not receive this event.
    func finish(isChallenge: Bool = false) -> URLProtocol? {
        lock.withLock {
            // This breaks a reference cycle: the instance retains this object as its client.
            defer { loader = nil }
            if loader != nil { stage = isChallenge ? .challenged : .finished }
            return loader
        }
    }

    private var isOpen: Bool { lock.withLock { stage == .open } }

    // MARK: - Called by the class that loads

    func urlProtocol(
        _ loader: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        if isOpen { client?.urlProtocol(loader, didReceive: response, cacheStoragePolicy: policy) }
    }

    func urlProtocol(_ loader: URLProtocol, didLoad data: Data) {
        if isOpen { client?.urlProtocol(loader, didLoad: data) }
    }

    func urlProtocolDidFinishLoading(_ loader: URLProtocol) {
        let head = task.response as? HTTPURLResponse
        let isChallenge = head?.statusCode == 401 && head?.value(forHTTPHeaderField: "WWW-Authenticate") != nil
        // No step shows the response that follows a challenge. So the observer forgets the body of this response.
        if isChallenge, let head { observed?.report(.received(head)) }
        if finish(isChallenge: isChallenge) != nil { client?.urlProtocolDidFinishLoading(loader) }
    }

    func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        if finish() != nil { client?.urlProtocol(loader, didFailWithError: error) }
    }

    func urlProtocol(_ loader: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        observed?.report(.used(cachedResponse))
        client?.urlProtocol(loader, cachedResponseIsValid: cachedResponse)
    }

    func urlProtocol(_ loader: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        client?.urlProtocol(loader, wasRedirectedTo: request, redirectResponse: redirectResponse)
    }

    func urlProtocol(_ loader: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        client?.urlProtocol(loader, didReceive: challenge)
    }

    func urlProtocol(_ loader: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        client?.urlProtocol(loader, didCancel: challenge)
    }
}

/// A protocol that passes each load of the library's own sessions to the system's class.
///
/// A ``GuardedLoad`` receives the events of the system's class, and passes them on to the protocol's client.
class GuardedProtocol: URLProtocol {
    private lazy var load: GuardedLoad? = {
        let load = task.flatMap(BackingLoad.load(for:))
        let cached = load?.owner?.cachedResponse
        return GuardedLoad(for: self, with: SystemProtocols.first(for: request), cached, load?.observed)
    }()

    override class func canInit(with request: URLRequest) -> Bool {
        SystemProtocols.first(for: request) != nil
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() { load?.start() }

    override func stopLoading() {
        let wasFinished = load?.hasFinished ?? false || task?.state == .completed
        load?.stop()
        if wasFinished { client = nil }
    }
}
#endif
