import Foundation
import FoundationNetworking

/// Runs one `URLProtocol` object, and is the object's client.
///
/// The object runs on a thread with a run loop or on the delegate queue, as the loading mode says. This class crashes
/// if the object breaks the contract of NSURLProtocol.h. The object must call its client there, one call at a time, and
/// in the right order (such as the head before the body). It must not call its client after the end or after
/// `stopLoading()` has returned.
// Mutable state is only accessed inside the lock.
final class ProtocolLoad: NSObject, Load, URLProtocolClient, @unchecked Sendable {
    private enum Stage { case idle, begun, headed, ended }

    private let task: URLSessionTask
    private let protocolClass: URLProtocol.Type
    private let request: URLRequest
    private let isClassic = LoadingMode.current == .classic
    private let lock = NSLock()
    private var loader: URLProtocol?
    private var stage = Stage.idle
    private var isStopped = false
    private var isDelivering = false

    init(_ protocolClass: URLProtocol.Type, _ request: URLRequest, for task: URLSessionTask) {
        (self.protocolClass, self.request, self.task) = (protocolClass, request, task)
    }

    /// Runs `body` later on the loader's thread or on the delegate queue.
    private func perform(_ body: @escaping @Sendable () -> Void) {
        if isClassic { ClassicThread.perform(body) } else { task.call(body) }
    }

    func start() {
        perform { [self] in
            // The task can be cancelled just before it starts its load.
            if lock.withLock({ isStopped }) { return }
            let loader = protocolClass.init(
                task: task,
                request: protocolClass.canonicalRequest(for: request),
                cachedResponse: nil,
                client: self
            )
            lock.withLock { (self.loader, stage) = (loader, .begun) }
            loader.startLoading()
            Living.add(loader)
            Living.add((loader as? SubstitutionURLProtocol)?.load)
        }
    }

    func stop() {
        perform { [self] in
            // On a concurrent queue, an event may be delivered until the protocol knows that it is to stop.
            let loader = lock.withLock {
                isStopped = isClassic
                return self.loader
            }
            loader?.stopLoading()
            lock.withLock {
                if isDelivering { fatalError("stopLoading returned during an event") }
                isStopped = true
            }
            end()
        }
    }

    /// Releases the protocol, which retains this object, after a short delay, so that late calls are still detected.
    private func end() {
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { [self] in
            let loader = lock.withLock {
                defer { self.loader = nil }
                return self.loader
            }
            withExtendedLifetime(loader) {}
        }
    }

    /// Delivers an event, after which the load is in the stage `next`.
    private func deliver(_ event: String, in stages: Stage..., then next: Stage, _ body: () -> Void) {
        lock.withLock {
            let isHere =
                isClassic
                ? Thread.current === ClassicThread.thread : OperationQueue.current === task.session.delegateQueue
            if !isHere { fatalError("\(event) was delivered on another thread") }
            if isStopped { fatalError("\(event) was delivered after stopLoading") }
            if isDelivering { fatalError("\(event) was delivered during another event") }
            if !stages.contains(stage) { fatalError("\(event) was delivered in the stage \(stage)") }
            (isDelivering, stage) = (true, next)
        }
        body()
        lock.withLock { isDelivering = false }
    }

    // MARK: - URLProtocolClient

    func urlProtocol(
        _ protocol: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        deliver("a head", in: .begun, then: .headed) { task.receive(response) }
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {
        deliver("a body", in: .headed, then: .headed) { task.receive(data) }
    }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) {
        deliver("the end", in: .headed, then: .ended) { complete(nil) }
    }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
        deliver("an error", in: .begun, .headed, then: .ended) { complete(error) }
    }

    private func complete(_ error: (any Error)?) {
        stop()
        task.complete(error)
    }

    /// Crashes, because the library must follow redirects itself.
    ///
    /// If the app refused a redirect that was reported here, the app would receive nothing more.
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        fatalError("a redirect was delivered")
    }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        guard let sender = challenge.sender else { fatalError("a challenge without a sender") }
        deliver("a challenge", in: .begun, then: .begun) {}
        task.receive(challenge) { disposition, credential in
            switch (disposition, credential) {
            case (.useCredential, let credential?): sender.use(credential, for: challenge)
            case (.useCredential, nil): sender.continueWithoutCredential(for: challenge)
            case (.performDefaultHandling, _): sender.performDefaultHandling(for: challenge)
            case (.cancelAuthenticationChallenge, _): sender.cancel(challenge)
            case (.rejectProtectionSpace, _): sender.rejectProtectionSpaceAndContinue(with: challenge)
            }
        }
    }

}

/// The thread on which the classic loader calls all protocols; it never ends.
private enum ClassicThread {
    private static let bodies = Locked<[@Sendable () -> Void]>([])

    // A thread is immutable once it has started.
    nonisolated(unsafe) static let thread = {
        let thread = Thread {
            while true {
                for body in bodies.replace(with: []) { RunLoop.current.perform(body) }
                // A run loop without anything to do returns at once.
                _ = RunLoop.current.run(mode: .default, before: Date())
                usleep(200)
            }
        }
        thread.start()
        return thread
    }()

    static func perform(_ body: @escaping @Sendable () -> Void) {
        bodies.withLock { $0.append(body) }
        _ = thread
    }
}
