// Apple's systems call a protocol on a thread with a run loop, which InnerLoad uses there.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// The serial queue on which Foundation on Linux calls the protocols of all sessions.
///
/// No public API returns it. But Foundation also calls the protocol of our own session on it, and while it does
/// so no other task starts, stops or ends. Suspending and resuming the app's task would get there as well, but ends the
/// process when the app resumes that task at the same moment.
// Mutable state is only accessed inside the lock.
final class LoadingQueue: @unchecked Sendable {
    static let shared = LoadingQueue()

    /// A task that never runs, and has nobody to tell; not to be asked for first on this queue.
    static let idleTask: URLSessionTask = shared.session.dataTask(with: URL(fileURLWithPath: "/"))

    private let session: URLSession
    private let lock = NSLock()
    private var bodies: [URL: @Sendable () -> Void] = [:]
    private var count = 0
    /// Makes the tasks, which Foundation cannot do on its own queue.
    private let tasks = DispatchQueue(label: "LocalSubstitutionCache.LoadingQueue")

    private init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Visit.self]
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    /// Runs `body` on the queue, later.
    func async(_ body: @escaping @Sendable () -> Void) {
        let url: URL? = lock.withLock {
            count += 1
            let url = URL(string: "\(Visit.scheme):\(count)")
            if let url { bodies[url] = body }
            return url
        }
        if let url { tasks.async { [session] in session.dataTask(with: url).resume() } }
    }

    fileprivate func take(_ url: URL?) -> (@Sendable () -> Void)? {
        lock.withLock { url.flatMap { bodies.removeValue(forKey: $0) } }
    }
}

/// Runs one body, and ends.
private final class Visit: URLProtocol {
    static let scheme = "local-substitution-cache"

    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == scheme }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        LoadingQueue.shared.take(request.url)?()
        client?.urlProtocol(self, didFailWithError: URLError(.cancelled))
    }

    override func stopLoading() {}
}
#endif
