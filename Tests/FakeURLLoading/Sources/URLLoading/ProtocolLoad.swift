import Foundation
import FoundationNetworking

/// Runs one `URLProtocol` object on a thread with a run loop, and is the object's client.
///
/// Crashes if the object breaks the contract of NSURLProtocol.h. The object must call its client on this thread, and in
/// the right order (such as the head before the body). It must not call its client after the end or after
/// `stopLoading()`.
final class ProtocolLoad: NSObject, Load, URLProtocolClient, @unchecked Sendable {
    private enum Stage {
        case idle
        case begun
        case headed
        case ended
    }

    private let task: URLSessionTask
    private let protocolClass: URLProtocol.Type
    private let request: URLRequest
    private let condition = NSCondition()
    private var bodies: [@Sendable () -> Void] = []
    private var hasEnded = false
    // Only accessed on the load's thread.
    private var thread: Thread?
    private var loader: URLProtocol?
    private var stage = Stage.idle
    private var isStopped = false

    init(_ protocolClass: URLProtocol.Type, _ request: URLRequest, for task: URLSessionTask) {
        (self.protocolClass, self.request, self.task) = (protocolClass, request, task)
    }

    /// Runs `body` later on the load's thread.
    private func perform(_ body: @escaping @Sendable () -> Void) { condition.withLock { bodies.append(body) } }

    func start() {
        perform { [self] in
            // The task can be cancelled just before it starts its load.
            if isStopped { return }
            thread = .current
            stage = .begun
            let loader = protocolClass.init(
                task: task,
                request: protocolClass.canonicalRequest(for: request),
                cachedResponse: nil,
                client: self
            )
            self.loader = loader
            loader.startLoading()
        }
        Thread { [self] in
            while !condition.withLock({ hasEnded && bodies.isEmpty }) {
                let body = condition.withLock { bodies.isEmpty ? nil : bodies.removeFirst() }
                body?()
                // A run loop without anything to do returns at once.
                _ = RunLoop.current.run(mode: .default, before: Date())
                usleep(200)
            }
            // The loader and the thread retain this object.
            (loader, thread) = (nil, nil)
        }
        .start()
    }

    func stop() {
        perform { [self] in
            isStopped = true
            loader?.stopLoading()
        }
        end()
    }

    /// Ends the thread after a short delay, so that calls that come too late are still detected.
    private func end() {
        Thread { [condition, self] in
            usleep(50_000)
            condition.withLock { hasEnded = true }
        }
        .start()
    }

    private func check(_ event: String, in stages: Stage...) {
        if Thread.current !== thread { fatalError("\(event) was delivered on another thread") }
        if isStopped { fatalError("\(event) was delivered after stopLoading") }
        if !stages.contains(stage) { fatalError("\(event) was delivered in the stage \(stage)") }
    }

    // MARK: - URLProtocolClient

    func urlProtocol(
        _ protocol: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        check("a head", in: .begun)
        stage = .headed
        task.receive(response)
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {
        check("a body", in: .headed)
        task.receive(data)
    }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) {
        check("the end", in: .headed)
        stage = .ended
        loader?.stopLoading()
        task.complete(nil)
        end()
    }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
        check("an error", in: .begun, .headed)
        stage = .ended
        loader?.stopLoading()
        task.complete(error)
        end()
    }

    /// Crashes, because the library must follow redirects itself.
    ///
    /// If the app refused a redirect that was reported here, the app would receive nothing more.
    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        fatalError("a redirect was delivered")
    }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        check("a challenge", in: .begun)
        guard let sender = challenge.sender else { fatalError("a challenge without a sender") }
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

    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {}
}
