import Foundation
import TestSupport

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A way in which an app loads a request.
enum TaskKind: String, CaseIterable, Sendable {
    case async
    case completion
    case delegate
    case download
    case upload

    /// The kinds of task that a network-first entry's file may answer on Linux.
    static let receiving: [TaskKind] = [.async, .completion, .delegate]

    /// Loads `request` and returns the head and the body that the app would get.
    ///
    /// For ``delegate`` the session's delegate must be a ``Collector``.
    func load(_ request: URLRequest, in session: URLSession) async throws -> (HTTPURLResponse, Data) {
        let (data, response): (Data, URLResponse) =
            switch self {
            case .async:
                try await session.data(for: request)
            case .completion:
                try await withCheckedThrowingContinuation { continuation in
                    session.dataTask(with: request) { data, response, error in
                        continuation.resume(with: Self.result(data, response, error))
                    }.resume()
                }
            case .delegate:
                try await withCheckedThrowingContinuation { continuation in
                    let task = session.dataTask(with: request)
                    (session.delegate as? Collector)?.expect(task) { continuation.resume(with: $0) }
                    task.resume()
                }
            case .download:
                try await withCheckedThrowingContinuation { continuation in
                    session.downloadTask(with: request) { file, response, error in
                        let data = file.flatMap { try? Data(contentsOf: $0) }
                        // Foundation on Linux does not remove the downloaded file.
                        if let file { try? FileManager.default.removeItem(at: file) }
                        continuation.resume(with: Self.result(data, response, error))
                    }.resume()
                }
            case .upload:
                try await withCheckedThrowingContinuation { continuation in
                    session.uploadTask(with: request, from: Data("sent".utf8)) { data, response, error in
                        continuation.resume(with: Self.result(data, response, error))
                    }.resume()
                }
            }
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (response, data)
    }

    /// Returns a text with everything that an app can observe of a load.
    func trace(_ request: URLRequest, in session: URLSession) async -> String {
        do {
            let (head, data) = try await load(request, in: session)
            let fields = head.allHeaderFields.map { "\($0.key): \($0.value)" }.filter { !$0.hasPrefix("Date") }
                .sorted()
            return "\(head.statusCode) \(head.url?.path ?? "") \(fields) \(data.count) \(data.hashValue)"
        } catch {
            return "\((error as? URLError)?.code.rawValue ?? 0) \(error.localizedDescription)"
        }
    }

    fileprivate static func result(
        _ data: Data?,
        _ response: URLResponse?,
        _ error: (any Error)?
    ) -> Result<(Data, URLResponse), any Error> {
        guard let response else { return .failure(error ?? URLError(.unknown)) }
        return .success((data ?? Data(), response))
    }
}

/// A session delegate that collects the parts of each task's body.
// Mutable state is only accessed inside the lock.
final class Collector: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    typealias Completion = @Sendable (Result<(Data, URLResponse), any Error>) -> Void

    private let refusesRedirects: Bool
    private let credential: URLCredential?
    private let onRedirect: @Sendable (URLSession) -> Void
    /// The number of calls outside the session's delegate queue.
    ///
    /// An app may rely on being called only on that queue.
    let strayCalls = Counter()
    private let lock = NSLock()
    private var loads: [Int: (data: Data, completion: Completion)] = [:]

    /// - Parameters:
    ///   - refusesRedirects: True to refuse each redirect, so that the 3xx is the answer.
    ///   - credential: The credential for every challenge; nil for the default handling.
    ///   - onRedirect: Called for every redirect, with the session of the redirected task.
    init(
        refusesRedirects: Bool = false,
        credential: URLCredential? = nil,
        onRedirect: @escaping @Sendable (URLSession) -> Void = { _ in }
    ) {
        self.onRedirect = onRedirect
        self.refusesRedirects = refusesRedirects
        self.credential = credential
    }

    func expect(_ task: URLSessionTask, _ completion: @escaping Completion) {
        lock.withLock { loads[task.taskIdentifier] = (Data(), completion) }
    }

    private func check(_ session: URLSession) {
        if OperationQueue.current !== session.delegateQueue { strayCalls.increment() }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        check(session)
        lock.withLock { loads[dataTask.taskIdentifier]?.data.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        check(session)
        let load = lock.withLock { loads.removeValue(forKey: task.taskIdentifier) }
        load?.completion(TaskKind.result(load?.data, task.response, error))
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        check(session)
        onRedirect(session)
        completionHandler(refusesRedirects ? nil : request)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        check(session)
        completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
    }
}
