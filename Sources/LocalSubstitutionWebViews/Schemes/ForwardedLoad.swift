import Foundation
import LocalSubstitutionCache
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One load from the network, by one task or by several in turn.
///
/// After some redirects, a new task continues the load. `task` and `isCancelled` are only accessed inside
/// `enqueue(_:)`. All other state is only accessed on the delegate queue of the current task's session, or, before
/// the first task exists, in the first call of ``begin(_:)``.
final class ForwardedLoad: @unchecked Sendable {
    /// The maximum number of redirects, the same as in browsers (Fetch §4.4).
    private static let mostRedirects = 20

    private var reply: ForwardedReply
    /// The body of the request, which is sent again after some redirects.
    private let body: Data?
    private let forwarder: Forwarder
    /// The page's cookies; nil if none may be sent, for example after a redirect to another site.
    private var cookies: PageCookies?
    private var first = NetworkFirst(nil, nil)
    /// The current task.
    private var task: URLSessionTask?
    private var isCancelled = false
    private var redirects = 0

    init(_ reply: ForwardedReply, _ body: Data?, _ cookies: PageCookies?, _ forwarder: Forwarder) {
        (self.reply, self.body, self.cookies, self.forwarder) = (reply, body, cookies, forwarder)
    }

    private var cache: SubstitutionCache { reply.server.cache }

    func begin(_ next: URLRequest) {
        let next = cookies?.added(to: next) ?? next
        if redirects == 0 {
            let decision = cache.decision(on: next)
            first = NetworkFirst(Fallback(for: next, decision, cache, forwarder.archive, forwarder.fields), nil)
        }
        let patience = first.patience
        forwarder.loads.enqueue { [self] in
            if isCancelled { return }
            let task = forwarder.task(for: next)
            self.task = task
            forwarder.loads.add(self, to: task)
            let observed = ObservedLoad(next, of: task, forwarder.fields, cache.observers)
            observed?.reportBeginning()
            forwarder.perform { [self] in first.observed = observed }
            task.resume()
            patience?.wait { [forwarder, weak self] patience in
                forwarder.perform { [weak self] in self?.endPatience(patience) }
            }
        }
    }

    /// Lets the file answer if no head has come; called when the patience of its entry ends.
    private func endPatience(_ patience: NetworkFirst.Patience) {
        _ = passesOn(first.silence(patience) { [self] in forwarder.perform { [self] in endPatience(patience) } })
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
        guard !first.hasEnded else { return nil }
        cookies?.storeCookies(from: response)
        redirects += 1
        guard let url = next.url, let target = WebOrigin(url), !target.isMirror, redirects <= Self.mostRedirects,
            let source = WebOrigin(response.url), !source.isSecure || target.isSecure, reply.isShared(response)
        else { return refuse() }
        let isReading = next.fileMethod != nil
        // Answer with a page that navigates to the target. If the engine received the target's document in this reply,
        // the document would keep the URL of the first request. Relative addresses in it would then be wrong, and a
        // document of another site would have the origin of the first site. A redirect to the requested URL itself is
        // followed here, where the number of redirects is limited. Sites use such a redirect to set a cookie.
        if isReading, reply.request.isForDocument, url.withoutFragment != reply.original.withoutFragment {
            // The page leads to the target's mirror if this library answers requests for the mirror; otherwise the page
            // leads to the target itself.
            let isMirrored = forwarder.guardian.isNamed(target) || reply.server.isMapped(url)
            let target = isMirrored ? MirrorURL.mirror(of: url) ?? url : url
            return end(with: reply.server.page(leadingTo: target, for: reply.request))
        }
        if let file = reply.server.file(at: url, for: reply.request) { return end(with: file) }
        guard forwarder.guardian.isNamed(target) else { return refuse() }
        guard passesOn(first.redirect(response, to: next, isReported: false)) else { return nil }
        if target != source {
            guard isReading, ForwardingGuard.fieldNeedingConsent(reply.request) == nil else { return refuse() }
            cookies = nil
            reply.hasLeftSite = true
        } else if cookies == nil, isReading, cache.decision(on: next).networkFirst == nil {
            return next
        }
        // The old task ends by itself, because its redirect is not followed.
        _ = forwarder.loads.removeLoad(of: task)
        var next = next
        // A redirected request that keeps a method such as POST also keeps its body (RFC 9110 §15.4.8).
        next.httpBody = isReading ? nil : body
        begin(reply.hasLeftSite ? forwarder.forOtherSite(next, of: reply.pageOrigin) : next)
        return nil
    }

    /// Ends the load with a reply of the app, after which all events from the network are ignored.
    private func end(with answer: SchemeReply) -> URLRequest? {
        first.stop()
        reply.end(with: answer)
        return nil
    }

    private func refuse() -> URLRequest? {
        first.stop()
        reply.refuse()
        return nil
    }

    /// Returns true if the page receives an event; delivers the file or archived copy that replaces the network's.
    private func passesOn(_ decision: NetworkFirst.Decision) -> Bool {
        if case .replace(let answer) = decision {
            cancel()
            if let head = answer.response.response as? HTTPURLResponse, reply.head(head) {
                reply.part(answer.response.data)
                reply.end()
            }
        }
        if case .passOn = decision { return true }
        return false
    }

    func receive(_ response: URLResponse) {
        // On a custom scheme an engine accepts only one head, and neither a redirect nor a 304.
        guard !first.hasHead, let response = response as? HTTPURLResponse, response.statusCode / 100 != 3,
            passesOn(first.head(response))
        else { return }
        cookies?.storeCookies(from: response)
        if !reply.head(response) { first.stop() }
    }

    func receive(_ data: Data) { if first.part(data) { reply.part(data) } }

    func finish(_ error: (any Error)?, of task: URLSessionTask) {
        if let error {
            let again = { @Sendable [self] in forwarder.perform { [self] in finish(error, of: task) } }
            if passesOn(first.failure(error, again: again)) { reply.fail(error) }
        } else if first.hasHead {
            if first.end() { reply.end() }
        } else if !first.hasEnded {
            _ = refuse()
        }
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
