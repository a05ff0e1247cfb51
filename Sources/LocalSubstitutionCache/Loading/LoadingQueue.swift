// Only Linux needs this queue. Apple's systems call a `URLProtocol` on a thread with a run loop, and
// BackingLoad+Apple.swift uses that run loop instead.
#if canImport(FoundationNetworking) && !APPLE_LOADING
import Foundation
import FoundationNetworking

/// Access to the serial queue on which Foundation on Linux calls the protocols of all sessions.
///
/// No public API returns this queue. But Foundation also calls the protocols of this object's own session on the queue.
/// So each block runs inside a protocol that is started for that block. While a block runs, no other task starts, stops
/// or ends. Another way to reach the queue would be to suspend and resume the app's task. But then the process crashes
/// if the app resumes that task at the same moment.
// Mutable state is only accessed inside the lock.
final class LoadingQueue: @unchecked Sendable {
    static let shared = LoadingQueue()

    /// A task that never runs and has no delegate.
    ///
    /// The first access creates the task. Creating a task waits for the loading queue, so the first access would
    /// deadlock on that queue. ``BackingSession/delegateQueue()`` makes sure that the first access happens on another
    /// queue.
    static let idleTask: URLSessionTask = shared.session.dataTask(with: URL(fileURLWithPath: "/"))

    private let session: URLSession
    private let lock = NSLock()
    private var blocks: [URL: @Sendable () -> Void] = [:]
    private var count = 0
    /// The queue on which this object creates tasks; on the loading queue, creating a task would deadlock.
    private let tasks = DispatchQueue(label: "LocalSubstitutionCache.LoadingQueue")

    private init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [BlockProtocol.self]
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    /// Runs `body` later on the loading queue.
    func async(_ body: @escaping @Sendable () -> Void) {
        let url: URL? = lock.withLock {
            count += 1
            // Never nil: a scheme and a number are always a URL.
            let url = URL(string: "\(BlockProtocol.scheme):\(count)")
            if let url { blocks[url] = body }
            return url
        }
        if let url { tasks.async { [session] in session.dataTask(with: url).resume() } }
    }

    /// A C function that returns the name of a dispatch queue; for nil, the name of the current queue.
    private typealias NameOfQueue = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?

    /// Dispatch does not export this function to Swift; nil if it cannot be found.
    private static let nameOfQueue = dlsym(nil, "dispatch_queue_get_label").map {
        unsafeBitCast($0, to: NameOfQueue.self)
    }

    /// True if Foundation may be calling from a task's `resume()`; false if the app is calling.
    ///
    /// Foundation runs the body of `resume()` on a queue of the task, and that queue has a name of its own.
    static var mayBeResuming: Bool {
        guard let name = nameOfQueue.flatMap({ $0(nil) }) else { return true }
        return String(cString: name).hasPrefix("org.swift.URLSessionTask")
    }

    fileprivate func removeBlock(for url: URL?) -> (@Sendable () -> Void)? {
        lock.withLock { url.flatMap { blocks.removeValue(forKey: $0) } }
    }
}

/// A protocol that runs one block and then ends its task.
private final class BlockProtocol: URLProtocol {
    static let scheme = "local-substitution-cache"

    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == scheme }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        LoadingQueue.shared.removeBlock(for: request.url)?()
        // The task has no delegate and no completion handler, so nothing receives this error.
        client?.urlProtocol(self, didFailWithError: URLError(.cancelled))
    }

    override func stopLoading() {}
}
#endif
