import Foundation

/// The loads of a browser that are under way, and what they carry of somebody.
// Mutable state is only accessed inside the lock.
final class Traffic: @unchecked Sendable {
    private let lock = NSLock()
    /// The URLs of the loads that have begun and not ended, and the request that each waits for.
    private var running: [String: (request: String, url: String)] = [:]
    private var lost: Set<String> = []
    private var credentials: [String: Credentials] = [:]
    private var lastChange = DispatchTime.now()

    /// Credentials that a request carried.
    struct Credentials: Sendable {
        var hasAuthorization = false
        var hasCookies = false
    }

    /// Counts a request that is held before it is sent.
    func begin(_ held: HeldRequest) {
        guard held.request.url.hasPrefix("http") else { return }
        change { $0.running[held.identifier] = (held.requestId, held.request.url) }
    }

    /// Counts a request that was decided on for the last time: answered, or left to go its way with its answer.
    ///
    /// After a redirect the load may wait for its next request already.
    func end(_ held: HeldRequest) {
        change { if $0.running[held.identifier]?.request == held.requestId { $0.running[held.identifier] = nil } }
    }

    /// Forgets what an earlier page has begun: of what it has left, not every end is told.
    func reset() { change { $0.running = [:] } }

    private struct Ended: Decodable {
        let requestId: String
        let errorText: String?
    }

    /// The errors after which a body is not whole.
    private static let losses: Set = [
        "net::ERR_CONTENT_LENGTH_MISMATCH", "net::ERR_INCOMPLETE_CHUNKED_ENCODING", "net::ERR_CONNECTION_CLOSED",
        "net::ERR_CONNECTION_RESET", "net::ERR_CONTENT_DECODING_FAILED", "net::ERR_HTTP2_PROTOCOL_ERROR",
        "net::ERR_QUIC_PROTOCOL_ERROR", "net::ERR_NETWORK_CHANGED", "net::ERR_TIMED_OUT",
    ]

    private struct Sent: Decodable {
        let requestId: String
        let headers: [String: String]
    }

    /// Counts an event of the domain `Network`, which tells of most loads: the first ones of a page may be missing.
    func receive(_ event: DevTools.Event) {
        switch event.method {
        case "Network.loadingFinished", "Network.loadingFailed":
            guard let ended: Ended = event.parameters() else { return }
            change { traffic in
                traffic.running[ended.requestId] = nil
                if Self.losses.contains(ended.errorText ?? "") { traffic.lost.insert(ended.requestId) }
            }
        case "Network.requestWillBeSentExtraInfo":
            guard let sent: Sent = event.parameters() else { return }
            let names = Set(sent.headers.keys.map { $0.lowercased() })
            change { traffic in
                var carried = traffic.credentials[sent.requestId] ?? Credentials()
                if names.contains("authorization") { carried.hasAuthorization = true }
                if names.contains("cookie") { carried.hasCookies = true }
                traffic.credentials[sent.requestId] = carried
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

    /// Returns true if nothing is loaded, and nothing happened for so many seconds.
    func isQuiet(for seconds: Double) -> Bool {
        lock.withLock { running.isEmpty && DispatchTime.now() >= lastChange + seconds }
    }

    /// The URLs that are being loaded.
    var unfinished: [String] { lock.withLock { running.values.map(\.url).sorted() } }

    /// Returns true if a load broke off, so that its body is incomplete.
    func isLost(_ load: String) -> Bool { lock.withLock { lost.contains(load) } }

    /// Credentials of the requests of one load, its redirects included.
    func credentials(of load: String) -> Credentials { lock.withLock { credentials[load] ?? Credentials() } }
}
