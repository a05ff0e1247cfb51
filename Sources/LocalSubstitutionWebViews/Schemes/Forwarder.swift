import Foundation
import LocalSubstitutionCache
import SubstitutionRules
import SubstitutionStandards

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
    /// The delegate of the session; it knows the load of each task.
    fileprivate let loads = ForwardingDelegate()
    private let lock = NSLock()
    // Only accessed inside the lock.
    private nonisolated(unsafe) var engineAgent: String?

    /// - Parameter hosts: The hosts from which URLs may be loaded, each as `host`, `host:port` or a URL.
    init(to hosts: Set<String>) {
        guardian = ForwardingGuard(hosts: hosts)
        let configuration = URLSessionConfiguration.default
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        // Only Foundation on Linux crashes if a task is cancelled at the moment it ends.
        #if canImport(FoundationNetworking)
        configuration.protocolClasses = [GuardedProtocol.self] + (configuration.protocolClasses ?? [])
        #endif
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
    fileprivate func forOtherSite(_ request: URLRequest, of pageOrigin: WebOrigin? = nil) -> URLRequest {
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
                let load = ForwardedLoad(request, original, forwarded.httpBody, cookies, server, self, continuation)
                continuation.onTermination = { _ in load.cancel() }
                load.begin(forwarded)
            }
        )
    }

    /// Runs `body` later, on the queue of the session's events.
    fileprivate func perform(after seconds: Int, _ body: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { [session] in
            session.delegateQueue.addOperation(body)
        }
    }

    /// Creates a task, which no `URLProtocol` of this library loads.
    fileprivate func task(for request: URLRequest) -> URLSessionDataTask {
        session.dataTask(with: request.marked)
    }
}

/// The delegate of the forwarder's session.
///
/// It passes each event of a task to the load to which the task belongs.
private final class ForwardingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
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
        // `RedirectPolicy` resolves `Location` as RFC 3986 §5 requires, on every platform. The session's delegate is
        // this object and not the policy, so the policy's delegate method is called here directly.
        RedirectPolicy { next, response in load.next(next, after: response, of: task) }.urlSession(
            session,
            task: task,
            willPerformHTTPRedirection: response,
            newRequest: request
        ) { next in
            load.completeRedirect(of: task) { completionHandler(next) }
        }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        load(of: dataTask)?.receive(response, of: dataTask)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        load(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        removeLoad(of: task)?.finish(error, of: task)
    }
}

/// One load from the network, by one task or by several in turn.
///
/// After some redirects, a new task continues the load. `task` and `isCancelled` are only accessed inside
/// `enqueue(_:)`. All other state is only accessed on the delegate queue of the current task's session, or, before
/// the first task exists, in the first call of ``begin(_:)``.
private final class ForwardedLoad: @unchecked Sendable {
    /// The largest page or stylesheet, in bytes, that is buffered and rewritten; a larger one stays unchanged.
    private static let longestRewritten = 8 << 20
    /// The maximum number of redirects, the same as in browsers (Fetch §4.4).
    private static let mostRedirects = 20

    private let request: URLRequest
    private let original: URL
    /// The body of the request, which is sent again after some redirects.
    private let body: Data?
    private let server: SchemeServer
    private let forwarder: Forwarder
    private let continuation: Forwarder.Continuation
    /// The page's cookies; nil if none may be sent, for example after a redirect to another site.
    private var cookies: PageCookies?
    /// The head and buffered body of a page or stylesheet that is rewritten once it is complete; otherwise nil.
    private var buffered: (response: HTTPURLResponse, type: MediaType, body: Data)?
    /// The request of the current task, and the network-first entry's file that may answer it.
    private var fallback: (request: URLRequest, match: SubstitutionTable.Match)?
    /// The current task.
    private var task: URLSessionTask?
    private var isCancelled = false
    private var redirects = 0
    /// True after a redirect to a site other than that of the first request.
    ///
    /// At the beginning it is false, even if the page belongs to a different site than the first request. The engine
    /// checks that case itself: it compares the origins of the two mirrors.
    private var hasLeftSite = false
    private var hasHead = false
    private var hasEnded = false

