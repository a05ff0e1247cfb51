import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit
import SubstitutionChecking

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers a browser's requests with files, in the same way as an app does.
///
/// An app that loads with a completion handler, in a session that lists `SubstitutionURLProtocol`, gets the same
/// answers. For a network-first entry, the browser first sends the request to the network. After a redirect, URL
/// loading asks neither cache nor protocol, so no file answers, except in the load of a network-first entry.
// Mutable state is only accessed inside the lock.
final class LiveTable: Interceptor, @unchecked Sendable {
    /// The outcome of one load, after its redirects.
    struct FinishedLoad: Sendable {
        let url: String
        /// The URL of the first request; nil if the load was not redirected.
        var redirectedFrom: String?
        let method: String
        /// Chromium's name for the kind of resource, such as `Image`.
        let kind: String
        /// The file that answered; nil if the network answered, or if the load failed.
        let file: File?
        /// The server's status; nil if the request was not sent to the network, or if no server answered.
        let status: Int?
        /// The `Content-Type` that the server sent.
        let type: MediaType?
        private(set) var sharing = Sharing()
        /// The size of the body that the server sent, in bytes; nil if bytes are not counted.
        var size: Int?
        /// The reason why `add` leaves the body out, as a clause; nil if it takes it, or if bytes are not counted.
        var refusal: String?
        /// True if an entry matches, but its file is too large to be sent to the browser.
        var isTooLarge = false

        /// Chromium's reason for a load that failed; nil if a server answered.
        var failure: String?

        /// True if the page or the browser itself gave the load up.
        var isCancelled: Bool { failure == "Aborted" }

        /// True if a service worker loads the resource.
        var isOfServiceWorker = false

        /// True if no file answered, and either no server answered or the server's status is 400 or above.
        var hasFailed: Bool { file == nil && !isCancelled && (status.map { $0 >= 400 } ?? true) }
    }

    /// A file that answered.
    struct File: Sendable {
        let substitution: Substitution
        /// The number of bytes sent; for a byte range, this may be less than the file's size.
        let count: Int
    }

    private let lock = NSLock()
    private var table: SubstitutionTable
    private let onFinish: @Sendable (FinishedLoad, SubstitutionTable) -> Void
    private let countsBytes: Bool
    private let loads: LoadList?

    /// - Parameters:
    ///   - table: The table that answers.
    ///   - countsBytes: True to count the bytes that servers send. The page then receives a body only when the whole
    ///     body has arrived.
    ///   - loads: Receives each request that begins.
    ///   - onFinish: Called once for each load with its table, on any thread, when the source of the response is known.
    init(
        _ table: SubstitutionTable,
        countsBytes: Bool = false,
        loads: LoadList? = nil,
        onFinish: @escaping @Sendable (FinishedLoad, SubstitutionTable) -> Void
    ) {
        (self.table, self.countsBytes, self.loads, self.onFinish) = (table, countsBytes, loads, onFinish)
    }

    /// The table in use; may be replaced at any time.
    var current: SubstitutionTable {
        get { lock.withLock { table } }
        set { lock.withLock { table = newValue } }
    }

    // MARK: - Requests

    func decide(on held: HeldRequest) async -> Decision {
        loads?.begin(held)
        let table = current
        guard held.redirectedRequestId == nil, let request = URLRequest(held.request),
            let answer = table.answer(to: request)
        else { return .proceed }
        return decision(answer, held, request, table, status: nil) ?? .proceed
    }

    func decide(on held: HeldRequest, body: @Sendable () async throws -> String) async -> Decision {
        if held.isRedirect { return .proceed }
        let table = current
        let last = held.first == nil ? nil : URLRequest(held.request)
        if let request = URLRequest(held.first ?? held.request), held.isOffline || held.responseStatusCode != nil,
            let answer = table.answer(
                to: request,
                redirectedTo: last,
                after: held.isOffline ? .offline : .status(held.responseStatusCode ?? 0)
            ),
            let decision = decision(answer, held, table.answerer(request, last), table, status: held.responseStatusCode)
        {
            return decision
        }
        let bytes = countsBytes ? await held.bytes(body) : nil
        report(held, file: nil, status: held.responseStatusCode, bytes, from: held.first?.url)
        return .proceed
    }

