// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A URL protocol that answers requests with the files of the installed ``SubstitutionCache``.
///
/// In each session that lists this class first, it answers a GET or HEAD request if an entry without `when` names the
/// URL. It also answers requests that bypass the cache: those with a reloading policy or with `Authorization`, and
/// those of a session without the shared cache, such as an ephemeral session. (URL loading consults the first class
/// before the system's classes. This was measured on Linux; on Apple's platforms it is so in practice.) The status,
/// header fields and body are the same as from the cache.
///
/// ``SubstitutionCache/install()`` adds this class to `URLSession.shared`. The following adds it to any
/// other session, before or after the cache is installed:
///
/// ```swift
/// let session = URLSession(substituting: .ephemeral)
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
/// is delivered, and no file replaces it. On Apple's platforms, network-first entries need
/// `URLSession.registerForSubstitutions()` in each session except `URLSession.shared`. On Linux, the network's response
/// to a task that delivers to a delegate stands, whatever its status; a file answers such a task only if the network
/// fails or is silent. The table in <doc:WhenTheCacheIsAsked> lists how each kind of task is answered.
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
public class SubstitutionURLProtocol: URLProtocol, SubstitutingClass {
    /// The link to the session that lists this class; nil for `SubstitutionURLProtocol` itself.
    class var link: SessionLink? { nil }

    /// The load from the network; nil before it starts.
    ///
    /// A second `startLoading()` continues the same load, so that each response has one source.
    private(set) final var load: NetworkLoad?
    private(set) final var hasFinished = false
    /// Reports the steps of the load; nil without an observer.
    final var observed: ObservedLoad?

    /// Returns a Boolean value that indicates whether this class loads a request.
    ///
    /// It loads requests for URLs that an entry names, and requests that the installed archive accepts. On Apple's
    /// platforms, it loads requests for network-first entries and for the archive only in a registered session.
    ///
    /// - Parameter request: The request that is about to be loaded.
    /// - Returns: True if URL loading should hand the request to this class.
    public override class func canInit(with request: URLRequest) -> Bool {
        guard let installation = Installation.current, !request.isMarked else { return false }
        let decision = installation.cache.decision(on: request)
        if let archive = installation.archive?.keeping(request, decision), let sent = link?.fields?.added(to: request) {
            if archive.accepts(sent) { return canLoad }
            archive.countRefusal(of: sent)
        }
        switch decision {
        case .file: return true
        case .networkFirst: return canLoad
        case .unnamed, .leftAlone: return loads(request, for: installation.cache.observers)
        }
    }

    /// Returns a Boolean value that indicates whether this class loads the request of a task.
    ///
    /// Only Apple's systems call this method.
    ///
    /// - Parameter task: The task that is about to be loaded.
    /// - Returns: True if URL loading should hand the task to this class.
    public override class func canInit(with task: URLSessionTask) -> Bool {
        guard let request = task.currentRequest else { return false }
        if canInit(with: request) { return true }
        if !request.isMarked {
            ObservedLoad(request, of: task, link?.fields, Installation.current?.cache.observers)?.reportBeginning()
        }
        return false
    }

    /// Returns the request unchanged.
    ///
    /// - Parameter request: Any request.
    /// - Returns: The same request.
    public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Delivers the file in one piece, or sends the request to the network.
    public override func startLoading() {
        guard !hasFinished, isWanted else { return }
        if let load { return load.start() }
        if let (response, row) = handedOverResponse() { return deliver(response, from: row) }
        // A cached response of any other kind may be from a cache that is not installed, or belong to a different
        // request. The app may also have replaced the installed cache since URL loading consulted it. So look up the
        // request again.
        let installation = Installation.current
        let fields = Self.link?.fields
        observed = ObservedLoad(request, of: task, fields, installation?.cache.observers)
        let decision = installation?.cache.decision(on: request) ?? .unnamed
        let known = installation.map { Fallback(for: request, decision, $0.cache, $0.archive, fields) }
        let fallback = known?.isEmpty == true ? nil : known
        if canDeliver, let match = decision.file, let response = match.response(to: request) {
            return deliver(response, from: match.row)
        }
        load = makeLoad(decision, fallback)
        observed?.reportBeginning()
        if let load { return load.start() }
        hasFinished = true
        client?.urlProtocol(self, didFailWithError: URLError(.resourceUnavailable))
    }

    /// Delivers a file's response; `row` may be nil if the load is not observed.
    private func deliver(_ response: CachedURLResponse, from row: Row?) {
        hasFinished = true
        observed?.report(response, from: row?.substitution)
        client?.deliver(response, as: self)
    }

    /// Stops the load; usually nothing is delivered afterwards.
    ///
    /// On Linux, URL loading also calls this method when the app suspends the task. The load then continues once the
    /// app resumes the task.
    public override func stopLoading() { stopLoad() }
}

extension URLProtocolClient {
    /// Delivers a complete response, which URL loading must not store.
    func deliver(_ answer: CachedURLResponse, as owner: URLProtocol) {
        urlProtocol(owner, didReceive: answer.response, cacheStoragePolicy: .notAllowed)
        if !answer.data.isEmpty { urlProtocol(owner, didLoad: answer.data) }
        urlProtocolDidFinishLoading(owner)
    }
}
