// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Takes note of the requests about which a cache, or ``SubstitutionProtocol`` on its behalf, is asked; for the time in
/// which an app is made.
package protocol RequestObserver: AnyObject, Sendable {
    /// Notes one step of a request.
    ///
    /// Called on any thread, and also inside URL loading's locks, so that it returns at once and calls nothing of URL
    /// loading.
    ///
    /// - Parameters:
    ///   - step: What has happened.
    ///   - request: The request, with its own URL also where a page asked for a mirror of it.
    ///   - asker: The task, or what else stands for one load and no other; nil for a question without a load.
    func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?)
}

/// A step of a request.
// Responses are immutable, but Foundation on Linux does not declare CachedURLResponse Sendable.
package enum RequestStep: @unchecked Sendable {
    /// Nothing of the app answers, at least not yet.
    case asked
    /// A file or an archived copy answers.
    case answered(URLResponse, byteCount: Int)
    /// `URLCache` has a stored response, which URL loading may use.
    case offered(CachedURLResponse)
    /// URL loading uses a stored response.
    case used(CachedURLResponse)
    /// The network has sent a head.
    case received(URLResponse)
    /// The network has redirected the request.
    case redirected(HTTPURLResponse, to: URLRequest)
    /// The network has sent a part of the body.
    case receivedPart(Data)
    /// URL loading has the whole answer of the network, and hands it to a cache.
    case stored(CachedURLResponse)
    /// Nothing more comes; only noted where the asker is no task.
    case ended((any Error)?)
}

/// One load of the library's, whose steps are noted.
struct ObservedLoad: Sendable {
    private let observer: any RequestObserver
    private let request: URLRequest
    private let task: URLSessionTask

    /// Nil when nobody takes note, or the request belongs to no task.
    init?(_ request: URLRequest, of task: URLSessionTask?, _ observer: (any RequestObserver)?) {
        guard let observer, let task else { return nil }
        (self.request, self.task, self.observer) = (request, task, observer)
    }

    func note(_ step: RequestStep) { observer.observe(step, of: request, by: task) }

    /// Notes that a file or an archived copy answers.
    func note(_ answer: CachedURLResponse) { note(.answered(answer.response, byteCount: answer.data.count)) }
}
