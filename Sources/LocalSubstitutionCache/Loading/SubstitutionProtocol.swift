// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers requests for which URL loading asks no cache, with the files of the installed ``LocalSubstitutionCache``.
///
/// In each session that lists it first (and asks it before the system's classes: measured on Linux, practice on Apple's
/// platforms), it answers whatever an entry names without `when`: requests with policies that
/// reload or with `Authorization`, and sessions with another cache or with none, such as ephemeral ones. Bytes and head
/// are those that the cache would give. ``LocalSubstitutionCache/install(archive:)`` puts it into `URLSession.shared`,
/// and this puts it into a session of your own, before or after the cache is installed:
///
/// ```swift
/// let configuration = URLSessionConfiguration.ephemeral
/// configuration.useSubstitutions()
/// let session = URLSession(configuration: configuration)
/// ```
///
/// For an entry with `when` the network is asked, and the file answers only after a status, or an error, that the entry
/// names; otherwise the network's answer is delivered as it is. Where the redirects of such a load lead to a URL that
/// an entry names, that entry's file answers. `"offline"` is after these `URLError`s: `notConnectedToInternet`,
/// `cannotFindHost`, `dnsLookupFailed`, `cannotConnectToHost`, `networkConnectionLost`, `timedOut`,
/// `internationalRoamingOff`, `callIsActive` and `dataNotAllowed`. One answer has one source: where a delegate may have
/// got bytes of the network, the network's answer stands. `URLSession.registerForSubstitutions()` makes a session
/// with a delegate known, and <doc:WhenTheCacheIsAsked> has a table of which tasks are answered how.
///
/// A request with the policy `.reloadIgnoringLocalAndRemoteCacheData` is left alone, and so is every method other than
/// GET and HEAD. On Linux a download task is loaded from the network: URL loading cannot finish one from a protocol.
///
/// watchOS asks no protocol of an app, so that this class does nothing there
/// ([Apple on `URLProtocol`](https://developer.apple.com/documentation/foundation/urlprotocol)).
///
/// The app makes no instances of it. Cost: for each request of such a session one look-up, as the cache makes.
public class SubstitutionProtocol: URLProtocol, SubstitutingClass {
    /// What is known of the sessions that list this very class.
    class var link: SessionLink? { nil }

    /// The load from the network; a second start continues it, so that one answer has one source.
    private var load: (any NetworkLoad)?
    private var hasFinished = false
    /// Nil when nobody takes note.
    private var observed: ObservedLoad?
    /// Whether the ``RemovalLog`` knows that the load has begun, or never will.
    private var isLogged = false

    deinit { logWithdrawal() }

    private func logWithdrawal() {
        if !isLogged { RemovalLog.shared.withdraw(request) }
        isLogged = true
    }

    /// Whether an entry names the request.
    ///
    /// - Parameter request: The request that is about to be loaded.
    /// - Returns: Whether URL loading should hand it to this class.
    public override class func canInit(with request: URLRequest) -> Bool {
        guard let installation = Installation.current, !InnerSession.isMarked(request) else { return false }
        guard let service = installation.service(for: request) else {
            installation.countRefusal(of: request)
            // While requests are noted this class loads them, too, in the app's own task: Foundation on Linux names no
            // task here, and asks no cache of most sessions.
            #if canImport(FoundationNetworking) && !APPLE_LOADING
            return installation.cache.observer != nil && SystemProtocols.first(for: request) != nil
            #else
            return false
            #endif
        }
        if case .file = service { return true }
        // Foundation on Linux asks this inside `resume()`, and starts the load later. Apple's systems let no protocol
        // load in the app's own task, so the session must be known.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        if case .networkFirst(.copy) = service { RemovalLog.shared.resume(request) }
        return true
        #else
        return link?.session != nil
        #endif
    }

    // Apple's systems ask with the task.
    #if !canImport(FoundationNetworking) || APPLE_LOADING
    /// Whether an entry names the request of a task.
    ///
    /// - Parameter task: The task that is about to be loaded.
    /// - Returns: Whether URL loading should hand it to this class.
    public override class func canInit(with task: URLSessionTask) -> Bool {
        guard let request = task.currentRequest else { return false }
        if canInit(with: request) { return true }
        if !InnerSession.isMarked(request) {
            ObservedLoad(request, of: task, Installation.current?.cache.observer)?.note(.asked)
        }
        return false
    }
    #endif

