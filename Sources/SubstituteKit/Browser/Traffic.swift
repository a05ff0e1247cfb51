import Foundation

/// What a browser loads: how many loads are under way, how many bytes came, and what failed.
// Mutable state is only accessed inside the lock.
final class Traffic: @unchecked Sendable {
    private let lock = NSLock()
    /// The loads that have begun and not ended, with their URLs.
    private var running: [String: String] = [:]
    private var bytes: [String: Int] = [:]
    private var failures: [String: String] = [:]
    private var credentials: [String: Credentials] = [:]
    private var lastChange = DispatchTime.now()
    private var total = 0

    /// What a request carried of somebody.
    struct Credentials: Sendable {
        var hasAuthorization = false
        var hasCookies = false
    }

    private struct Begun: Decodable {
        struct Request: Decodable { let url: String }
        let requestId: String
        let request: Request
        let type: String?
    }

    private struct Received: Decodable {
        let requestId: String
        let dataLength: Int
    }

    private struct Ended: Decodable {
        let requestId: String
        let errorText: String?
        let canceled: Bool?
    }

    private struct Sent: Decodable {
        let requestId: String
        let headers: [String: String]
    }

    private struct Answered: Decodable {
        struct Response: Decodable { let mimeType: String }
        let requestId: String
        let type: String
        let response: Response
    }

    /// Counts an event of the domain `Network`.
    func receive(_ event: DevTools.Event) {
        switch event.method {
        case "Network.requestWillBeSent":
            guard let begun: Begun = event.parameters(), begun.request.url.hasPrefix("http") else { return }
            // A stream has no end. That of a document is not always told, and its page's load event waits for it.
            if begun.type != "EventSource", begun.type != "Document" {
                change { $0.running[begun.requestId] = begun.request.url }
            }
        case "Network.dataReceived":
            guard let part: Received = event.parameters() else { return }
            lock.withLock {
                bytes[part.requestId, default: 0] += part.dataLength
                total += part.dataLength
                // The parts of a stream are no sign that a page is not done.
                if running[part.requestId] != nil { lastChange = .now() }
            }
        case "Network.responseReceived":
            guard let answer: Answered = event.parameters() else { return }
            let isEndless = ["text/event-stream", "multipart/x-mixed-replace"].contains(answer.response.mimeType)
            change { if isEndless { $0.running[answer.requestId] = nil } }
        case "Network.loadingFinished", "Network.loadingFailed":
            guard let ended: Ended = event.parameters() else { return }
            change { traffic in
                traffic.running[ended.requestId] = nil
                if let text = ended.errorText, ended.canceled != true { traffic.failures[ended.requestId] = text }
            }
        case "Network.requestWillBeSentExtraInfo":
            guard let sent: Sent = event.parameters() else { return }
            let names = Set(sent.headers.keys.map { $0.lowercased() })
            change { traffic in
                if names.contains("authorization") {
                    traffic.credentials[sent.requestId, default: Credentials()].hasAuthorization = true
                }
                if names.contains("cookie") {
                    traffic.credentials[sent.requestId, default: Credentials()].hasCookies = true
                }
            }
        default: break
        }
    }

    private func change(_ body: (Traffic) -> Void) {
        lock.withLock {
            body(self)
            lastChange = .now()
        }
    }

    /// Tells that something happens that is no event of the network.
    func touch() { change { _ in } }

    /// Whether nothing is loaded, and nothing happened for so many seconds.
    func isQuiet(for seconds: Double) -> Bool {
        lock.withLock { running.isEmpty && DispatchTime.now() >= lastChange + seconds }
    }

    /// The URLs that are being loaded.
    var unfinished: [String] { lock.withLock { running.values.sorted() } }

    /// The bytes that came, after the codings of the content are undone.
    var received: Int { lock.withLock { total } }

    /// The bytes of one load.
    func bytes(of load: String) -> Int { lock.withLock { bytes[load, default: 0] } }

    /// The browser's words for why one load failed.
    func failure(of load: String) -> String? { lock.withLock { failures[load] } }

    /// What the requests of one load carried, its redirects included.
    func credentials(of load: String) -> Credentials { lock.withLock { credentials[load] ?? Credentials() } }
}
