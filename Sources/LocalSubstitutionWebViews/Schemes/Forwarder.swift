import Foundation
import LocalSubstitutionCache
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads unmapped URLs from the network for mirror pages, under the rules that browsers apply to pages.
///
/// The mirror of `https://host/path` is `substitution-https://host/path`. A mirror page is a page that was loaded from
/// such a URL. A URL is unmapped if no file of the app answers it. In this file, a site is an origin: scheme, host and
/// port.
///
/// On an app's custom scheme an engine follows no redirects, sends no preflights and handles no cookies. So this class
/// follows the redirects. ``ForwardingGuard`` decides which requests may be sent, and with which cookies.
///
/// The session of this class keeps no cookies, no credentials and no responses. So a response that was loaded with
/// cookies is never used for a page without them.
final class Forwarder: Sendable {
    typealias Continuation = AsyncThrowingStream<SchemeReply.Element, any Error>.Continuation

    let guardian: ForwardingGuard
    private let session: URLSession
    /// The fields that the session adds to its requests.
    let fields: SessionFields
    /// The delegate of the session; it knows the load of each task.
    let loads = ForwardingDelegate()
    private let lock = NSLock()
    // Only accessed inside the lock.
    private nonisolated(unsafe) var engineAgent: String?
    /// Keeps responses, and replays them without a connection; nil for none.
    let archive: (any ResponseArchive)?

    /// - Parameters:
    ///   - hosts: The hosts from which URLs may be loaded, each as `host`, `host:port` or a URL.
    ///   - archive: The archive that keeps the responses; nil for none.
    init(to hosts: Set<String>, _ archive: (any ResponseArchive)?) {
        (guardian, self.archive) = (ForwardingGuard(hosts: hosts), archive)
        let configuration = URLSessionConfiguration.default
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        // Only Foundation on Linux crashes if a task is cancelled at the moment it ends.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        configuration.protocolClasses = [GuardedProtocol.self] + (configuration.protocolClasses ?? [])
        #endif
        fields = SessionFields(configuration)
        session = URLSession(configuration: configuration, delegate: loads, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Records the engine's own `User-Agent` from the first request for a page.
    ///
    /// No page's script can have sent that request. Later, a script may set `User-Agent` itself.
    func note(_ request: URLRequest) {
        guard request.isForMainDocument else { return }
        lock.withLock { engineAgent = engineAgent ?? request.value(forHTTPHeaderField: "User-Agent") }
    }

    /// Returns the request to send to a site other than the page's own.
    ///
    /// The result has the engine's own `User-Agent`, so a page cannot send another site a value of its choice.
    ///
    /// - Parameters:
    ///   - request: The request as it would be sent to the page's own site.
    ///   - pageOrigin: The origin to write into a missing `Origin` field; nil to leave the field unchanged.
    /// - Returns: The request to send.
    func forOtherSite(_ request: URLRequest, of pageOrigin: WebOrigin? = nil) -> URLRequest {
        ForwardedHead.request(request, by: lock.withLock { engineAgent }, of: pageOrigin)
    }

    /// Loads an unmapped URL.
    ///
    /// - Parameters:
    ///   - request: The request as the engine passes it on, with the mirror's URL.
    ///   - original: The URL to load.
    ///   - isElsewhere: True if the request is sent in the way in which browsers send requests to other sites.
    ///   - cookies: The page's cookies that may be sent; nil for none.
    ///   - server: The server that answers redirects to mapped URLs, and rewrites pages.
    /// - Returns: The network's response, which is delivered as it is received.
    func reply(
        to request: URLRequest,
        _ original: URL,
        asOtherSite isElsewhere: Bool,
        _ cookies: PageCookies?,
        _ server: SchemeServer
    ) -> SchemeReply {
        SchemeReply(
            AsyncThrowingStream { continuation in
                var forwarded = ForwardedHead.request(request, to: original)
                if isElsewhere { forwarded = forOtherSite(forwarded) }
                let reply = ForwardedReply(request, original, server, continuation)
                let load = ForwardedLoad(reply, forwarded.httpBody, cookies, self)
                continuation.onTermination = { _ in load.cancel() }
                load.begin(forwarded)
            }
        )
    }

    /// Runs `body` on the queue of the session's events.
    func perform(_ body: @escaping @Sendable () -> Void) { session.delegateQueue.addOperation(body) }

    /// Creates a task, which no `URLProtocol` of this library loads.
    func task(for request: URLRequest) -> URLSessionDataTask {
        session.dataTask(with: request.marked)
    }
}

/// The delegate of the forwarder's session.
///
/// It passes each event of a task to the load to which the task belongs.
final class ForwardingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var loads: [ObjectIdentifier: ForwardedLoad] = [:]
    private let queue = DispatchQueue(label: "LocalSubstitutionCache.Forwarder")

    /// Runs `body` on the queue that starts tasks, cancels tasks and completes redirects.
    ///
    /// If two of these actions race, Foundation on Linux crashes.
    func enqueue(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    func add(_ load: ForwardedLoad, to task: URLSessionTask) {
        lock.withLock { loads[ObjectIdentifier(task)] = load }
    }

    /// Removes a task's load and returns it; all further events of the task are ignored.
    func removeLoad(of task: URLSessionTask) -> ForwardedLoad? {
        lock.withLock { loads.removeValue(forKey: ObjectIdentifier(task)) }
    }

    private func load(of task: URLSessionTask) -> ForwardedLoad? {
        lock.withLock { loads[ObjectIdentifier(task)] }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let load = load(of: task) else { return completionHandler(nil) }
        let next = response.redirected(request).flatMap { load.next($0, after: response, of: task) }
        load.completeRedirect(of: task) { completionHandler(next) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        load(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        load(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        removeLoad(of: task)?.finish(error, of: task)
    }
}
