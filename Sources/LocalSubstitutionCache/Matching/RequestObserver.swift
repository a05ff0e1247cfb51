// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// An observer of the requests to a cache and to ``SubstitutionProtocol``, which uses the cache's substitutions.
///
/// Only development builds use an observer.
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
    /// A file or an archived copy answers.
    case answered(URLResponse, byteCount: Int)
    /// `URLCache` has a stored response; URL loading may use this response.
    case offered(CachedURLResponse)
    /// URL loading uses a stored response.
    case used(CachedURLResponse)
    /// The network has sent the head of a response.
    case received(URLResponse)
    /// The network has redirected the request.
    case redirected(HTTPURLResponse, to: URLRequest)
    /// The network has sent a part of the body.
    case receivedPart(Data)
    /// URL loading has received the whole response from the network, and passes it to a cache.
    case stored(CachedURLResponse)
    /// The load has ended; this step is reported only if `asker` is not a `URLSessionTask`.
    case ended((any Error)?)
}

/// A load by this library, whose steps an observer records.
struct ObservedLoad: Sendable {
    private let observer: any RequestObserver
    private let request: URLRequest
    private let task: URLSessionTask

    /// Creates the load; nil if there is no observer, or if the request belongs to no task.
    init?(_ request: URLRequest, of task: URLSessionTask?, _ observer: (any RequestObserver)?) {
        guard let observer, let task else { return nil }
        (self.request, self.task, self.observer) = (request, task, observer)
    }

    func report(_ step: RequestStep) { observer.observe(step, of: request, by: task) }

    /// Records that a file or an archived copy answers.
    func report(_ answer: CachedURLResponse) { report(.answered(answer.response, byteCount: answer.data.count)) }
}
