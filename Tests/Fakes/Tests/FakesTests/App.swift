import Foundation
import FoundationNetworking
@testable import LocalSubstitutionArchive
@testable import LocalSubstitutionCache
import Testing

/// An app with an installed cache.
///
/// Its manifest has an entry for `https://h/a`, and network-first entries for `https://h/late` and `https://h/gone`.
final class App: @unchecked Sendable {
    private let folder: URL
    let cache: SubstitutionCache
    private let archive: OfflineArchive?

    init(archive: Bool = false) throws {
        Network.shared.reset()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("a file".utf8).write(to: folder.appendingPathComponent("file.txt"))
        let manifest = """
            {
              "https://h/a": "file.txt",
              "https://h/late": { "file": "file.txt", "when": ["offline", 404] },
              "https://h/gone": { "file": "file.txt", "when": 404 },
              "https://h/slow": { "file": "file.txt", "when": ["1s", 404] }
            }
            """
        cache = try SubstitutionCache(manifestData: Data(manifest.utf8), folder: folder)
        let directory = folder.appendingPathComponent("archive")
        self.archive = archive ? try OfflineArchive(directory: directory, capacity: 1_000_000, hosts: ["h"]) : nil
        cache.install(archive: self.archive)
    }

    deinit {
        cache.uninstall()
        archive?.directory.queue.sync {}
        try? FileManager.default.removeItem(at: folder)
    }

    /// Returns a registered session.
    func session(_ client: Client, _ change: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
        let configuration = URLSessionConfiguration.default
        configuration.useSubstitutions()
        change(configuration)
        let session = URLSession(configuration: configuration, delegate: client)
        #expect(throws: Never.self) { try session.registerForSubstitutions() }
        return session
    }
}

/// A thread-safe list of requests, in order.
// Mutable state is only accessed inside the lock.
final class Requests: @unchecked Sendable {
    private let lock = NSLock()
    private var requests: [URLRequest] = []

    var all: [URLRequest] { lock.withLock { requests } }

    func append(_ request: URLRequest) { lock.withLock { requests.append(request) } }
}

/// A delegate that records its calls, in order.
final class Client: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    typealias Decision = @Sendable (URLRequest, @escaping @Sendable (URLRequest?) -> Void) -> Void

    private let decide: Decision
    private let onEvent: @Sendable (String, URLSessionTask) -> Void
    private let lock = NSLock()
    private var events: [String] = []
    private var hasEnded = false
    private var waiting: CheckedContinuation<Void, Never>?

    /// - Parameters:
    ///   - decide: Decides about a redirect.
    ///   - onEvent: Called after each event.
    init(
        decide: @escaping Decision = { $1($0) },
        onEvent: @escaping @Sendable (String, URLSessionTask) -> Void = { _, _ in }
    ) { (self.decide, self.onEvent) = (decide, onEvent) }

    private func note(_ event: String, _ task: URLSessionTask, isEnd: Bool = false) {
        let waiting = lock.withLock { () -> CheckedContinuation<Void, Never>? in
            if hasEnded { Issue.record("\(event) was delivered after the end") }
            events.append(event)
            if isEnd { hasEnded = true }
            return isEnd ? self.waiting : nil
        }
        onEvent(event, task)
        waiting?.resume()
    }

    /// Loads a URL in a session, and returns the events of its task, up to the end.
    func events(of address: String, in session: URLSession) async throws -> [String] {
        try await events(of: URLRequest(url: #require(URL(string: address))), in: session)
    }

    /// Loads a request in a session, and returns the events of its task, up to the end.
    func events(of request: URLRequest, in session: URLSession) async throws -> [String] {
        let task = session.dataTask(with: request)
        if session === URLSession.shared { task.delegate = self }
        task.resume()
        await withCheckedContinuation { continuation in
            let isOver = lock.withLock {
                waiting = continuation
                return hasEnded
            }
            if isOver { continuation.resume() }
        }
        return lock.withLock { events }
    }

    // MARK: - URLSessionDataDelegate

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("redirect to \(request.url?.absoluteString ?? "")", task)
        decide(request, completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        note("\(status) from \(response.url?.absoluteString ?? "")", dataTask)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note(String(decoding: data, as: UTF8.self), dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note((error as? URLError).map { "error \($0.code.rawValue)" } ?? "end", task, isEnd: true)
    }
}

/// An observer that records each event of a request, in order.
// Mutable state is only accessed inside the lock.
final class Notes: RequestObserver, @unchecked Sendable {
    private let lock = NSLock()
    private var notes: [String] = []

    var all: [String] { lock.withLock { notes } }

    func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?) {
        if case .sent = step { return }
        let words =
            switch step {
            case .asked: "asked"
            case .answered(_, let count, _): "answered with \(count)"
            case .offered: "offered"
            case .used: "used"
            case .received(let response): "received \((response as? HTTPURLResponse)?.statusCode ?? 0)"
            case .redirected(let response, let next): "\(response.statusCode) to \(next.url?.path ?? "")"
            case .challenged: "challenged"
            case .receivedPart(let part): "part of \(part.count)"
            case .stored(let response): "stored \(response.data.count)"
            case .ended, .sent: "ended"
            }
        let name = asker is URLSessionTask ? "" : " without a task"
        lock.withLock { notes.append("\(request.url?.path ?? ""): \(words)\(name)") }
    }

    /// Lists the events of a cache from now on, and returns their reporter.
    func follow(_ cache: SubstitutionCache) -> EventReporter {
        let reporter = EventReporter { [self] event in
            guard let event else { return }
            let file = event.substitution.map { " \($0.path)" } ?? ""
            lock.withLock { notes.append("\(event.url.url.path): \(event.kind)\(file)") }
        }
        cache.table.changeReporters { $0 + [reporter] }
        return reporter
    }
}
