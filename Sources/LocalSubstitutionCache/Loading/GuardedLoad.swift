// Foundation on Linux lets us instantiate the protocol class that comes next; Apple's does not.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// One load by another class in the same task, whose client is told nothing once the load is over.
///
/// Foundation on Linux ends the process when a task is cancelled while it ends: it tells the client that the load
/// failed, and finds the task gone. So this stands between each load of this library and the class that loads.
// Mutable state is only accessed inside the lock. A class of the app's own may call it on any thread.
class GuardedLoad: NSObject, NetworkLoad, URLProtocolClient, @unchecked Sendable {
    private enum Stage {
        case open
        /// Foundation makes a challenge of this end: it asks for a password, and the task goes on or is cancelled.
        case challenged
        case over
    }

    let task: URLSessionTask
    let client: (any URLProtocolClient)?
    /// Nil when nobody takes note.
    let observed: ObservedLoad?
    private let lock = NSLock()
    private var stage = Stage.open
    private var loader: URLProtocol?

    /// - Parameters:
    ///   - owner: The protocol whose task is loaded.
    ///   - protocolClass: The class that loads.
    ///   - cachedResponse: What the app's cache has for the request.
    ///   - observed: Notes the steps.
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

    /// Whether the end was told, or the load was stopped.
    var hasFinished: Bool { lock.withLock { stage == .over } }

    func start() { lock.withLock { loader }?.startLoading() }

    func stop() {
        switch task.state {
        // The task was suspended, and resumed before this call: the system's class would take it for cancelled.
        case .running: break
        case .suspended: lock.withLock { loader }?.stopLoading()
        // The task was suspended, and cancelled before this call: the system's class needs the error, which comes next.
        case .canceling where task.error == nil: break
        default: end()?.stopLoading()
        }
    }

    /// Ends the load, whatever the class still reports; returns the class's object, once.
    func end(isChallenge: Bool = false) -> URLProtocol? {
        lock.withLock {
            // It refers to this object.
            defer { loader = nil }
            if loader != nil { stage = isChallenge ? .challenged : .over }
            return loader
        }
    }

    private var isOpen: Bool { lock.withLock { stage == .open } }

    // MARK: - Told by the class that loads

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
        if end(isChallenge: isChallenge) != nil { client?.urlProtocolDidFinishLoading(loader) }
    }

    func urlProtocol(_ loader: URLProtocol, didFailWithError error: any Error) {
        if end() != nil { client?.urlProtocol(loader, didFailWithError: error) }
    }

    func urlProtocol(_ loader: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        observed?.note(.used(cachedResponse))
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

/// Loads the tasks of a session of the library's own by the system's class, as if it were that class.
class GuardedProtocol: URLProtocol {
    private lazy var load: GuardedLoad? = {
        let inner = task.flatMap(InnerLoad.of)
        let cached = inner?.owner?.cachedResponse
        return GuardedLoad(for: self, with: SystemProtocols.first(for: request), cached, inner?.observed)
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
