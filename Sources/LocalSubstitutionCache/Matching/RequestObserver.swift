// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
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
    /// A file answers, or an archived copy, which belongs to no substitution.
    case answered(URLResponse, byteCount: Int, from: Substitution? = nil)
    /// `URLCache` has a stored response; URL loading may use this response.
    case offered(CachedURLResponse)
    /// URL loading uses a stored response.
    case used(CachedURLResponse)
    /// The network has sent the head of a response.
    case received(URLResponse)
    /// The network has redirected the request.
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
    /// The observer that reports to the app's own closure.
    let events: EventReporter?
    /// The observer that records the requests, in a development build.
    let recording: (any RequestObserver)?

    /// Creates the pair; nil if there is no observer.
    init?(_ events: EventReporter?, _ recording: (any RequestObserver)?) {
        if events == nil, recording == nil { return nil }
        (self.events, self.recording) = (events, recording)
    }

    /// Passes a step to each observer; see ``RequestObserver/observe(_:of:by:)``.
    package func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?) {
        events?.observe(step, of: request, by: asker)
        recording?.observe(step, of: request, by: asker)
    }
}

/// A load by this library, whose steps are observed.
struct ObservedLoad: Sendable {
    private let observers: RequestObservers
    private let request: URLRequest
    private let task: URLSessionTask

    /// Creates the load; nil if there is no observer, or if the request belongs to no task.
    init?(_ request: URLRequest, of task: URLSessionTask?, _ observers: RequestObservers?) {
        guard let observers, let task else { return nil }
        (self.request, self.task, self.observers) = (request, task, observers)
    }

    func report(_ step: RequestStep) { observers.observe(step, of: request, by: task) }

    /// Reports that a file answers, or an archived copy, which belongs to no substitution.
    func report(_ answer: CachedURLResponse, from substitution: Substitution?) {
        report(.answered(answer.response, byteCount: answer.data.count, from: substitution))
    }
}
