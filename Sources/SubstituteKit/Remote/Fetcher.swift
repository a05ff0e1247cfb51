import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads resources in the same way as a first-time visitor: without cookies, credentials or caches.
///
/// A body is written to a file while it is received. The session itself follows no redirects. This type follows the
/// redirects that ``Redirect`` allows.
// Mutable state is only accessed inside the lock.
final class Fetcher: NSObject, @unchecked Sendable {
    /// A server's response.
    struct FetchedResponse {
        let status: Int
        /// The URL of the response, after redirects.
        let url: URL
        let type: MediaType?
        let version: RemoteVersion
        /// The file with the body, which is empty if the status is not 200.
        let file: URL
        fileprivate let response: HTTPURLResponse
        fileprivate(set) var sharing = Sharing()
        /// The target of a redirect; nil for any other response.
        fileprivate let next: URL?
    }

    private struct PendingLoad {
        let file: URL
        let limit: Int
        let handle: FileHandle
        let continuation: CheckedContinuation<FetchedResponse, any Error>
        var response: HTTPURLResponse?
        var received = 0
        /// True if the body is not needed.
        var isDecided: Bool { response.map { $0.statusCode != 200 } ?? false }
        var problem: ToolError?
    }

    private let lock = NSLock()
    private var loads: [Int: PendingLoad] = [:]
    private var bytes = 0
    private let whenReceived: @Sendable (Int) -> Void
    private var session: URLSession?

    /// The maximum time without data from the server, in seconds.
    private static let patience = 60.0
    /// The time that any load may take, in seconds.
    private let shortestTime: Double
    /// The lowest rate of a load that takes longer, in bytes per second.
    private static let lowestRate = 10_000

