import Foundation
import LocalSubstitutionCache
import SubstitutionRules

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads URLs that are not mapped from the network, for mirror pages, under the rules that browsers have for pages.
///
/// Its sessions keep no cookies, no credentials and no answers. So an answer that was loaded with cookies never
/// answers a page without them.
final class Forwarder: Sendable {
    typealias Continuation = AsyncThrowingStream<SchemeReply.Element, any Error>.Continuation

    let guardian: ForwardingGuard
    private let plain: URLSession
    /// Asks `SubstitutionProtocol`, for entries with `when`.
    private let conditional: URLSession
    fileprivate let loads = ForwardedLoads()
    private let lock = NSLock()
    // Only accessed inside the lock.
    private nonisolated(unsafe) var engineAgent: String?

    /// - Parameter hosts: `host` or `host:port` of each site from which is loaded.
    init(to hosts: Set<String>) {
        guardian = ForwardingGuard(hosts: hosts)
        (plain, conditional) = (Self.session(loads, asksProtocol: false), Self.session(loads, asksProtocol: true))
    }

    private static func session(_ delegate: ForwardedLoads, asksProtocol: Bool) -> URLSession {
        let configuration = URLSessionConfiguration.default
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        return OwnSession.make(configuration, delegate: delegate, asksProtocol: asksProtocol)
    }

    deinit {
        plain.finishTasksAndInvalidate()
        conditional.finishTasksAndInvalidate()
    }

    /// Notes the engine's own `User-Agent`: that of the first page, which no script of a page can have asked for.
    func note(_ request: URLRequest) {
        guard request.isForMainDocument else { return }
        lock.withLock { engineAgent = engineAgent ?? request.value(forHTTPHeaderField: "User-Agent") }
    }

    /// The request for another site than that of the page.
    ///
    /// - Parameters:
    ///   - request: As it would go to the page's own site.
    ///   - asker: The origin to name; nil where the engine has said it, or left it out.
    /// - Returns: The request that goes out.
    fileprivate func forOtherSite(_ request: URLRequest, of asker: WebOrigin? = nil) -> URLRequest {
        ForwardedHead.request(request, by: lock.withLock { engineAgent }, of: asker)
    }

    /// Loads what was asked for.
    ///
    /// - Parameters:
    ///   - request: As the engine hands it over.
    ///   - original: What it asks for.
    ///   - isElsewhere: Whether another site is asked than that of the page.
    ///   - cookies: What the page has, as far as it may be sent; nil for none.
    ///   - server: Answers redirects to what is mapped, and rewrites pages.
    /// - Returns: The network's answer, as it comes.
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

    /// Makes a task of the session that answers its URL.
    fileprivate func task(for request: URLRequest, _ server: SchemeServer) -> URLSessionDataTask {
        if server.cache.asksNetworkFirst(for: request) {
            return conditional.dataTask(with: OwnSession.substituted(request))
        }
        return plain.dataTask(with: OwnSession.unsubstituted(request))
    }
}

/// The delegate of the forwarder's sessions, which leads each event to its load.
private final class ForwardedLoads: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private var loads: [ObjectIdentifier: ForwardedLoad] = [:]
    private let commands = DispatchQueue(label: "LocalSubstitutionCache.Forwarder")

    /// Runs what starts, cancels and redirects tasks, in order: Linux ends the process when they meet.
    func command(_ body: @escaping @Sendable () -> Void) { commands.async(execute: body) }

    func add(_ load: ForwardedLoad, to task: URLSessionTask) {
        lock.withLock { loads[ObjectIdentifier(task)] = load }
    }

    /// Nobody hears of a task any more.
    func forget(_ task: URLSessionTask) -> ForwardedLoad? {
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
        // Where `Location` leads is read as RFC 3986 §5 says, on every system.
        RedirectPolicy { next, response in load.next(next, after: response, of: task) }.urlSession(
            session,
            task: task,
            willPerformHTTPRedirection: response,
            newRequest: request
        ) { next in
            load.goOn(task) { completionHandler(next) }
        }
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
        forget(task)?.finish(error)
    }
}