    /// The size in bytes of the largest body that can be sent to the browser.
    ///
    /// A DevTools message to the browser holds at most 100 MB, and base64 adds a third.
    static let maximumSize = 70_000_000

    private func decision(
        _ answer: CachedURLResponse,
        _ held: HeldRequest,
        _ request: URLRequest,
        _ table: SubstitutionTable,
        status: Int?
    ) -> Decision? {
        guard let head = answer.response as? HTTPURLResponse, let fields = head.allHeaderFields as? [String: String],
            answer.data.count <= Self.maximumSize, let substitution = table.explain(request).substitution
        else { return nil }
        report(held, file: File(substitution: substitution, count: answer.data.count), status: status)
        return .answer(
            status: head.statusCode,
            fields: fields.sorted { $0.key < $1.key }.map { HeldRequest.Field(name: $0.key, value: $0.value) },
            body: answer.data
        )
    }

    private func report(_ held: HeldRequest, file: File?, status: Int?, _ body: Data? = nil, from first: String? = nil)
    {
        guard held.request.url.lowercased().hasPrefix("http") else { return }
        var load = FinishedLoad(held, file: file, status: status)
        load.size = body?.count ?? (countsBytes && held.hasBody ? held.responseLength : nil)
        load.redirectedFrom = first
        load.refusal = body.flatMap { IncomingBody.refusal(of: $0, at: held.request.url, sent: load.type) }
        let table = current
        load.isTooLarge =
            file == nil && first == nil && URLRequest(held.request).flatMap { table.answer(to: $0) } != nil
        onFinish(load, table)
    }
}

extension LiveTable.FinishedLoad {
    init(_ held: HeldRequest, file: LiveTable.File?, status: Int?) {
        (url, method, kind) = (held.request.url, held.request.method, held.resourceType)
        (self.file, self.status) = (file, status)
        type = held.responseField("content-type").flatMap { MediaType($0) }
        sharing.receive { held.responseField($0.lowercased()) }
        failure = held.responseErrorReason
        isOfServiceWorker = held.isOfServiceWorker
    }
}

extension HeldRequest {
    /// True if the request failed because there was no connection; false if it was cancelled or blocked.
    ///
    /// https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-ErrorReason
    var isOffline: Bool {
        [
            "TimedOut", "ConnectionClosed", "ConnectionReset", "ConnectionRefused", "ConnectionAborted",
            "ConnectionFailed", "NameNotResolved", "InternetDisconnected", "AddressUnreachable",
        ].contains(responseErrorReason)
    }
}

extension URLRequest {
    /// Creates the request that an app would send; nil if Foundation cannot parse the browser's URL.
    init?(_ request: HeldRequest.Request) {
        guard let url = URL(ofBrowser: request.url) else { return nil }
        self.init(url, method: request.method)
        for (name, value) in request.headers { setValue(value, forHTTPHeaderField: name) }
    }
}

extension SubstitutionTable {
    /// Returns the file's response after a network-first load; nil for the network's response.
    ///
    /// This is the answer of `Fallback.answer(redirectedTo:)` in the core, without an archive. `last` is the request
    /// after the last redirect; nil without one.
    fileprivate func answer(
        to request: URLRequest,
        redirectedTo last: URLRequest?,
        after outcome: NetworkOutcome
    ) -> CachedURLResponse? {
        guard decision(on: request).networkFirst != nil else { return nil }
        if let last, let answer = answer(to: last) { return answer }
        let request = answerer(request, last)
        return decision(on: request).networkFirst?.response(to: request, after: outcome)
    }

    /// Returns the request whose entry answers a network-first load: the last one if an entry matches it.
    fileprivate func answerer(_ first: URLRequest, _ last: URLRequest?) -> URLRequest {
        last.flatMap { answer(to: $0) != nil || decision(on: $0).networkFirst != nil ? $0 : nil } ?? first
    }

    /// Returns the file that answers a URL if the load begins with it; nil if no file does.
    func file(at url: String) -> String? {
        guard let request = URL(ofBrowser: url).map({ URLRequest(url: $0) }), answer(to: request) != nil else {
            return nil
        }
        return explain(request).substitution?.path
    }
}
