// On Apple's systems no protocol can load in the app's own task: see TaskLoad.swift, which is for Linux. This code was
// written from Apple's documentation. Only Tests/Fakes, which sets APPLE_LOADING, has run it.
#if !canImport(FoundationNetworking) || APPLE_LOADING
import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

typealias NetworkLoad = BackingLoad

/// A load from the network for one task of a registered session, run by a second task in a backing session.
///
/// The app's task stays open while a task of a ``BackingSession``, the backing task, loads the request. This object
/// receives each event of the backing task before the app does, so a file or an archived copy can still answer.
///
/// Each event of the backing task is passed on to the protocol's client immediately, where URL loading calls the
/// protocol: see ``LoadQueue``. Nothing is delivered after ``stop()`` has returned.
///
/// The protocol's client is never notified of a redirect. After such a notification, URL loading would ask the app's
/// delegate whether to follow the redirect. According to reports, URL loading delivers nothing more if the delegate
/// refuses the redirect, so the app would wait until its request times out. So this object itself asks the app's
/// delegate, on the delegate queue. The backing task follows the redirects that the delegate accepts.
// Apart from `perform`, only called in the queue's turn.
final class BackingLoad: @unchecked Sendable {
    /// The protocol that loads the app's task; weak, because the protocol retains this object.
    private weak var owner: URLProtocol?
    /// The client of ``owner``, to which all events are delivered.
    private let client: (any URLProtocolClient)?
    /// The app's session; nil once it is deallocated.
    private weak var appSession: URLSession?
    private let session: BackingSession
    private var task: URLSessionDataTask?
    private var first: NetworkFirst
    private let queue: LoadQueue

    init(
        for owner: URLProtocol,
        _ fallback: Fallback?,
        in session: BackingSession,
        of appSession: URLSession?,
        _ observed: ObservedLoad? = nil
    ) {
        (self.owner, self.session, self.appSession, client) = (owner, session, appSession, owner.client)
        (first, queue) = (NetworkFirst(fallback, observed), LoadQueue(appSession?.delegateQueue))
    }

    /// Runs `body` later in the load's queue; can be called on any thread.
    func perform(_ body: @escaping () -> Void) { queue.add(body) }

    // MARK: - Called by URL loading

    func start() { queue.perform(begin) }

    private func begin() {
        guard task == nil, !first.hasEnded, let request = owner?.request else { return }
        // If a file or copy can answer offline, a load without a connection fails immediately instead of waiting.
        let canWait = session.waits && !first.canReplace(after: .offline)
        task = session.task(for: request, of: self, canWait: canWait)
        task?.resume()
        awaitHead()
    }

    private func awaitHead() {
        first.patience?.wait { [weak self] patience in self?.perform { self?.endPatience(patience) } }
    }

    /// Ends the load without notifying the client, and cancels the backing task.
    func stop() {
        queue.perform {
            first.stop()
            task?.cancel()
        }
    }

    /// Lets the file answer if no head has come; called when the patience of its entry ends.
    func endPatience(_ patience: NetworkFirst.Patience) {
        _ = passesOn(first.silence(patience) { [self] in perform { [self] in endPatience(patience) } })
    }

    // MARK: - Called by the backing session

    /// Returns true if the app receives an event; delivers the file or archived copy that replaces the network's.
    private func passesOn(_ decision: NetworkFirst.Decision) -> Bool {
        if case .replace(let answer) = decision {
            task?.cancel()
            if let owner { client?.deliver(answer.response, as: owner) }
        }
        if case .passOn = decision { return true }
        return false
    }

