import Foundation

/// The loads that a browser has in flight, and the kinds of credentials that they carried.
// Mutable state is only accessed inside the lock.
final class Traffic: @unchecked Sendable {
    private let lock = NSLock()
    /// The loads in flight, keyed by identifier: the URL of each load, and the request that the load waits for.
    private var running: [String: (request: String, url: String)] = [:]
    private var lost: Set<String> = []
    private var downloads: Set<String> = []
    private var credentials: [String: Credentials] = [:]
    /// The value of `Accept-Language`, which is the same in all requests; nil until one has it.
    private var language: String?
    /// The servers that have asked for a password, or that a URL with one names.
    private var protected: Set<String> = []
    private var lastChange = DispatchTime.now()

    /// The kinds of credentials that the requests of a load carried.
    struct Credentials: Sendable {
        var hasAuthorization = false
        var hasCookies = false
        /// The value of `Accept-Language`.
        var language: String?
    }

    /// Adds the load of a request that the browser holds before sending it.
    func begin(_ held: HeldRequest) {
        guard held.request.url.hasPrefix("http") else { return }
        change { $0.running[held.identifier] = (held.requestId, held.request.url) }
    }

    /// Removes the load that waits for a request; after a redirect, that is the load's latest request.
    func end(_ request: String) { change { $0.running = $0.running.filter { $0.value.request != request } } }

    /// Discards the loads of an earlier page, because the browser does not report the end of every abandoned load.
    func reset() { change { $0.running = [:] } }

    /// The errors after which a body is incomplete.
    private static let losses: Set = [
        "net::ERR_CONTENT_LENGTH_MISMATCH", "net::ERR_INCOMPLETE_CHUNKED_ENCODING",
        "net::ERR_INVALID_CHUNKED_ENCODING", "net::ERR_CONNECTION_CLOSED",
        "net::ERR_CONNECTION_RESET", "net::ERR_CONTENT_DECODING_FAILED", "net::ERR_HTTP2_PROTOCOL_ERROR",
        "net::ERR_QUIC_PROTOCOL_ERROR", "net::ERR_NETWORK_CHANGED", "net::ERR_TIMED_OUT",
    ]

    /// Handles an event of the `Network` domain.
    ///
    /// The domain reports most loads, but a page's first loads may be missing.
    func receive(_ event: DevTools.Event) {
        switch event.method {
        case "Network.loadingFinished", "Network.loadingFailed":
            guard let request: String = event["requestId"] else { return }
            change { traffic in
                traffic.running[request] = nil
                if Self.losses.contains(event["errorText"] ?? "") { traffic.lost.insert(request) }
            }
        case "Network.requestWillBeSentExtraInfo":
            guard let request: String = event["requestId"], let fields: [String: Any] = event["headers"] else { return }
            let names = Set(fields.keys.map { $0.lowercased() })
            let language = fields.first { $0.key.lowercased() == "accept-language" }?.value as? String
            change { traffic in
                traffic.language = language ?? traffic.language
                var carried = traffic.credentials[request] ?? Credentials()
                if names.contains("authorization") { carried.hasAuthorization = true }
                if names.contains("cookie") { carried.hasCookies = true }
                traffic.credentials[request] = carried
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

    /// Returns true if no load is in flight, and nothing has changed for this many seconds.
    func isQuiet(for seconds: Double) -> Bool {
        lock.withLock { running.isEmpty && DispatchTime.now() >= lastChange + seconds }
    }

    /// Returns the requests that the loads in flight wait for, if nothing has changed for this many seconds.
    func stalled(for seconds: Double) -> [String] {
        lock.withLock { DispatchTime.now() < lastChange + seconds ? [] : running.values.map(\.request) }
    }

    /// The URLs of the loads in flight.
    var unfinished: [String] { lock.withLock { running.values.map(\.url).sorted() } }

    /// Returns true if a load broke off, so that its body is incomplete.
    func isIncomplete(_ load: String) -> Bool { lock.withLock { lost.contains(load) } }

    /// Notes that the browser wanted to save this URL's response as a file.
    func refuse(_ url: String) { lock.withLock { _ = downloads.insert(url) } }

    /// Returns true if a response was to be saved as a file.
    func isDownload(_ url: String) -> Bool { lock.withLock { downloads.contains(url) } }

    /// Notes that a server wants a password; the browser reports none of the requests that carry it.
    func protect(_ url: String) { lock.withLock { _ = protected.insert(Self.server(of: url)) } }

    private static func server(of url: String) -> String {
        let url = URL(string: url)
        return "\(url?.scheme ?? "")://\(url?.host ?? ""):\(url?.port ?? 0)"
    }

    /// Returns the credentials that the requests of a load carried, including those after redirects.
    func credentials(of load: String, _ url: String) -> Credentials {
        lock.withLock {
            var carried = credentials[load] ?? Credentials()
            if protected.contains(Self.server(of: url)) { carried.hasAuthorization = true }
            carried.language = language
            return carried
        }
    }
}
