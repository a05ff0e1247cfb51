// Only there the system's own class can be had, and does not load without a task of its own.
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking

/// One load by the system's own protocol class, in the app's task, of which this sees the outcome first.
///
/// Headers, cookies, credentials and delegate of the app's session are therefore what they would be without this library.
///
/// Two things it cannot see. The body of a task that delivers to a data delegate: the system's class gives it to the
/// delegate directly, after the head, so that nothing can take its place then. And redirects before they are followed:
/// where they have led is looked up afterwards.
// URL loading calls all of it on the queue of the task.
final class SystemLoad: NSObject, NetworkLoad, @unchecked Sendable {
    private enum Stage {
        /// Nothing has been told to the app.
        case waiting
        /// The network's answer is being told.
        case delivering
        /// The answer has been told, or the load was cancelled.
        case finished
    }

    private let task: URLSessionTask
    private let client: (any URLProtocolClient)?
    private var fallback: Fallback?
    private var system: URLProtocol?
    private var stage = Stage.waiting
    /// What answers in the place of the network.
    private var answer: CachedURLResponse?
    /// What the network has sent, where this sees it: then it is the whole.
    private var body: Data?
    private var hasStarted = false
    private var isWhole = true

    init?(for owner: URLProtocol, _ fallback: Fallback?) {
        guard let task = owner.task, let system = Self.systemClass(for: owner.request) else { return nil }
        self.task = task
        self.fallback = fallback
        client = owner.client
        super.init()
        // Without a fallback the cached response is the entry's, which does not answer here.
        let cachedResponse = fallback == nil ? nil : owner.cachedResponse
        self.system = system.init(task: task, cachedResponse: cachedResponse, client: self)
    }

    /// The class that would load `request` if this library were not there.
    static func systemClass(for request: URLRequest) -> URLProtocol.Type? {
        let classes = (URLSessionConfiguration.default.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type }
        return classes.first { $0 != SubstitutionProtocol.self && $0.canInit(with: request) }
    }

    var hasFinished: Bool { stage == .finished }

    func start() {
        guard let system else { return }
        // Foundation on Linux may deliver the beginning of a body twice after a task was suspended.
        isWhole = !hasStarted
        hasStarted = true
        system.startLoading()
    }

    func stop() {
        guard let system else { return }
        system.stopLoading()
        // A suspended task is resumed, or cancelled later.
        if task.state != .suspended { finish() }
    }

    /// Ends the circle of references, too.
    private func finish() {
        stage = .finished
        system = nil
    }

    private func deliver(_ answer: CachedURLResponse, as system: URLProtocol) {
        finish()
        client?.urlProtocol(system, didReceive: answer.response, cacheStoragePolicy: .notAllowed)
        if !answer.data.isEmpty { client?.urlProtocol(system, didLoad: answer.data) }
        client?.urlProtocolDidFinishLoading(system)
    }

    /// Decides once, when the status is known, whether the network's answer stands.
    private func decide(on response: URLResponse?) {
        guard stage == .waiting, answer == nil else { return }
        answer = answer(after: (response as? HTTPURLResponse).map { .status($0.statusCode) })
        if answer == nil { stage = .delivering }
    }

    private func answer(after outcome: Outcome?) -> CachedURLResponse? {
        if let last = task.currentRequest, last.url != task.originalRequest?.url,
            let answer = fallback?.answer(redirectedTo: last)
        {
            return answer
        }
        return outcome.flatMap { fallback?.answer(after: $0) }
    }
}

extension SystemLoad: URLProtocolClient {
    func urlProtocol(
        _ system: URLProtocol,
        didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        // Its body will not come through here.
        if task.delegate is any URLSessionDataDelegate { stage = .delivering }
        decide(on: response)
        if answer == nil { client?.urlProtocol(system, didReceive: response, cacheStoragePolicy: policy) }
    }

    func urlProtocol(_ system: URLProtocol, didLoad data: Data) {
        // Only tasks with a delegate are told the head before.
        decide(on: task.response)
        guard answer == nil else { return }
        if fallback.map({ data.count <= $0.collectedLength }) ?? false { body = data }
        client?.urlProtocol(system, didLoad: data)
    }

    func urlProtocolDidFinishLoading(_ system: URLProtocol) {
        decide(on: task.response)
        if let answer {
            deliver(answer, as: system)
        } else {
            if isWhole, let body, let response = task.response {
                fallback?.keep(response, body, after: task.currentRequest)
            }
            finish()
            client?.urlProtocolDidFinishLoading(system)
        }
    }

    func urlProtocol(_ system: URLProtocol, didFailWithError error: any Error) {
        if stage == .waiting, let outcome = Outcome(error), let answer = answer(after: outcome) {
            deliver(answer, as: system)
        } else {
            finish()
            client?.urlProtocol(system, didFailWithError: error)
        }
    }

    func urlProtocol(_ system: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        client?.urlProtocol(system, cachedResponseIsValid: cachedResponse)
    }

    func urlProtocol(_ system: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        client?.urlProtocol(system, wasRedirectedTo: request, redirectResponse: redirectResponse)
    }

    func urlProtocol(_ system: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        client?.urlProtocol(system, didReceive: challenge)
    }

    func urlProtocol(_ system: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
        client?.urlProtocol(system, didCancel: challenge)
    }
}
#endif