    init(
        _ request: URLRequest,
        _ original: URL,
        _ body: Data?,
        _ cookies: PageCookies?,
        _ server: SchemeServer,
        _ forwarder: Forwarder,
        _ continuation: Forwarder.Continuation
    ) {
        (self.request, self.original, self.body, self.cookies) = (request, original, body, cookies)
        (self.server, self.forwarder, self.continuation) = (server, forwarder, continuation)
    }

    func begin(_ next: URLRequest) {
        let next = cookies?.added(to: next) ?? next
        fallback = server.cache.decision(on: next).networkFirst.map { (next, $0) }
        let patience = fallback?.match.patience
        forwarder.loads.enqueue { [self] in
            if isCancelled { return }
            let task = forwarder.task(for: next)
            self.task = task
            forwarder.loads.add(self, to: task)
            server.cache.observers?.observe(.asked, of: next, by: task)
            task.resume()
            guard let seconds = patience else { return }
            forwarder.perform(after: seconds) { [weak self] in self?.endPatience(after: seconds, of: task) }
        }
    }

    /// Lets the file answer if no head has come; called when the patience of its entry ends.
    private func endPatience(after seconds: Int, of task: URLSessionTask) {
        if !hasEnded, !hasHead, task === self.task { _ = answerWithFile(after: .silence(seconds: seconds), of: task) }
    }

    func cancel() {
        forwarder.loads.enqueue { [self] in
            isCancelled = true
            task?.cancel()
        }
    }

    /// Calls the completion handler of a redirect, unless `task` has been cancelled.
    ///
    /// Foundation on Linux crashes if the redirect of a cancelled task is completed.
    func completeRedirect(of task: URLSessionTask, _ completionHandler: @escaping @Sendable () -> Void) {
        forwarder.loads.enqueue { [self] in
            if !isCancelled || task !== self.task { completionHandler() }
        }
    }

    /// Returns the request with which the task follows a redirect; nil if the task ends here.
    ///
    /// A new task continues the load if the site changes, if the page's cookies may be sent, if the method is neither
    /// GET nor HEAD, or if a network-first entry names the target. Otherwise the task itself follows the redirect.
    func next(_ next: URLRequest, after response: HTTPURLResponse, of task: URLSessionTask) -> URLRequest? {
        guard !hasEnded else { return nil }
        cookies?.storeCookies(from: response)
        redirects += 1
        guard let url = next.url, let target = WebOrigin(url), !target.isMirror, redirects <= Self.mostRedirects,
            let source = WebOrigin(response.url), !source.isSecure || target.isSecure, isShared(response)
        else { return refuse() }
        let isReading = next.fileMethod != nil
        // Answer with a page that navigates to the target. If the engine received the target's document in this reply,
        // the document would keep the URL of the first request. Relative addresses in it would then be wrong, and a
        // document of another site would have the origin of the first site. A redirect to the requested URL itself is
        // followed here, where the number of redirects is limited. Sites use such a redirect to set a cookie.
        if isReading, request.isForDocument, url.withoutFragment != original.withoutFragment {
            // The page leads to the target's mirror if this library answers requests for the mirror; otherwise the page
            // leads to the target itself.
            let isMirrored = forwarder.guardian.isNamed(target) || server.isMapped(url)
            end(with: server.page(leadingTo: isMirrored ? MirrorURL.mirror(of: url) ?? url : url, for: request))
            return nil
        }
        if let reply = server.file(at: url, for: request) {
            end(with: reply)
            return nil
        }
        guard forwarder.guardian.isNamed(target) else { return refuse() }
        if target != source {
            guard isReading, ForwardingGuard.fieldNeedingConsent(request) == nil else { return refuse() }
            cookies = nil
            hasLeftSite = true
        } else if cookies == nil, isReading, server.cache.decision(on: next).networkFirst == nil {
            return next
        }
        // The old task ends by itself, because its redirect is not followed.
        _ = forwarder.loads.removeLoad(of: task)
        var next = next
        // A redirected request that keeps a method such as POST also keeps its body (RFC 9110 §15.4.8).
        next.httpBody = isReading ? nil : body
        begin(hasLeftSite ? forwarder.forOtherSite(next, of: pageOrigin) : next)
        return nil
    }

