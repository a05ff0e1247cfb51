import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads resources in the same way as a first-time visitor: without cookies, credentials or caches.
///
/// A body is written to a file, or compared with existing bytes, while it is received. The session itself follows no
/// redirects. This type follows the redirects that ``Redirect`` allows.
// Mutable state is only accessed inside the lock.
final class Fetcher: NSObject, @unchecked Sendable {
    /// A server's response.
    struct FetchedResponse {
        let status: Int
        /// The URL of the response, after redirects.
        let url: URL
        let type: MediaType?
        let version: RemoteVersion
        /// The length of the body in bytes, according to `Content-Length`.
        ///
        /// Nil if the field is missing, or if the body is sent compressed.
        let length: Int?
        /// The number of bytes of the body that were received.
        let received: Int
        /// False if the received bytes differ from the bytes of ``BodyUse/compare(_:)``.
        let isSame: Bool
        /// The target of a redirect; nil for any other response.
        fileprivate let next: URL?
    }

    /// The use of a response body.
    enum BodyUse {
        /// The body is written to a new file at this URL.
        case write(URL)
        /// The body is compared with these bytes, up to the first difference.
        case compare(Data)
        /// There is no body: the request is a HEAD request.
        case head
    }

    private struct PendingLoad {
        let use: BodyUse
        let limit: Int?
        let handle: FileHandle?
        let continuation: CheckedContinuation<FetchedResponse, any Error>
        var response: HTTPURLResponse?
        var received = 0
        var isSame = true
        /// True if the rest of the body is not needed.
        var isDecided: Bool { !isSame || response.map { $0.statusCode != 200 } ?? false }
        var problem: ToolError?
    }

    private let lock = NSLock()
    private var loads: [Int: PendingLoad] = [:]
    private var bytes = 0
    private let whenReceived: @Sendable (Int) -> Void
    private var session: URLSession?

    /// The maximum time without data from the server, in seconds.
    static let patience = 60.0

    /// - Parameters:
    ///   - network: Creates the session's configuration.
    ///   - whenReceived: Called after each chunk, on the session's delegate queue. The argument is the number of bytes
    ///     received so far.
    init(_ network: Network, whenReceived: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.whenReceived = whenReceived
        super.init()
        let configuration = network.configuration()
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = Self.patience
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }

    /// Invalidates the session once its tasks have finished; until then, the session retains this object.
    func finish() { session?.finishTasksAndInvalidate() }

    /// Loads a URL.
    ///
    /// - Parameters:
    ///   - url: An http or https URL.
    ///   - headers: Additional header fields for the request.
    ///   - use: The use of the body; if the status is not 200, the body is discarded.
    ///   - limit: The maximum number of bytes; a larger body is an error.
    /// - Returns: The response of the last server after redirects, whatever its status.
    /// - Throws: ``ToolError`` if no complete response is received, or if a redirect is not followed.
    func load(_ url: URL, headers: [String: String] = [:], _ use: BodyUse, limit: Int? = nil) async throws
        -> FetchedResponse
    {
        var url = Redirect.plain(url)
        for _ in 0...Redirect.maximumCount {
            let answer = try await loadOnce(url, headers, use, limit)
            guard let next = answer.next else { return answer }
            url = next
        }
        throw ToolError("it is redirected too many times")
    }

