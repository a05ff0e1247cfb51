public import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// An observer of the requests to a cache and to ``SubstitutionURLProtocol``.
package protocol RequestObserver: AnyObject, Sendable {
    /// Records one step of a request.
    ///
    /// This method is called on any thread, even while URL loading holds its locks. It must return quickly, and must
    /// not call URL loading.
    ///
    /// - Parameters:
    ///   - step: The step that has happened.
    ///   - request: The request for the original URL. A web page may have requested the mirror of this URL.
    ///   - asker: The task, or another object that represents exactly one load; nil for a request without a load.
    func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?)
}

/// A step in the course of a request.
// Responses are immutable, but Foundation on Linux does not declare CachedURLResponse Sendable.
package enum RequestStep: @unchecked Sendable {
    /// URL loading or a web view has asked for an answer, and there is none, at least not yet.
    case asked
    /// The session of the load is known; the request has the session's fields (see ``SessionFields``).
    case sent(URLRequest)
    /// A file answers, or an archived copy, which belongs to no substitution.
    case answered(URLResponse, byteCount: Int, from: Substitution? = nil)
    /// `URLCache` has a stored response; URL loading may use this response.
    case offered(CachedURLResponse)
    /// URL loading uses a stored response.
    case used(CachedURLResponse)
    /// The network has sent the head of a response.
    case received(URLResponse)
    /// The network has redirected the request; the next one has the fields of its session, if that is known.
    case redirected(HTTPURLResponse, to: URLRequest)
    /// A server has asked for a credential, in this load or an earlier one, so the response may be for one user.
    case challenged
    /// The network has sent a part of the body.
    case receivedPart(Data)
    /// URL loading has received the whole response from the network, and passes it to a cache.
    case stored(CachedURLResponse)
    /// The load has ended; this step is reported only if `asker` is not a `URLSessionTask`.
    case ended((any Error)?)
}

/// The observers of a cache.
package final class RequestObservers: Sendable {
    /// The observers that report to the app, one for each stream of events.
    let events: [EventReporter]
    /// The observer that records the requests, in a development build.
    let recording: (any RequestObserver)?

    /// Creates the list; nil if there is no observer.
    init?(_ events: [EventReporter], _ recording: (any RequestObserver)?) {
        if events.isEmpty, recording == nil { return nil }
        (self.events, self.recording) = (events, recording)
    }

    /// Passes a step to each observer; see ``RequestObserver/observe(_:of:by:)``.
    package func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?) {
        let date = Date()
        for reporter in events { reporter.observe(step, of: request, by: asker, at: date) }
        recording?.observe(step, of: request, by: asker)
    }
}

