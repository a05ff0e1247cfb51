// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A URL protocol that answers requests with the files of the installed ``LocalSubstitutionCache``.
///
/// In each session that lists this class first, it answers a GET or HEAD request if an entry without `when` names the
/// URL. It also answers requests that bypass the cache: those with a reloading policy or with `Authorization`, and
/// those of a session without the shared cache, such as an ephemeral session. (URL loading consults the first class
/// before the system's classes. This was measured on Linux; on Apple's platforms it is so in practice.) The status,
/// header fields and body are the same as from the cache.
///
/// ``LocalSubstitutionCache/install()`` adds this class to `URLSession.shared`. The following adds it to any
/// other session, before or after the cache is installed:
///
/// ```swift
/// let configuration = URLSessionConfiguration.ephemeral
/// configuration.useSubstitutions()
/// let session = URLSession(configuration: configuration)
/// ```
///
/// If an entry has `when`, the request is sent to the network first. The file answers only after a status or an error
/// that the entry names; otherwise the network's response is delivered unchanged. If such a load is redirected to a URL
/// that an entry names, that entry applies from then on.
///
/// The condition `"offline"` holds after these `URLError`s: `notConnectedToInternet`, `cannotFindHost`,
/// `dnsLookupFailed`, `cannotConnectToHost`, `networkConnectionLost`, `timedOut`, `internationalRoamingOff`,
/// `callIsActive` and `dataNotAllowed`.
///
/// Each response has one source: if a delegate may already have received bytes from the network, the network's response
/// is delivered, and no file replaces it. If your session has a delegate, register it with
/// `URLSession.registerForSubstitutions()`. On Apple's platforms, network-first entries need this in each session
/// except `URLSession.shared`. The table in <doc:WhenTheCacheIsAsked> lists how each kind of task is answered.
///
/// A request with the policy `.reloadIgnoringLocalAndRemoteCacheData`, or with a method other than GET and HEAD, is
/// left alone. On Linux a download task is loaded from the network, because URL loading there cannot finish a download
/// that a custom protocol loads.
///
/// On watchOS this class has no effect, because URL loading consults no protocol of an app there
/// ([Apple on `URLProtocol`](https://developer.apple.com/documentation/foundation/urlprotocol)).
///
/// The app does not create instances. Cost: one lookup, the same as in the cache, for each request of a session that
/// lists this class.
public class SubstitutionProtocol: URLProtocol, SubstitutingClass {
    /// The link to the session that lists this class; nil for `SubstitutionProtocol` itself.
    class var link: SessionLink? { nil }

    /// The load from the network; nil before it starts.
    ///
    /// A second `startLoading()` continues the same load, so that each response has one source.
    private var load: (any NetworkLoad)?
    private var hasFinished = false
    /// Records the steps of the load; nil without an observer.
    private var observed: ObservedLoad?
    /// True once the archive knows that the load has begun, or that it will never begin.
    private var isLogged = false

    deinit { logWithdrawal() }

    private func logWithdrawal() {
        if !isLogged { Installation.archiveType.value?.withdraw(request) }
        isLogged = true
    }

    /// Returns a Boolean value that indicates whether this class loads a request.
    ///
    /// It loads requests for URLs that an entry names, and requests that the installed archive accepts. On Apple's
    /// platforms, it loads requests for network-first entries and for the archive only in a registered session.
    ///
    /// - Parameter request: The request that is about to be loaded.
    /// - Returns: True if URL loading should hand the request to this class.
    public override class func canInit(with request: URLRequest) -> Bool {
        guard let installation = Installation.current, !BackingSession.isMarked(request) else { return false }
        switch installation.cache.decision(on: request) {
        case .file: return true
        case .networkFirst: return canLoad
        case .unnamed:
            if let archive = installation.archive(for: request) {
                // Foundation on Linux calls this method inside `resume()`, and starts the load later. The archive is
                // notified now, because the app may remove copies in between. If the app itself calls this method, no
                // load may follow.
                #if canImport(FoundationNetworking) && !APPLE_LOADING
                if LoadingQueue.mayBeResuming { type(of: archive).resume(request) }
                #endif
                return canLoad
            }
            installation.countRefusal(of: request)
        case .leftAlone: break
        }
        // On Linux, while an observer is set, this class also loads the requests that no file or copy answers. It
        // loads them in the app's own task. There is no other way to observe them: this method receives no task, and
        // the session may use a cache that is not from this library.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        return installation.cache.observer != nil && SystemProtocols.first(for: request) != nil
        #else
        return false
        #endif
    }

    /// True if this class can load from the network.
    ///
    /// On Apple's systems no protocol can load in the app's own task, so there a load that is sent to the network first
    /// needs a registered session.
    private class var canLoad: Bool {
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        true
        #else
        link?.session != nil
        #endif
    }

    // Only Apple's systems call the method that takes a task.
    #if !canImport(FoundationNetworking) || APPLE_LOADING
    /// Returns a Boolean value that indicates whether this class loads the request of a task.
    ///
    /// - Parameter task: The task that is about to be loaded.
    /// - Returns: True if URL loading should hand the task to this class.
    public override class func canInit(with task: URLSessionTask) -> Bool {
        guard let request = task.currentRequest else { return false }
        if canInit(with: request) { return true }
        if !BackingSession.isMarked(request) {
            ObservedLoad(request, of: task, Installation.current?.cache.observer)?.report(.asked)
        }
        return false
    }
    #endif

