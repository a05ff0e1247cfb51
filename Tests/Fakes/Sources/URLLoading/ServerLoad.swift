import Foundation
import FoundationNetworking

// In this module the short names mean the fakes.
typealias RealSession = FoundationNetworking.URLSession
typealias RealTask = FoundationNetworking.URLSessionTask
typealias RealDataTask = FoundationNetworking.URLSessionDataTask

/// One request that Foundation's own session sends to a real server.
///
/// The fake task receives what Foundation's session reports. As in an `Exchange`, the fake task itself follows
/// redirects.
// Mutable state is only accessed inside the lock.
final class ServerLoad: NSObject, Load, FoundationNetworking.URLSessionDataDelegate, @unchecked Sendable {
    private let original: URLRequest
    private let task: URLSessionTask
    private let configuration: URLSessionConfiguration
    private let lock = NSLock()
    private var state = (isStopped: false, hasEnded: false, hasHead: false)
    /// A 401 that asks for a password, and its body; nil once it is reported or followed by a challenge.
    ///
    /// Foundation on Linux reports it before the challenge, but Apple's systems report it only if no password follows.
    private var refusal: (head: URLResponse, body: Data)?
    private var running: RealTask?

    init(_ request: URLRequest, for task: URLSessionTask, _ configuration: URLSessionConfiguration) {
        (original, self.task, self.configuration) = (request, task, configuration)
    }

    func start() {
        let own = FoundationNetworking.URLSessionConfiguration.ephemeral
        own.httpAdditionalHeaders = configuration.httpAdditionalHeaders
        own.httpCookieStorage = configuration.httpCookieStorage
        own.urlCredentialStorage = configuration.urlCredentialStorage
        own.urlCache = nil
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = RealSession(configuration: own, delegate: self, delegateQueue: queue)
        let running = session.dataTask(with: original.withoutProperties)
        lock.withLock { self.running = running }
        running.resume()
        session.finishTasksAndInvalidate()
    }

    /// Stops the load; its further events are ignored.
    ///
    /// Foundation on Linux may crash if a task is cancelled at the moment when it ends. So only a load that does not
    /// end by itself is cancelled.
    func stop() {
        lock.withLock { state.isStopped = true }
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { [self] in
            let running = lock.withLock { state.hasEnded ? nil : self.running }
            running?.cancel()
        }
    }

    private var isStopped: Bool { lock.withLock { state.isStopped } }

    /// Reports the head, unless it is reported already.
    ///
    /// If a redirect is not followed, Foundation on Linux reports no head, so it is taken from the task.
    private func report(_ response: URLResponse?) {
        guard let response, lock.withLock({ !state.isStopped && !state.hasHead }) else { return }
        lock.withLock { state.hasHead = true }
        task.receive(response)
    }

    // MARK: - URLSessionDataDelegate

    func urlSession(
        _ session: RealSession,
        task running: RealTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard !isStopped else { return completionHandler(nil) }
        task.redirect(response, to: request.withProperties(of: original)) { [self] next in
            // A redirect that the fake task follows is refused here, and the task begins anew.
            if next != nil { lock.withLock { state.isStopped = true } }
            completionHandler(nil)
            if let next { task.begin(next) }
        }
    }

    func urlSession(
        _ session: RealSession,
        task running: RealTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (RealSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        lock.withLock { refusal = nil }
        guard !isStopped else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        task.receive(challenge, answered: completionHandler)
    }

    func urlSession(
        _ session: RealSession,
        dataTask: RealDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (RealSession.ResponseDisposition) -> Void
    ) {
        let head = response as? HTTPURLResponse
        if head?.statusCode == 401, head?.value(forHTTPHeaderField: "WWW-Authenticate") != nil {
            lock.withLock { refusal = (response, Data()) }
        } else {
            report(response)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: RealSession, dataTask: RealDataTask, didReceive data: Data) {
        let isHeld = lock.withLock {
            refusal?.body += data
            return refusal != nil
        }
        if isHeld { return }
        report(dataTask.response)
        if !isStopped { task.receive(data) }
    }

    func urlSession(_ session: RealSession, task running: RealTask, didCompleteWithError error: (any Error)?) {
        if error == nil {
            report(running.response)
            if let body = lock.withLock({ refusal?.body }), !isStopped { task.receive(body) }
        }
        let isStopped = lock.withLock {
            state.hasEnded = true
            self.running = nil
            return state.isStopped
        }
        if !isStopped { task.complete(error) }
    }
}

extension URLRequest {
    /// The request as it is sent: properties are not part of an HTTP message.
    var withoutProperties: URLRequest {
        var sent = self
        for name in properties.keys { sent.setValue(nil, forHTTPHeaderField: name) }
        return sent
    }

    /// Returns the request of a redirect, which keeps the properties of the original request.
    ///
    /// For this reason, Apple's sample CustomHTTPProtocol removes its own property from the redirected request.
    func withProperties(of original: URLRequest) -> URLRequest {
        var followed = self
        for (name, value) in original.properties { followed.setValue(value, forHTTPHeaderField: name) }
        return followed
    }

    private var properties: [String: String] {
        (allHTTPHeaderFields ?? [:]).filter { $0.key.hasPrefix(URLProtocol.prefix) }
    }
}