    /// - Parameters:
    ///   - network: Creates the session's configuration.
    ///   - shortestTime: The time that any load may take, in seconds.
    ///   - whenReceived: Called after each chunk, on the session's delegate queue. The argument is the number of bytes
    ///     received so far.
    init(
        _ network: Network,
        shortestTime: Double = 120,
        whenReceived: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        (self.shortestTime, self.whenReceived) = (shortestTime, whenReceived)
        super.init()
        let configuration = network.configuration()
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = Self.patience
        // Only Foundation on Linux needs the queue.
        #if canImport(FoundationNetworking)
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: DelegateQueue())
        #else
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        #endif
    }

    /// Invalidates the session once its tasks have finished; until then, the session retains this object.
    func finish() { session?.finishTasksAndInvalidate() }

    /// Returns true if a request without cookies and own fields gets these bytes.
    ///
    /// The server may not forbid shared copies of them. `file` is the URL of a new file, which is removed again.
    func sends(_ bytes: Fingerprint, at url: URL, headers: [String: String], _ file: URL) async -> Bool {
        defer { try? FileManager.default.removeItem(at: file) }
        let answer = try? await load(url, headers: headers, to: file, limit: bytes.count ?? 0)
        return answer?.status == 200 && answer?.sharing.isForbidden == false
            && (try? Fingerprint(of: file)) == .some(bytes)
    }

    /// Loads a URL.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - headers: Additional header fields for the request.
    ///   - file: The URL of the new file with the body; it stays empty if the status is not 200.
    ///   - limit: The maximum number of bytes; a larger body is an error.
    /// - Returns: The response of the last server after redirects, whatever its status.
    /// - Throws: ``ToolError`` if no complete response is received, or if a redirect is not followed.
    func load(_ url: URL, headers: [String: String], to file: URL, limit: Int) async throws -> FetchedResponse {
        let first = Redirect.plain(url)
        var (url, sharing) = (first, Sharing())
        for _ in 0...Redirect.maximumCount {
            var answer = try await loadOnce(url, headers, file, limit)
            sharing.receive { answer.response.value(forHTTPHeaderField: $0) }
            answer.sharing = sharing
            guard let next = answer.next else { return answer }
            try Redirect.check(next, after: first)
            url = next
        }
        throw ToolError(Self.redirectedTooOften)
    }

    private func loadOnce(_ url: URL, _ headers: [String: String], _ file: URL, _ limit: Int) async throws
        -> FetchedResponse
    {
        var request = URLRequest(url: url)
        // Ask for an uncompressed body. For a compressed body, `Content-Length` is not the length of the received
        // bytes.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let descriptor = uninterrupted { open(file.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666) }
        guard descriptor >= 0 else {
            throw ToolError("it cannot be written: \(FileSystem.reason(FileSystem.systemError))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let session else { throw ToolError("the session has ended") }
        return try await withCheckedThrowingContinuation { continuation in
            let task = session.dataTask(with: request)
            let load = PendingLoad(file: file, limit: limit, handle: handle, continuation: continuation)
            lock.withLock { loads[task.taskIdentifier] = load }
            task.resume()
            watch(task, since: DispatchTime.now().uptimeNanoseconds)
        }
    }

    /// Ends a load that takes too long for the number of bytes that it has received.
    private func watch(_ task: URLSessionTask, since start: UInt64) {
        let now = DispatchTime.now()
        let seconds = Double(now.uptimeNanoseconds - start) / 1e9
        let left: Double? = lock.withLock {
            guard let received = loads[task.taskIdentifier]?.received else { return nil }
            let left = shortestTime + Double(received / Self.lowestRate) - seconds
            if left <= 0 {
                loads[task.taskIdentifier]?.problem = ToolError(
                    "its server is too slow: \(counted(received, "byte")) in \(Int(seconds)) seconds"
                )
            }
            return left
        }
        guard let left else { return }
        if left <= 0 { return end(task) }
        // A task retains its session, and with it two descriptors on Linux.
        DispatchQueue.global().asyncAfter(deadline: now + left) { [weak self, weak task] in
            if let task { self?.watch(task, since: start) }
        }
    }

    /// Ends a load whose further bytes are not needed.
    ///
    /// Foundation on Linux cancels a task only when a transfer pauses, so the load does not wait for that.
    private func end(_ task: URLSessionTask) {
        finish(task, nil)
        // On Linux, this call waits while Foundation waits in ``DelegateQueue``.
        DispatchQueue.global().async { task.cancel() }
    }

    private func finish(_ task: URLSessionTask, _ error: (any Error)?) {
        guard let load = lock.withLock({ loads.removeValue(forKey: task.taskIdentifier) }) else { return }
        try? load.handle.close()
        load.continuation.resume(with: Result { try Self.answer(load, error) })
    }
}

extension Fetcher: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // Deliver the redirect as the response. `load` then sends a request to the target of the redirect.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // Foundation on Linux would deliver no 401 that has an empty body. A server's certificate is no response.
        guard let response = challenge.failureResponse as? HTTPURLResponse else {
            return completionHandler(.performDefaultHandling, nil)
        }
        lock.withLock { loads[task.taskIdentifier]?.response = response }
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let goesOn = lock.withLock {
            guard var load = loads[dataTask.taskIdentifier], let response = response as? HTTPURLResponse else {
                return false
            }
            load.response = response
            let type = response.value(forHTTPHeaderField: "Content-Type").flatMap { MediaType($0) }?.essence ?? ""
            if ["text/event-stream", "multipart/x-mixed-replace"].contains(type) {
                load.problem = ToolError("it is a stream (\(type)), which never ends, so no file can answer for it")
            }
            if let length = response.bodyLength, length > load.limit { load.problem = Self.tooLarge(load.limit) }
            loads[dataTask.taskIdentifier] = load
            return load.problem == nil && !load.isDecided
        }
        completionHandler(goesOn ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let goesOn = lock.withLock {
            // The load may have ended without its task.
            guard var load = loads[dataTask.taskIdentifier] else { return true }
            load.received += data.count
            bytes += data.count
            if load.received > load.limit { load.problem = Self.tooLarge(load.limit) }
            if load.response?.statusCode == 200 {
                do {
                    try load.handle.write(contentsOf: data)
                } catch {
                    load.problem = ToolError("it cannot be written: \(FileSystem.reason(error))")
                }
            }
            loads[dataTask.taskIdentifier] = load
            return load.problem == nil && !load.isDecided
        }
        if !goesOn { end(dataTask) }
        whenReceived(lock.withLock { bytes })
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish(task, error)
    }

    private static func answer(_ load: PendingLoad, _ error: (any Error)?) throws -> FetchedResponse {
        if let problem = load.problem { throw problem }
        guard let response = load.response else { throw ToolError(Self.reason(error)) }
        if !load.isDecided {
            if let error { throw ToolError(Self.reason(error, after: load.received)) }
            if let length = response.bodyLength, length != load.received {
                throw ToolError("the connection was lost after \(load.received) of \(length) bytes")
            }
        }
        return FetchedResponse(
            status: response.statusCode,
            url: response.url ?? URL(fileURLWithPath: "/"),
            type: response.value(forHTTPHeaderField: "Content-Type").flatMap { MediaType($0) },
            version: RemoteVersion.sent(response.field),
            file: load.file,
            response: response,
            next: try Redirect.target(of: response)
        )
    }

    private static func tooLarge(_ limit: Int) -> ToolError { ToolError("it has more than \(ByteCount(limit))") }

    private static let redirectedTooOften =
        "it is redirected too many times; if its server needs a cookie, load it with substitute add --in-browser"

    /// Returns the reason why a load failed, as a clause.
    ///
    /// Foundation's messages are not the same on all systems, and for some errors there is no message.
    private static func reason(_ error: (any Error)?, after count: Int = 0) -> String {
        let lost =
            count > 0
            ? "the connection was lost after \(counted(count, "byte"))"
            : "the server closed the connection without an answer that can be read"
                + ((error as? URLError)?.failingURL?.scheme == "http" ? "; if it speaks only https, write https:" : "")
        guard let error = error as? URLError else { return error?.localizedDescription ?? lost }
        if let reason = LoadProblem.message.words(error.localizedDescription.lowercased()) { return reason }
        if let reason = LoadProblem.code.words(String(error.code.rawValue)) { return reason }
        return switch error.code {
        case .timedOut: "its server sent nothing for \(Int(patience)) seconds"
        case .networkConnectionLost, .cannotParseResponse, .badServerResponse, .resourceUnavailable: lost
        case .httpTooManyRedirects: redirectedTooOften
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            "its server cannot be trusted: \(error.localizedDescription)"
        default: count > 0 ? lost : error.localizedDescription
        }
    }
}

extension HTTPURLResponse {
    /// The length of the body in bytes, according to `Content-Length`.
    ///
    /// Nil if the field is missing, or if the body is compressed.
    fileprivate var bodyLength: Int? {
        let coding = value(forHTTPHeaderField: "Content-Encoding") ?? "identity"
        guard coding.lowercased() == "identity" || coding.isEmpty else { return nil }
        return value(forHTTPHeaderField: "Content-Length").flatMap { Int($0) }
    }
}
