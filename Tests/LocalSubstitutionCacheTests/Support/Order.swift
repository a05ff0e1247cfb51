import Foundation
import LoopbackServer

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import LocalSubstitutionCache

extension URLSession {
    /// Creates a registered session.
    static func named(_ configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?) -> URLSession {
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        do { try session.registerForSubstitutions() } catch { fatalError("\(error)") }
        return session
    }

    /// Creates a session that uses substitutions.
    static func using(
        _ configuration: URLSessionConfiguration = .ephemeral,
        delegate: (any URLSessionDelegate)? = nil,
        registered: Bool = false
    ) -> URLSession {
        configuration.useSubstitutions()
        if registered { return named(configuration, delegate: delegate) }
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// Loads a request with a completion handler, runs `body` during the load, and waits for the task's end.
    func result(
        of request: URLRequest,
        while body: (URLSessionDataTask) async throws -> Void
    ) async throws -> (data: Data?, error: (any Error)?) {
        let (ends, end) = AsyncStream.makeStream(of: (Data?, (any Error)?).self)
        let task = dataTask(with: request) { data, _, error in
            end.yield((data, error))
            end.finish()
        }
        task.resume()
        try await body(task)
        for await (data, error) in ends { return (data, error) }
        throw CancellationError()
    }

    /// Returns once the session's queue and its delegate queue have done all work that was enqueued earlier.
    func settle() async {
        for _ in 0..<3 {
            // On Linux `getAllTasks` has a data race: Foundation reads its list of tasks on one queue and changes it on
            // another.
            #if canImport(FoundationNetworking)
            await LoadingQueue.shared.wait()
            await withCheckedContinuation { done in flush { done.resume() } }
            #else
            await withCheckedContinuation { done in getAllTasks { _ in done.resume() } }
            #endif
        }
    }
}

extension URLRequest {
    /// Returns the request with further header fields, and with another method unless it is nil.
    func with(_ fields: [String: String], _ method: String? = nil) -> URLRequest {
        var request = self
        if let method { request.httpMethod = method }
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
}

extension LoopbackServer.Response {
    /// A challenge for a password.
    static var challenge: Self {
        Self(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"test\""], body: Data("no".utf8))
    }
}

extension StrictClient {
    /// Returns a client that signs in as "me" with the password "secret".
    static func signingIn() -> StrictClient {
        let credential = URLCredential(user: "me", password: "secret", persistence: .none)
        return StrictClient(onChallenge: { $0(.useCredential, credential) })
    }
}

/// Returns a manifest in which `a.txt` answers the URLs if a condition holds.
func networkFirst(_ urls: [String], when conditions: String) -> String {
    let entries = urls.map { "\"\($0)\": { \"file\": \"a.txt\", \"when\": \(conditions) }" }
    return "{ \(entries.joined(separator: ", ")) }"
}

extension LoopbackServer {
    /// Returns a request whose timeout is long enough for a busy machine.
    func request(_ path: String, _ method: String = "GET", _ fields: [String: String] = [:]) -> URLRequest {
        URLRequest(url: url.appendingPathComponent(path), timeoutInterval: 300).with(fields, method)
    }

    /// Returns once the server has received `count` requests since the last ``forgetRequests()``.
    func waitForRequests(_ count: Int) async {
        while requests.count < count { try? await Task.sleep(nanoseconds: 1_000_000) }
    }
}

/// A barrier that blocks threads until a test opens it.
///
/// It must block only the threads of a server, because other threads are shared.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() {
        semaphore.wait()
        // Let the next thread pass, too.
        semaphore.signal()
    }

    func open() { semaphore.signal() }
}

/// A cache that runs a closure when a session asks the cache for a response.
///
/// A session asks its cache after `canInit(with:)` and before `startLoading()`.
// The closure is set once.
final class HookCache: URLCache, @unchecked Sendable {
    private let hook: @Sendable (URLSessionDataTask) -> CachedURLResponse?

    /// - Parameter hook: The closure to run; it returns the cache's answer.
    init(_ hook: @escaping @Sendable (URLSessionDataTask) -> CachedURLResponse?) {
        self.hook = hook
        super.init(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
    }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        DispatchQueue.global().async { [hook] in completionHandler(hook(dataTask)) }
    }
}

// Only Foundation on Linux calls the protocols of all sessions on one queue.
#if canImport(FoundationNetworking)
/// The serial queue on which Foundation on Linux calls the protocols of all sessions.
///
/// No public API returns this queue. But Foundation also calls the protocols of this object's own session on the queue.
private final class LoadingQueue: Sendable {
    static let shared = LoadingQueue()

    private let session: URLSession

    private init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [FailingProtocol.self]
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    /// Returns once the queue has done all work that was enqueued earlier.
    func wait() async {
        _ = try? await session.data(for: URLRequest(url: URL(fileURLWithPath: "/")))
    }

    private final class FailingProtocol: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func startLoading() { client?.urlProtocol(self, didFailWithError: URLError(.cancelled)) }
        override func stopLoading() {}
    }
}
#endif
