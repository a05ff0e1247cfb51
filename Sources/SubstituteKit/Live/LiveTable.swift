import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers a browser's requests with files, in the same way as an app does.
///
/// For a network-first entry, the browser first sends the request to the network.
// Mutable state is only accessed inside the lock.
final class LiveTable: Interceptor, @unchecked Sendable {
    /// The outcome of one load, after its redirects.
    struct FinishedLoad: Sendable {
        let url: String
        let method: String
        /// Chromium's name for the kind of resource, such as `Image`.
        let kind: String
        /// The file that answered; nil if the network answered, or if the load failed.
        let file: File?
        /// The server's status; nil if the request was not sent to the network, or if no server answered.
        let status: Int?
        /// The `Content-Type` that the server sent.
        let type: MediaType?
        /// The size of the body that the server sent, in bytes; nil if bytes are not counted.
        var size: Int?
        /// True if an entry matches, but its file is too large to be sent to the browser.
        var isTooLarge = false

        /// True if the page or the browser itself gave the load up.
        var isCancelled = false

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
    /// The requests that a network-first entry may still answer after the network's response, keyed by the load's
    /// identifier.
    private var pending: [String: URLRequest] = [:]
    private let onFinish: @Sendable (FinishedLoad) -> Void
    private let countsBytes: Bool
    private let loads: LoadList?

    /// - Parameters:
    ///   - table: The table that answers.
    ///   - countsBytes: True to count the bytes that servers send. The page then receives a body only when the whole
    ///     body has arrived.
    ///   - loads: Receives each request that begins.
    ///   - onFinish: Called once for each load, on any thread, when the source of the response is known.
    init(
        _ table: SubstitutionTable,
        countsBytes: Bool = false,
        loads: LoadList? = nil,
        onFinish: @escaping @Sendable (FinishedLoad) -> Void
    ) {
        (self.table, self.countsBytes, self.loads, self.onFinish) = (table, countsBytes, loads, onFinish)
    }

    /// The table in use; may be replaced at any time.
    var current: SubstitutionTable {
        get { lock.withLock { table } }
        set { lock.withLock { table = newValue } }
    }

    /// Reads a manifest and its files in the same way as an app.
    ///
    /// - Throws: ``ManifestError`` with every error in the manifest.
    static func table(of manifest: ManifestFile) throws -> SubstitutionTable {
        let text = try SubstitutionManifest.text(of: manifest.url, name: manifest.name)
        let entries = SubstitutionManifest(text, name: manifest.name, url: manifest.url, advice: Advice())
        // Copy the files, because the user may edit them meanwhile. If an editor truncates a memory-mapped file, SIGBUS
        // can kill the process.
        return try SubstitutionTable(entries, folder: manifest.folder, reading: .copied)
    }

    // MARK: - Requests

    func decide(on held: HeldRequest) async -> Decision {
        loads?.begin(held)
        guard let request = URLRequest(held) else { return .proceed }
        let table = current
        if let answer = table.answer(to: request), let decision = decision(answer, held, request, table, status: nil) {
            return decision
        }
        // A redirect does not change the identifier. After a redirect, the request for the new URL replaces the earlier
        // request.
        if table.mayAnswerAfterNetwork(request) { lock.withLock { pending[held.identifier] = request } }
        return .proceed
    }

    func decide(on held: HeldRequest, body: @Sendable () async throws -> String) async -> Decision {
        if held.isRedirect { return .proceed }
        let request = lock.withLock { pending.removeValue(forKey: held.identifier) }
        let table = current
        if let request, held.isOffline || held.responseStatusCode != nil,
            let answer = table.answer(to: request, afterStatus: held.isOffline ? nil : held.responseStatusCode),
            let decision = decision(answer, held, request, table, status: held.responseStatusCode)
        {
            return decision
        }
        let size = countsBytes ? await held.size(body) : nil
        report(held, file: nil, status: held.responseStatusCode, size: size)
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

    private func report(_ held: HeldRequest, file: File?, status: Int?, size: Int? = nil) {
        guard held.request.url.lowercased().hasPrefix("http") else { return }
        var load = FinishedLoad(held, file: file, status: status)
        load.size = size
        load.isTooLarge = file == nil && URLRequest(held).flatMap { current.answer(to: $0) } != nil
        onFinish(load)
    }
}

extension LiveTable.FinishedLoad {
    init(_ held: HeldRequest, file: LiveTable.File?, status: Int?) {
        (url, method, kind) = (held.request.url, held.request.method, held.resourceType)
        (self.file, self.status) = (file, status)
        type = held.responseField("content-type").flatMap { MediaType($0) }
        isCancelled = held.responseErrorReason == "Aborted"
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
    init?(_ held: HeldRequest) {
        guard let url = URL(ofBrowser: held.request.url) else { return nil }
        self.init(url: url)
        httpMethod = held.request.method
        for (name, value) in held.request.headers { setValue(value, forHTTPHeaderField: name) }
    }
}
