// Foundation on Linux lets us instantiate the system's HTTP protocol class; Apple's does not.
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking

/// One load by the system's own protocol class, in the app's task; this object sees the outcome before the app does.
///
/// Headers, cookies, credentials and delegate of the app's session are therefore what they would be without this
/// library.
///
/// It cannot see two things. The first is the body of a task that has a delegate: the system's class tells the head
/// early, and then gives the body to a data delegate directly, past its client. No public API tells whether that is the
/// session's delegate, the task's own or the argument of `data(for:delegate:)`; so once the head was told, the
/// network's answer stands. For a task with a completion handler and no delegate of its own the head comes with the
/// end, before the app has seen anything. The second is a redirect before it is followed: its target is looked
/// up afterwards.
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
    /// What answers instead of the network.
    private var answer: CachedURLResponse?
    /// The body from the network, if it passes through this object; then it is the whole body.
    private var body: Data?
    private var hasStarted = false
    private var isWhole = true
    /// Whether Foundation on Linux treats this end as a challenge: it then asks for a password, and the task goes
    /// on.
    private var isChallenge = false

    /// - Parameters:
    ///   - owner: The protocol whose task is loaded.
    ///   - fallback: What may answer instead of the network.
    ///   - systemClass: The class that loads; nil for the system's.
    init?(for owner: URLProtocol, _ fallback: Fallback?, with systemClass: URLProtocol.Type? = nil) {
        guard let task = owner.task, let systemClass = systemClass ?? Self.systemClass(for: owner.request) else {
            return nil
        }
        self.task = task
        self.fallback = fallback
        client = owner.client
        super.init()
        // Without a fallback the cached response is the entry's, which does not answer here.
        let cachedResponse = fallback == nil ? nil : owner.cachedResponse
        system = systemClass.init(task: task, cachedResponse: cachedResponse, client: self)
    }

    /// The class that would load `request` if this library were not there.
    static func systemClass(for request: URLRequest) -> URLProtocol.Type? {
        let classes = (URLSessionConfiguration.default.protocolClasses ?? []).compactMap { $0 as? URLProtocol.Type }
        return classes.first { $0 != SubstitutionProtocol.self && $0.canInit(with: request) }
    }

    var hasFinished: Bool { stage == .finished && !isChallenge }

    func start() {
        guard let system else { return }
        // Foundation on Linux may deliver the beginning of a body twice after a task was suspended.
        isWhole = !hasStarted
        hasStarted = true
        system.startLoading()
    }

    func stop() {
        guard let system else { return }
        switch task.state {
        // The task was suspended, and resumed before this call: the system's class would take it for cancelled.
        case .running: break
        case .suspended: system.stopLoading()
        default:
            // From here on this object ignores whatever the system's class still reports.
            finish()
            system.stopLoading()
        }
    }

    /// Marks the load as finished, and breaks the reference cycle.
    private func finish() {
        stage = .finished
        system = nil
    }

    private func deliver(_ answer: CachedURLResponse, as system: URLProtocol) {
        finish()
        client?.deliver(answer, as: system)
    }

    /// Decides once, when the status is known, whether the network's answer stands.
    private func decide(on response: URLResponse?) {
        guard stage == .waiting, answer == nil else { return }
        answer = answer(after: (response as? HTTPURLResponse).map { .status($0.statusCode) })
        if answer == nil { stage = .delivering }
    }

    private func answer(after outcome: Fallback.Outcome?) -> CachedURLResponse? {
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
        guard stage != .finished else { return }
        // The task has a delegate, and its body may not come through here.
        stage = .delivering
        client?.urlProtocol(system, didReceive: response, cacheStoragePolicy: policy)
    }

    func urlProtocol(_ system: URLProtocol, didLoad data: Data) {
        guard stage != .finished else { return }
        decide(on: task.response)
        guard answer == nil else { return }
        if fallback.map({ data.count <= $0.collectedLength }) ?? false { body = data }
        client?.urlProtocol(system, didLoad: data)
    }

    func urlProtocolDidFinishLoading(_ system: URLProtocol) {
        guard stage != .finished else { return }
        decide(on: task.response)
        if let answer {
            deliver(answer, as: system)
        } else {
            if isWhole, let body, let response = task.response {
                fallback?.keep(response, body, after: task.currentRequest)
            }
            let head = task.response as? HTTPURLResponse
            isChallenge = head?.statusCode == 401 && head?.value(forHTTPHeaderField: "WWW-Authenticate") != nil
            finish()
            client?.urlProtocolDidFinishLoading(system)
        }
    }

    func urlProtocol(_ system: URLProtocol, didFailWithError error: any Error) {
        guard stage != .finished else { return }
        if stage == .waiting, let outcome = Fallback.Outcome(error), let answer = answer(after: outcome) {
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