    /// Delivers the file of a network-first entry if a condition holds.
    ///
    /// - Parameters:
    ///   - outcome: What the network did.
    ///   - task: The task, whose further events are ignored.
    /// - Returns: False if no condition holds.
    private func answerWithFile(after outcome: NetworkOutcome, of task: URLSessionTask) -> Bool {
        guard let (request, match) = fallback, let answer = match.response(to: request, after: outcome) else {
            return false
        }
        fallback = nil
        _ = forwarder.loads.removeLoad(of: task)
        forwarder.loads.enqueue { task.cancel() }
        if let response = task.response, case .status = outcome {
            server.cache.observers?.observe(.received(response), of: request, by: task)
        }
        let (response, file) = (answer.response, match.row.substitution)
        let step = RequestStep.answered(response, byteCount: answer.data.count, from: file)
        server.cache.observers?.observe(step, of: request, by: task)
        receive(answer.response, of: task)
        receive(answer.data)
        finish(nil, of: task)
        return true
    }

    func receive(_ response: URLResponse, of task: URLSessionTask) {
        // On a custom scheme an engine accepts only one head, and neither a redirect nor a 304. Foundation on Linux
        // also delivers the heads of interim responses (RFC 9110 §15.2), which are skipped here.
        guard !hasEnded, !hasHead, let response = response as? HTTPURLResponse,
            ![1, 3].contains(response.statusCode / 100), let url = request.url,
            !answerWithFile(after: .status(response.statusCode), of: task)
        else { return }
        cookies?.storeCookies(from: response)
        let type = MediaType(response.value(forHTTPHeaderField: "Content-Type") ?? "")
        // Refuse a document of another site: it would have the origin of the requested site. A response without a type
        // may be a document, too.
        guard isShared(response), requestedOrigin == WebOrigin(response.url) || type?.isDocument == false else {
            _ = refuse()
            return
        }
        hasHead = true
        let origin = request.value(forHTTPHeaderField: "Origin")
        let fields = ForwardedHead.fields(of: response, for: requestedOrigin, origin: origin)
        let head = HTTPURLResponse(
            url: url,
            statusCode: response.statusCode,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        )
        guard let head else { return fail(URLError(.cannotParseResponse)) }
        if let type, request.httpMethod == "GET", response.statusCode != 206,
            server.isRewritten(type, for: request)
        {
            buffered = (head, type, Data())
        } else {
            continuation.yield(.response(head))
        }
    }

    /// Returns true if the page may receive this response, or follow this redirect (Fetch §4.9, CORS check).
    ///
    /// A response of the requested site passes, unless an earlier redirect has led to another site.
    ///
    /// To the engine, a response of another site looks like one of the requested site. So every document of the
    /// requested site could read it: even the pixels of images, the rules of stylesheets and the errors of scripts.
    /// Therefore such a response must pass the check that browsers apply when a script reads a response.
    private func isShared(_ response: HTTPURLResponse) -> Bool {
        guard hasLeftSite || requestedOrigin != WebOrigin(response.url) else { return true }
        let shared = response.field("Access-Control-Allow-Origin")
        return shared == "*" || shared != nil && shared == pageOrigin?.site
    }

    /// The origin of the requested URL, not of its mirror.
    private var requestedOrigin: WebOrigin? { WebOrigin(original) }