/// One load from the network, by one task after another.
///
/// Only touched on the queue of the sessions' delegate, but for its beginning and its end from outside.
private final class ForwardedLoad: @unchecked Sendable {
    /// The most bytes of a page or stylesheet that are collected to be rewritten; what is longer stays as it is.
    private static let longestRewritten = 8 << 20
    /// As many as browsers follow (Fetch §4.4).
    private static let mostRedirects = 20

    private let request: URLRequest
    private let original: URL
    /// The body that was sent, for redirects that want it again.
    private let body: Data?
    private let server: SchemeServer
    private let forwarder: Forwarder
    private let continuation: Forwarder.Continuation
    /// The page's cookies; nil once another site has been asked.
    private var cookies: PageCookies?
    /// A page or stylesheet that is rewritten once its end has come.
    private var collected: (response: HTTPURLResponse, type: MediaType, body: Data)?
    /// Only touched by commands.
    private var task: URLSessionTask?
    private var isCancelled = false
    private var redirects = 0
    /// True once another site has been asked than that of the page.
    private var isElsewhere = false
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
        forwarder.loads.command { [self] in
            if isCancelled { return }
            let task = forwarder.task(for: next, server)
            self.task = task
            forwarder.loads.add(self, to: task)
            server.cache.observer?.observe(.asked, of: next, by: task)
            task.resume()
        }
    }

    func cancel() {
        forwarder.loads.command { [self] in
            isCancelled = true
            task?.cancel()
        }
    }

    /// Says where a redirect leads, unless this task was cancelled.
    func goOn(_ task: URLSessionTask, _ completionHandler: @escaping @Sendable () -> Void) {
        forwarder.loads.command { [self] in
            if !isCancelled || task !== self.task { completionHandler() }
        }
    }

    /// Returns the request that follows a redirect; nil when this task ends with it.
    ///
    /// Another task goes on where the site or the cookies change.
    func next(_ next: URLRequest, after response: HTTPURLResponse, of task: URLSessionTask) -> URLRequest? {
        guard !hasEnded else { return nil }
        cookies?.keep(from: response)
        redirects += 1
        guard let url = next.url, let target = WebOrigin(url), !target.isMirror, redirects <= Self.mostRedirects,
            let source = WebOrigin(response.url), !source.isSecure || target.isSecure, isShared(response)
        else { return refuse() }
        let isReading = next.fileMethod != nil
        // The address of a document would stay that of the first request, and everything relative in it be wrong, and
        // another site's document have the origin of the first.
        if isReading, request.isForDocument, url.absoluteString != request.url?.absoluteString {
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
            isElsewhere = true
        } else if cookies == nil, isReading {
            return next
        }
        // It ends by itself, refused.
        _ = forwarder.loads.forget(task)
        var next = next
        // RFC 9110 §15.4.8: what keeps its method keeps its body.
        next.httpBody = isReading ? nil : body
        begin(isElsewhere ? forwarder.forOtherSite(next, of: asker) : next)
        return nil
    }

    func receive(_ response: URLResponse) {
        // An engine takes neither a 304 nor a redirect from a scheme, and one head; an interim answer is none (RFC 9110
        // §15.2), though Foundation on Linux hands it over as one.
        guard !hasEnded, !hasHead, let response = response as? HTTPURLResponse,
            ![1, 3].contains(response.statusCode / 100), let url = request.url
        else { return }
        cookies?.keep(from: response)
        let type = MediaType(response.value(forHTTPHeaderField: "Content-Type") ?? "")
        guard isShared(response), asked == WebOrigin(response.url) || type?.isDocument == false else {
            _ = refuse()
            return
        }
        hasHead = true
        let origin = request.value(forHTTPHeaderField: "Origin")
        let fields = ForwardedHead.fields(of: response, for: asked, origin: origin)
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
            collected = (head, type, Data())
        } else {
            continuation.yield(.response(head))
        }
    }

    /// Returns whether a page may have this answer, or follow this redirect, of another site than the one it has asked
    /// (Fetch §4.9, CORS check).
    ///
    /// To the engine it is the asked site's own, and every document of that site may read it: also the pixels of
    /// pictures, the rules of stylesheets and the errors of scripts. So it is judged as for a script that reads it.
    private func isShared(_ response: HTTPURLResponse) -> Bool {
        guard isElsewhere || asked != WebOrigin(response.url) else { return true }
        let shared = response.value(forHTTPHeaderField: "Access-Control-Allow-Origin")
        return shared == "*" || shared != nil && shared == asker?.site
    }

    /// The origin of the mirror that is asked for.
    private var asked: WebOrigin? { WebOrigin(original) }

    /// The origin that asks; that which is asked for where no field says it.
    private var asker: WebOrigin? {
        let named = ["Origin", "Referer"].lazy.compactMap { self.request.value(forHTTPHeaderField: $0) }.first
        return named.flatMap { WebOrigin($0) } ?? asked
    }

    func receive(_ data: Data) {
        guard !hasEnded, hasHead else { return }
        guard collected != nil else { return tell(data) }
        collected?.body.append(data)
        if let body = collected?.body, body.count > Self.longestRewritten { tellCollected(as: body) }
    }

    func finish(_ error: (any Error)?) {
        guard !hasEnded else { return }
        if let error { return fail(error) }
        guard hasHead else {
            _ = refuse()
            return
        }
        if let collected {
            let policy = collected.response.value(forHTTPHeaderField: "Content-Security-Policy")
            let body = server.rewritten(collected.body, collected.type, at: original, policy: policy)
            tellCollected(as: body ?? collected.body)
        }
        hasEnded = true
        continuation.finish()
    }

    private func tellCollected(as body: Data) {
        guard let response = collected?.response, let url = response.url else { return }
        collected = nil
        var fields = response.allHeaderFields as? [String: String] ?? [:]
        fields = fields.filter { $0.key.lowercased() != "content-length" }
        let head = HTTPURLResponse(
            url: url,
            statusCode: response.statusCode,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        )
        continuation.yield(.response(head ?? response))
        tell(body)
    }

    private func tell(_ data: Data) {
        var rest = data
        while !rest.isEmpty {
            continuation.yield(.data(rest.prefix(SchemeReply.longestPart)))
            rest = rest.dropFirst(SchemeReply.longestPart)
        }
    }

    private func fail(_ error: any Error) {
        hasEnded = true
        continuation.finish(throwing: error)
    }

    /// Ends with a refusal.
    ///
    /// Its reason is always the same: scripts read it, and browsers do not tell scripts where a redirect leads.
    private func refuse() -> URLRequest? {
        let reason =
            "It redirects to something that this page may not have, or to nothing: only what is on the web, not from https "
            + "to http, of a host that the app has named, and shared by that host (Access-Control-Allow-Origin)."
        end(with: server.refusal(502, reason, to: request))
        return nil
    }

    /// Ends with an answer of the app's, and lets go of the network's.
    private func end(with reply: SchemeReply) {
        guard !hasEnded else { return }
        hasEnded = true
        // Files and refusals only; none waits.
        Task { [continuation] in await reply.tell(continuation) }
    }
}

extension URLRequest {
    /// True for the request of a page, or of one in a frame, and false for a script's that wants the text of one:
    /// engines name `Referer` for scripts only, and only scripts add fields.
    fileprivate var isForDocument: Bool {
        guard value(forHTTPHeaderField: "Referer") == nil else { return false }
        return isForMainDocument
            || value(forHTTPHeaderField: "Accept")?.hasPrefix("text/html") == true
                && ForwardingGuard.fieldNeedingConsent(self) == nil
    }
}

extension MediaType {
    /// True for types whose scripts an engine runs with the origin of their address.
    fileprivate var isDocument: Bool {
        essence == "text/html" || essence.hasSuffix("/xml") || essence.hasSuffix("+xml")
    }
}