    private func loadOnce(_ url: URL, _ headers: [String: String], _ use: BodyUse, _ limit: Int?) async throws
        -> FetchedResponse
    {
        var request = URLRequest(url: url)
        // Ask for an uncompressed body. For a compressed body, `Content-Length` is not the length of the received
        // bytes.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        var handle: FileHandle?
        switch use {
        case .write(let file):
            try Data().write(to: file)
            handle = try FileHandle(forWritingTo: file)
        case .head: request.httpMethod = "HEAD"
        case .compare: break
        }
        guard let session else { throw ToolError("the session has ended") }
        return try await withCheckedThrowingContinuation { continuation in
            let task = session.dataTask(with: request)
            let load = PendingLoad(use: use, limit: limit, handle: handle, continuation: continuation)
            lock.withLock { loads[task.taskIdentifier] = load }
            task.resume()
        }
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
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let goesOn = lock.withLock {
            guard var load = loads[dataTask.taskIdentifier], let response = response as? HTTPURLResponse else {
                return false
            }
            load.response = response
            if let limit = load.limit, let length = response.bodyLength, length > limit {
                load.problem = Self.tooLarge(limit)
            }
            // If the length differs, the bytes differ.
            if case .compare(let data) = load.use, response.statusCode == 200, let length = response.bodyLength,
                length != data.count
            {
                load.isSame = false
            }
            loads[dataTask.taskIdentifier] = load
            return load.problem == nil && !load.isDecided
        }
        completionHandler(goesOn ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let goesOn = lock.withLock {
            guard var load = loads[dataTask.taskIdentifier] else { return false }
            let start = load.received
            load.received += data.count
            bytes += data.count
            if let limit = load.limit, load.received > limit { load.problem = Self.tooLarge(limit) }
            if load.response?.statusCode == 200 {
                do {
                    try load.handle?.write(contentsOf: data)
                } catch {
                    load.problem = ToolError("it cannot be written: \(FileSystem.reason(error))")
                }
                if case .compare(let copy) = load.use, !copy.dropFirst(start).starts(with: data) { load.isSame = false }
            }
            loads[dataTask.taskIdentifier] = load
            return load.problem == nil && !load.isDecided
        }
        if !goesOn { dataTask.cancel() }
        whenReceived(lock.withLock { bytes })
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let load = lock.withLock({ loads.removeValue(forKey: task.taskIdentifier) }) else { return }
        try? load.handle?.close()
        load.continuation.resume(with: Result { try Self.answer(load, error) })
    }

    private static func answer(_ load: PendingLoad, _ error: (any Error)?) throws -> FetchedResponse {
        if let problem = load.problem { throw problem }
        guard let response = load.response else { throw ToolError(Self.reason(error)) }
        var isSame = load.isSame
        if !load.isDecided {
            if let error { throw ToolError(Self.reason(error, after: load.received)) }
            if case .head = load.use {
            } else if response.statusCode == 200, let length = response.bodyLength, length != load.received {
                throw ToolError("the connection was lost after \(load.received) of \(length) bytes")
            }
            if case .compare(let copy) = load.use { isSame = copy.count == load.received }
        }
        return FetchedResponse(
            status: response.statusCode,
            url: response.url ?? URL(fileURLWithPath: "/"),
            type: response.value(forHTTPHeaderField: "Content-Type").flatMap { MediaType($0) },
            version: RemoteVersion(
                etag: response.value(forHTTPHeaderField: "ETag"),
                lastModified: response.value(forHTTPHeaderField: "Last-Modified")
            ),
            length: response.bodyLength,
            received: load.received,
            isSame: isSame,
            next: try Redirect.target(of: response)
        )
    }

    private static func tooLarge(_ limit: Int) -> ToolError { ToolError("it has more than \(ByteCount(limit))") }

    /// Returns the reason why a load failed, as a clause.
    ///
    /// Foundation's messages are not the same on all systems, and for some errors there is no message.
    private static func reason(_ error: (any Error)?, after count: Int = 0) -> String {
        let lost =
            count > 0 ? "the connection was lost after \(counted(count, "byte"))" : "the server closed the connection"
        guard let error = error as? URLError else { return error?.localizedDescription ?? lost }
        return switch error.code {
        case .cannotFindHost, .dnsLookupFailed: "its server was not found"
        case .cannotConnectToHost, .notConnectedToInternet: "its server cannot be reached"
        case .timedOut: "its server sent nothing for \(Int(patience)) seconds"
        case .networkConnectionLost, .cannotParseResponse, .badServerResponse, .resourceUnavailable: lost
        case .httpTooManyRedirects: "it is redirected too many times"
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