    /// Returns the request unchanged.
    ///
    /// - Parameter request: Any request.
    /// - Returns: The same request.
    public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Delivers the file in one piece, or sends the request to the network.
    public override func startLoading() {
        guard !hasFinished, isWanted else { return }
        if let load { return load.start() }
        // Only on Linux does a cache of this library look up the request before the protocol is started.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        if let handed = cachedResponse as? FrontCache.HandedOverResponse, handed.task === task {
            observed = ObservedLoad(request, of: task, Installation.current?.cache.observer)
            return deliver(handed.answer)
        }
        #endif
        // A cached response of any other kind may be from a cache that is not installed, or belong to a different
        // request. The app may also have replaced the installed cache since URL loading consulted it. So look up the
        // request again.
        let installation = Installation.current
        observed = ObservedLoad(request, of: task, installation?.cache.observer)
        let decision = installation?.cache.decision(on: request) ?? .unnamed
        let fallback = installation.flatMap { Fallback(for: request, decision, $0) }
        if fallback?.archived != nil { isLogged = true }
        logWithdrawal()
        let need: Route.FallbackNeed =
            decision.file != nil
            ? .file : fallback.map { $0.isForOfflineOnly ? .whenOffline : .afterAnswer } ?? .none
        let kind: Route.Kind =
            task is URLSessionDownloadTask ? .download : task is URLSessionUploadTask ? .upload : .data
        switch Route(need, kind, next: next, receiver: receiver) {
        case .file:
            if let response = decision.file?.response(to: request) {
                deliver(response)
            } else {
                begin(taskLoad(nil))
            }
        case .backingSession: begin(backingLoad(fallback) ?? taskLoad(fallback))
        case .ownTask: begin(taskLoad(fallback))
        case .network:
            fallback?.archived?.countUnseen()
            begin(taskLoad(nil, isNamed: decision.file != nil || fallback != nil))
        case .none: begin(nil)
        }
    }

    /// Delivers a complete response.
    private func deliver(_ response: CachedURLResponse) {
        hasFinished = true
        observed?.report(response)
        client?.deliver(response, as: self)
    }

    private func begin(_ load: (any NetworkLoad)?) {
        self.load = load
        observed?.report(.asked)
        if let load { return load.start() }
        hasFinished = true
        client?.urlProtocol(self, didFailWithError: URLError(.resourceUnavailable))
    }

    private func backingLoad(_ fallback: Fallback?) -> (any NetworkLoad)? {
        guard let link = Self.link, let backing = link.backingSession else { return nil }
        return BackingLoad(for: self, fallback, in: backing, of: link.session, observed)
    }

    // Only on Linux can a protocol load in the app's own task.
    #if canImport(FoundationNetworking) && !APPLE_LOADING
    private lazy var nextClass = SessionLink.nextClass(for: request, behind: Self.link)

    private var next: Route.Next { nextClass.map { SystemProtocols.contains($0) ? .system : .app } ?? .none }

    private var receiver: Route.Receiver {
        // If the task's delegate is not the registered session's, the task may belong to a different session, which was
        // created from the registered session's configuration.
        guard let delegate = Self.link?.session?.delegate as? any URLSessionDataDelegate, task?.delegate === delegate
        else { return .unknown }
        return .registered
    }

    private func taskLoad(_ fallback: Fallback?, isNamed: Bool = true) -> (any NetworkLoad)? {
        // Without a fallback, the cached response may be an entry's file, which must not answer here. But if the
        // request is loaded only for the observer, no entry's file answers the request. So then the cached response is
        // used.
        let cached = fallback != nil || observed != nil && !isNamed ? cachedResponse : nil
        return TaskLoad(for: self, fallback, with: nextClass, cached, observed)
    }
    #else
    private var next: Route.Next { .none }

    private var receiver: Route.Receiver { Self.link?.session == nil ? .unknown : .registered }

    private func taskLoad(_ fallback: Fallback?, isNamed: Bool = true) -> (any NetworkLoad)? { backingLoad(fallback) }
    #endif

    /// True while the task waits for a response.
    ///
    /// Foundation on Linux may start a load after its task was suspended or cancelled. It may even do so after another
    /// instance has finished the task. If such a load delivers a response, Foundation crashes. The load of a suspended
    /// task starts again when the task is resumed.
    private var isWanted: Bool {
        // No such behaviour is known on Apple's systems.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        guard let task else { return true }
        return task.state == .running && (task.response == nil || load != nil)
        #else
        return true
        #endif
    }

    /// Stops the load; usually nothing is delivered afterwards.
    ///
    /// On Linux, URL loading also calls this method when the app suspends the task. The load then continues once the
    /// app resumes the task.
    public override func stopLoading() {
        let wasFinished = hasFinished || load?.hasFinished ?? false || task?.state == .completed
        // The load of a suspended task may still begin, so the log keeps waiting for it.
        if let task, task.state == .canceling || task.state == .completed { logWithdrawal() }
        load?.stop()
        // If a task is cancelled at the moment it finishes, Foundation on Linux reports a failure to the client. The
        // client no longer finds the task, and crashes the process. (On a busy machine, Foundation's own class crashes
        // in the same way when it delivers a response from any cache.)
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        if wasFinished { client = nil }
        #endif
    }
}