    /// The origin of the page that sends the request, according to `Origin`, or to `Referer` if there is no `Origin`.
    ///
    /// If the field names no origin, or if there is neither field, the value is ``requestedOrigin``.
    private var pageOrigin: WebOrigin? {
        let named = ["Origin", "Referer"].lazy.compactMap { self.request.value(forHTTPHeaderField: $0) }.first
        return named.flatMap { WebOrigin($0) } ?? requestedOrigin
    }

    func receive(_ data: Data) {
        guard !hasEnded, hasHead else { return }
        guard buffered != nil else { return deliver(data) }
        buffered?.body.append(data)
        if let body = buffered?.body, body.count > Self.longestRewritten { deliverBuffered(as: body) }
    }

    func finish(_ error: (any Error)?, of task: URLSessionTask) {
        guard !hasEnded else { return }
        if let error {
            if !hasHead, error.meansOffline, answerWithFile(after: .offline, of: task) { return }
            return fail(error)
        }
        guard hasHead else {
            _ = refuse()
            return
        }
        if let buffered {
            let policy = buffered.response.field("Content-Security-Policy")
            let body = server.rewritten(buffered.body, buffered.type, at: original, policy: policy)
            deliverBuffered(as: body ?? buffered.body)
        }
        hasEnded = true
        continuation.finish()
    }

    private func deliverBuffered(as body: Data) {
        guard let response = buffered?.response, let url = response.url else { return }
        buffered = nil
        var fields = response.allHeaderFields as? [String: String] ?? [:]
        fields = fields.filter { $0.key.lowercased() != "content-length" }
        let head = HTTPURLResponse(
            url: url,
            statusCode: response.statusCode,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        )
        continuation.yield(.response(head ?? response))
        deliver(body)
    }

    private func deliver(_ data: Data) {
        var rest = data
        while !rest.isEmpty {
            continuation.yield(.data(rest.prefix(SchemeReply.maximumChunkSize)))
            rest = rest.dropFirst(SchemeReply.maximumChunkSize)
        }
    }

    private func fail(_ error: any Error) {
        hasEnded = true
        continuation.finish(throwing: error)
    }

    /// Ends the load with a refusal, and returns nil: no request follows.
    ///
    /// The reason is always the same text, because scripts can read it. A more exact text would reveal the redirect's
    /// target, which browsers do not reveal to scripts.
    private func refuse() -> URLRequest? {
        let reason =
            "It redirects to a URL that this page may not load, or to none. The target must be http or https, not from https "
            + "to http, on a host that the app has named, and shared by that host (Access-Control-Allow-Origin)."
        end(with: server.refusal(502, reason, to: request))
        return nil
    }

    /// Ends the load with a reply of the app, after which all events from the network are ignored.
    private func end(with reply: SchemeReply) {
        guard !hasEnded else { return }
        hasEnded = true
        // The reply is a file, a refusal or a short page. None of these needs the network, so this task ends soon.
        Task { [continuation] in await reply.deliver(to: continuation) }
    }
}

extension URLRequest {
    /// True if the request navigates a page or frame; false if a script loads the text of a page.
    ///
    /// On a custom scheme, engines send `Referer` only in requests of scripts. Only a script can add a header field
    /// that needs a preflight.
    fileprivate var isForDocument: Bool {
        guard value(forHTTPHeaderField: "Referer") == nil else { return false }
        return isForMainDocument
            || value(forHTTPHeaderField: "Accept")?.hasPrefix("text/html") == true
                && ForwardingGuard.fieldNeedingConsent(self) == nil
    }
}

extension URL {
    fileprivate var withoutFragment: Substring { absoluteString.prefix { $0 != "#" } }
}

extension MediaType {
    /// True for the types of documents.
    ///
    /// An engine runs the scripts in a document with the origin of the document's URL.
    fileprivate var isDocument: Bool {
        essence == "text/html" || essence.hasSuffix("/xml") || essence.hasSuffix("+xml")
    }
}