    func didReceive(_ response: URLResponse) {
        let isPersonal = session.mayIdentifyUser(at: response.url)
        guard passesOn(first.head(response, isPersonal: isPersonal)), let owner else { return }
        client?.urlProtocol(owner, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    func didReceive(_ data: Data) {
        // After a file or copy has answered, the backing task may still report parts of the network's body until that
        // task is cancelled.
        if first.part(data), let owner { client?.urlProtocol(owner, didLoad: data) }
    }

    /// Records the end of the backing task.
    func didComplete(_ task: URLSessionTask, _ error: (any Error)?) {
        guard let owner else { return }
        if let error {
            let again = { @Sendable [self] in perform { [self] in didComplete(task, error) } }
            if passesOn(first.failure(error, again: again)) { client?.urlProtocol(owner, didFailWithError: error) }
            return
        }
        if !first.hasHead, let response = task.response { didReceive(response) }
        // If the load was stopped, the body may lack parts. Such a body is not archived.
        if first.end() { client?.urlProtocolDidFinishLoading(owner) }
    }

    /// Asks the app's delegate about a redirect, and continues once the delegate has decided.
    ///
    /// The request has a mark, so that no protocol of this library loads it: see ``URLRequest/marked``. The app
    /// receives the request without the mark, because the app may load that request itself.
    func didRedirect(
        _ response: HTTPURLResponse,
        _ request: URLRequest,
        _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard !isOver else { return completionHandler(nil) }
        let request = request.unmarked
        let delegates = [owner?.task?.delegate, appSession?.delegate as? any URLSessionTaskDelegate].compactMap(\.self)
        guard let app = appSession, let task = owner?.task, !delegates.isEmpty else {
            return continueRedirect(to: request, after: response, completionHandler)
        }
        let decided = { @Sendable [self] (next: URLRequest?) in
            perform { [self] in continueRedirect(to: next, after: response, completionHandler) }
        }
        app.delegateQueue.addOperation {
            // URLSession does not call a delegate about a task that has ended.
            guard !task.hasEnded else { return completionHandler(nil) }
            let ask = delegates.lazy.compactMap { $0.redirectMethod }.first
            if let ask { ask(app, task, response, request, decided) } else { decided(request) }
        }
    }

    /// True once a redirect no longer matters: the answer's source is decided, or the app's task has ended.
    private var isOver: Bool { first.hasHead || first.hasEnded || owner?.task?.hasEnded ?? false }

    /// Continues after the app's decision about a redirect; if `next` is nil, the 3xx itself is the response.
    private func continueRedirect(
        to next: URLRequest?,
        after response: HTTPURLResponse,
        _ completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard !isOver else { return completionHandler(nil) }
        let isPersonal = session.mayIdentifyUser(at: response.url)
        let isFollowed = passesOn(first.redirect(response, to: next, isPersonal: isPersonal))
        completionHandler(isFollowed ? next?.marked : nil)
        if isFollowed { awaitHead() }
    }

    /// Passes a challenge on to the app, and the app's answer to the backing session.
    func didReceive(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let owner, passesOn(first.challenge(challenge.failureResponse)) else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        let sender = ChallengeSender(completionHandler)
        client?.urlProtocol(
            owner,
            didReceive: URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender)
        )
    }
}

/// Gives the backing session the app's answer to a challenge.
private final class ChallengeSender: NSObject, URLAuthenticationChallengeSender, Sendable {
    private let answer: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    init(_ answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) {
        self.answer = answer
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        answer(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer(.useCredential, nil) }

    func cancel(_ challenge: URLAuthenticationChallenge) { answer(.cancelAuthenticationChallenge, nil) }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer(.performDefaultHandling, nil) }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        answer(.rejectProtectionSpace, nil)
    }
}

extension URLSessionTask {
    /// True once the task has been cancelled or has completed.
    fileprivate var hasEnded: Bool { state == .canceling || state == .completed }
}

extension URLSessionTaskDelegate {
    fileprivate typealias RedirectMethod = (
        URLSession, URLSessionTask, HTTPURLResponse, URLRequest, @escaping @Sendable (URLRequest?) -> Void
    ) -> Void

    /// The method that is asked about a redirect; nil if this delegate lacks it, as in Objective-C it may.
    ///
    /// NSURLSession.h says of a task's delegate: "Methods not implemented on this delegate will still be forwarded to
    /// the session delegate".
    fileprivate var redirectMethod: RedirectMethod? {
        urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)
    }
}

extension SubstitutionURLProtocol {
    /// True if this class can load from the network, which needs a registered session.
    static var canLoad: Bool { link?.session != nil }

    // What only Linux needs: see TaskLoad.swift.
    static func loads(_ request: URLRequest, for observers: RequestObservers?) -> Bool { false }
    func handedOverResponse() -> (CachedURLResponse, Row?)? { nil }
    var canDeliver: Bool { true }
    var isWanted: Bool { true }

    func makeLoad(_ decision: Decision, _ fallback: Fallback?) -> NetworkLoad? {
        guard let link = Self.link, let backing = link.backingSession else { return nil }
        return BackingLoad(for: self, fallback, in: backing, of: link.session, observed)
    }

    func stopLoad() { load?.stop() }
}
#endif