    /// The request itself.
    ///
    /// - Parameter request: Any request.
    /// - Returns: The same.
    public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Delivers the file in one piece, or asks the network.
    public override func startLoading() {
        guard !hasFinished, isWanted else { return }
        if let load { return load.start() }
        // Only Foundation on Linux has a cache of this library's ask before.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        if let handed = cachedResponse as? FrontCache.Answer, handed.task === task {
            observed = ObservedLoad(request, of: task, Installation.current?.cache.observer)
            return deliver(handed.answer)
        }
        #endif
        // Anything else that URL loading hands over may be another cache's, or the answer to another request; and the
        // installed cache may have been replaced since it was asked.
        let installation = Installation.current
        observed = ObservedLoad(request, of: task, installation?.cache.observer)
        let service = installation?.service(for: request)
        var fallback: Fallback?
        if let installation, case .networkFirst(let source) = service {
            fallback = Fallback(source, for: request, since: RemovalLog.shared.begin(request), installation)
            isLogged = true
        } else {
            logWithdrawal()
        }
        let kind: Route.Kind =
            task is URLSessionDownloadTask ? .download : task is URLSessionUploadTask ? .upload : .data
        switch (Route(service?.route ?? .none, kind, next: next, receiver: receiver), service) {
        case (.file, .file(let match)):
            if let response = match.response(to: request) { deliver(response) } else { begin(taskLoad(nil)) }
        case (.innerSession, _): begin(innerLoad(fallback) ?? taskLoad(fallback))
        case (.ownTask, _): begin(taskLoad(fallback))
        case (.network, _):
            fallback?.countUnseen()
            begin(taskLoad(nil))
        default: begin(nil)
        }
    }

    /// Delivers a whole answer.
    private func deliver(_ response: CachedURLResponse) {
        hasFinished = true
        observed?.note(response)
        client?.deliver(response, as: self)
    }

    private func begin(_ load: (any NetworkLoad)?) {
        self.load = load
        observed?.note(.asked)
        if let load { return load.start() }
        hasFinished = true
        client?.urlProtocol(self, didFailWithError: URLError(.resourceUnavailable))
    }

    private func innerLoad(_ fallback: Fallback?) -> (any NetworkLoad)? {
        guard let link = Self.link, let inner = link.innerSession else { return nil }
        return InnerLoad(for: self, fallback, in: inner, of: link.session, observed)
    }

    // Only Foundation on Linux lets a protocol load in the app's own task.
    #if canImport(FoundationNetworking) && !APPLE_LOADING
    private lazy var nextClass = SessionLink.nextClass(for: request, behind: Self.link)

    private var next: Route.Next { nextClass.map { SystemProtocols.contains($0) ? .system : .app } ?? .none }

    private var receiver: Route.Receiver {
        // A task's own delegate may belong to another session, which was made from the configuration of this one.
        guard let delegate = Self.link?.session?.delegate as? any URLSessionDataDelegate, task?.delegate === delegate
        else { return .unknown }
        return .registered
    }

    private func taskLoad(_ fallback: Fallback?) -> (any NetworkLoad)? {
        // Without a fallback what the cache has is an entry's file, which does not answer here; unless the request is
        // only taken to be noted.
        let isOnlyNoted = observed != nil && Installation.current?.service(for: request) == nil
        let cached = fallback != nil || isOnlyNoted ? cachedResponse : nil
        return TaskLoad(for: self, fallback, with: nextClass, cached, observed)
    }
    #else
    private var next: Route.Next { .none }

    private var receiver: Route.Receiver { Self.link?.session == nil ? .unknown : .registered }

    private func taskLoad(_ fallback: Fallback?) -> (any NetworkLoad)? { innerLoad(fallback) }
    #endif

    /// Whether the task still waits for an answer.
    ///
    /// Linux starts loads of tasks that were suspended, cancelled or even finished meanwhile (the last with another
    /// instance), and ends the process when such a task is answered. A suspended load starts again on resume.
    private var isWanted: Bool {
        // Nothing is known of this on Apple's systems.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        guard let task else { return true }
        return task.state == .running && (task.response == nil || load != nil)
        #else
        return true
        #endif
    }

    /// Stops; nothing is delivered after it.
    public override func stopLoading() {
        let wasFinished = hasFinished || load?.hasFinished ?? false || task?.state == .completed
        // The load of a suspended task may still begin.
        if let task, task.state == .canceling || task.state == .completed { logWithdrawal() }
        load?.stop()
        // When a task is cancelled at the moment it finishes, Linux tells the client that the load failed, finds
        // the task gone, and ends the process (its own class causes this under load, with a response from any cache).
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        if wasFinished { client = nil }
        #endif
    }
}