/// The fields and cookies that a session adds to its requests.
// HTTPCookieStorage is thread-safe, but Foundation on Linux does not declare it Sendable.
package struct SessionFields: @unchecked Sendable {
    private let fields: [String: String]
    private let cookies: HTTPCookieStorage?

    package init(_ configuration: URLSessionConfiguration) {
        let fields = (configuration.httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") }
        (self.fields, cookies) = (Dictionary(fields) { $1 }, configuration.httpCookieStorage)
    }

    /// Returns the request with the session's fields.
    ///
    /// If the session's storage has cookies for the URL, an empty `Cookie` is added, even if they are not sent.
    package func added(to request: URLRequest) -> URLRequest {
        var result = request
        for (name, value) in fields where request.value(forHTTPHeaderField: name) == nil {
            result.setValue(value, forHTTPHeaderField: name)
        }
        if let url = request.url, cookies?.cookies(for: url)?.isEmpty == false {
            result.setValue("", forHTTPHeaderField: "Cookie")
        }
        return result
    }
}

/// A load by this library, whose steps are observed.
package struct ObservedLoad: Sendable {
    private let observers: RequestObservers
    private let request: URLRequest
    private let task: URLSessionTask
    private let fields: SessionFields?

    /// Creates the load; nil if there is no observer, or if the request belongs to no task.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - task: The task that is loaded.
    ///   - fields: The fields that the task's session adds to the request; nil if it is not known.
    ///   - observers: The observers.
    package init?(
        _ request: URLRequest,
        of task: URLSessionTask?,
        _ fields: SessionFields?,
        _ observers: RequestObservers?
    ) {
        guard let observers, let task else { return nil }
        (self.request, self.task, self.fields, self.observers) = (request, task, fields, observers)
    }

    package func report(_ step: RequestStep) { observers.observe(step, of: request, by: task) }

    /// Reports that the load begins.
    package func reportBeginning() {
        report(.asked)
        if let fields { report(.sent(fields.added(to: request))) }
    }

    func reportRedirect(_ response: HTTPURLResponse, to next: URLRequest) {
        report(.redirected(response, to: fields?.added(to: next) ?? next))
    }

    /// Reports that a file answers, or an archived copy, which belongs to no substitution.
    func report(_ answer: CachedURLResponse, from substitution: Substitution?) {
        report(.answered(answer.response, byteCount: answer.data.count, from: substitution))
    }
}

/// An answer to a request: see ``LocalSubstitutionCache/SubstitutionCache/events``.
public struct RequestEvent: Sendable, CustomStringConvertible {
    /// The kind of an answer.
    public enum Kind: String, Sendable {
        /// A file answers, and the network is not asked.
        case hit
        /// No file answers, at least not before the network does.
        case miss
        /// A file or an archived copy replaces the network's response to a request that was a miss.
        case fallback
    }

    /// The kind of the answer.
    public let kind: Kind
    /// The requested URL; it prints without values.
    public let url: RequestedURL
    /// The file that answers, and its entry; nil for a miss, and if an archived copy answers.
    public let substitution: Substitution?
    /// The time at which the event was noticed; events of several loads may not be in this order.
    public let date: Date

    /// A line for a log: `hit https://example.com/a.png → img/a.png`.
    public var description: String {
        "\(kind.rawValue) \(url)"
            + (substitution.map { " → \(visible($0.path))" } ?? (kind == .fallback ? " → archive" : ""))
    }
}

/// The part of a cache's observers that turns steps into the events of one stream.
// `loads` and `limit` are only accessed on the queue.
final class EventReporter: @unchecked Sendable {
    struct Load {
        weak var asker: (any AnyObject & Sendable)?
        let url: URL
        let isAnswered: Bool
    }

    private let send: @Sendable (RequestEvent?) -> Void
    /// The queue on which events are reported; internal so that tests can wait for it.
    let queue = DispatchQueue(label: "LocalSubstitutionCache.events", qos: .utility)
    /// The loads that were reported; internal for tests.
    private(set) var loads: [ObjectIdentifier: Load] = [:]
    /// The number of loads at which those that no longer exist are forgotten.
    private var limit = 100

    /// Creates a reporter; `send` gets each event, and nil after the last.
    init(_ send: @escaping @Sendable (RequestEvent?) -> Void) { self.send = send }

    /// Reports that no more events come; those that wait are reported before.
    func end() { queue.async { [send] in send(nil) } }

    func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?, at date: Date) {
        guard let url = request.url else { return }
        switch step {
        case .asked, .offered, .used: queue.async { [self] in report(url, date, asker) }
        case .answered(_, _, let substitution): queue.async { [self] in report(url, date, asker, .some(substitution)) }
        case .sent, .received, .redirected, .challenged, .receivedPart, .stored, .ended: break
        }
    }

    /// Reports an event, unless it is known; `answer` is nil if nothing answers, at least not yet.
    private func report(_ url: URL, _ date: Date, _ asker: (any AnyObject & Sendable)?, _ answer: Substitution?? = nil)
    {
        let substitution = answer ?? nil, isHit = substitution?.entry.conditions.isEmpty == true
        var kind = isHit ? RequestEvent.Kind.hit : answer == nil ? .miss : .fallback
        if let asker {
            let known = loads[ObjectIdentifier(asker)]
            // The cache and the protocol may both observe one load. URL loading may also start a load again.
            if let known, known.asker === asker, known.url == url {
                if known.isAnswered || answer == nil { return }
                // After a redirect, the file of an entry without `when` may replace the network's response.
                kind = .fallback
            }
            if loads.count >= limit {
                loads = loads.filter { $0.value.asker != nil }
                limit = 2 * loads.count + 100
            }
            loads[ObjectIdentifier(asker)] = Load(asker: asker, url: url, isAnswered: answer != nil)
        }
        send(RequestEvent(kind: kind, url: RequestedURL(url), substitution: substitution, date: date))
    }
}

// Only Apple's systems need a second session: see BackingLoad.swift.
#if !canImport(FoundationNetworking) || APPLE_LOADING
extension URLRequest {
    private static let mark = "LocalSubstitutionCache.isBacking"

    /// The request with a mark, so that no protocol of this library loads it.
    ///
    /// According to NSURLSession.h on `protocolClasses`, classes that are registered with `URLProtocol` serve "the
    /// default session". If URL loading also consults them for a backing session, the mark prevents endless recursion.
    /// URL loading keeps the mark in the request of a redirect.
    package var marked: URLRequest { changed { URLProtocol.setProperty(true, forKey: Self.mark, in: $0) } }

    /// The request without the mark, for the app, which may load the request itself.
    var unmarked: URLRequest { changed { URLProtocol.removeProperty(forKey: Self.mark, in: $0) } }

    var isMarked: Bool { URLProtocol.property(forKey: Self.mark, in: self) != nil }

    private func changed(_ change: (NSMutableURLRequest) -> Void) -> URLRequest {
        guard let copy = (self as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return self }
        change(copy)
        return copy as URLRequest
    }
}
#else
extension URLRequest {
    // On Linux, no session of the library consults a protocol that could load its requests again.
    package var marked: URLRequest { self }
    var isMarked: Bool { false }
}
#endif
