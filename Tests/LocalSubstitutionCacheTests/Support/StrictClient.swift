import Foundation
import Testing

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

import LocalSubstitutionCache

/// A network client that relies on URLSession's guarantees, as third-party clients do.
///
/// It relies on being called on its own queue, for its own session and tasks, and in order.
// Mutable state is only accessed inside the lock.
final class StrictClient: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    struct Load: Sendable {
        var heads: [HTTPURLResponse] = []
        var body = Data()
        var count = 0
        var challenges = 0
        /// The `previousFailureCount` of each challenge.
        var failures: [Int] = []
        var redirects: [String] = []
        var end: Result<Void, URLError>?
    }

    typealias RedirectDecision = @Sendable (URLRequest, @escaping @Sendable (URLRequest?) -> Void) -> Void
    typealias Credentials = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    typealias ChallengeAnswer = @Sendable (@escaping Credentials) -> Void

    /// The decision about each redirect.
    let onRedirect: RedirectDecision
    let onChallenge: ChallengeAnswer
    /// Called after each part.
    let onPart: @Sendable (URLSessionTask) -> Void
    let onData: @Sendable (Data) -> Void
    let keepsBodies: Bool
    private let lock = NSLock()
    /// The guarantees that were broken; a real client would crash.
    private var violations: [String] = []
    private var loads: [Int: Load] = [:]
    private var waiting: [Int: CheckedContinuation<Load, Never>] = [:]
    private weak var session: URLSession?

    init(
        keepsBodies: Bool = true,
        onRedirect: @escaping RedirectDecision = { $1($0) },
        onChallenge: @escaping ChallengeAnswer = { $0(.performDefaultHandling, nil) },
        onPart: @escaping @Sendable (URLSessionTask) -> Void = { _ in },
        onData: @escaping @Sendable (Data) -> Void = { _ in }
    ) {
        (self.keepsBodies, self.onRedirect, self.onChallenge) = (keepsBodies, onRedirect, onChallenge)
        (self.onPart, self.onData) = (onPart, onData)
    }

    /// Creates the client's session.
    func session(
        _ configuration: URLSessionConfiguration = .ephemeral,
        queue: OperationQueue? = nil,
        named isNamed: Bool = true
    ) -> URLSession {
        configuration.useSubstitutions()
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
        if isNamed { #expect(throws: Never.self) { try session.registerForSubstitutions() } }
        self.session = session
        return session
    }

    /// Resumes a task, and waits for its end.
    func load(_ task: URLSessionTask) async -> Load {
        await withCheckedContinuation { continuation in
            lock.withLock {
                loads[task.taskIdentifier] = Load()
                waiting[task.taskIdentifier] = continuation
            }
            task.resume()
        }
    }

    var complaints: [String] { lock.withLock { violations } }

    private func note(_ session: URLSession, _ task: URLSessionTask, _ change: (inout Load) -> String?) {
        lock.withLock {
            if OperationQueue.current !== session.delegateQueue { violations.append("on another queue") }
            if session !== self.session { violations.append("of another session") }
            guard loads[task.taskIdentifier] != nil else { return violations.append("of an unknown task") }
            if loads[task.taskIdentifier]?.end != nil { violations.append("after the end") }
            if let violation = change(&loads[task.taskIdentifier, default: Load()]) { violations.append(violation) }
        }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note(session, dataTask) { load in
            if let head = response as? HTTPURLResponse { load.heads.append(head) }
            return load.count > 0 && load.challenges == 0 ? "a head after a part" : nil
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note(session, dataTask) { load in
            load.count += data.count
            if keepsBodies { load.body += data }
            return load.heads.isEmpty ? "a part before the head" : nil
        }
        onPart(dataTask)
        onData(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note(session, task) { load in
            load.redirects.append(request.url?.path ?? "")
            return load.heads.isEmpty ? nil : "a redirect after a head"
        }
        onRedirect(request, completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping Credentials
    ) {
        note(session, task) { load in
            load.challenges += 1
            load.failures.append(challenge.previousFailureCount)
            (load.body, load.count) = (Data(), 0)
            return nil
        }
        onChallenge(completionHandler)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note(session, task) { load in
            load.end = error.map { .failure($0 as? URLError ?? URLError(.unknown)) } ?? .success(())
            return nil
        }
        let (continuation, load) = lock.withLock {
            (waiting.removeValue(forKey: task.taskIdentifier), loads[task.taskIdentifier] ?? Load())
        }
        continuation?.resume(returning: load)
    }
}

extension StrictClient.Load {
    var text: String { String(decoding: body, as: UTF8.self) }
    var status: Int? { heads.last?.statusCode }
    var error: URLError.Code? {
        if case .failure(let error)? = end { error.code } else { nil }
    }
}
