import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers the requests of a browser as an app would: with files, and where an entry says so only after the network was
/// asked.
// Mutable state is only accessed inside the lock.
final class LiveTable: Interceptor, @unchecked Sendable {
    /// The outcome of one load, after its redirects.
    struct Load: Sendable {
        let url: String
        let method: String
        /// The use of what is loaded, in the browser's word.
        let kind: String
        /// The file that answered; nil when the network did.
        let file: File?
        /// The network's status; nil when it was not asked, or failed.
        let status: Int?
        /// The `Content-Type` that the network sent.
        let type: MediaType?
        /// The number of bytes that the network sent, where they are counted.
        var size: Int?
        /// True if a file would answer that is larger than a browser takes from a client.
        var isTooLarge = false

        /// True if there was no answer, or an error of the server.
        var hasFailed: Bool { file == nil && (status.map { $0 >= 400 } ?? true) }
    }

    /// A file that answered.
    struct File: Sendable {
        let substitution: Substitution
        /// The number of bytes that were sent of it.
        let count: Int
    }

    private let lock = NSLock()
    private var table: SubstitutionTable
    /// The requests for which a file may answer after the network, by the load that they belong to.
    private var pending: [String: URLRequest] = [:]
    private let whenLoaded: @Sendable (Load) -> Void
    private let countsBytes: Bool

    /// - Parameters:
    ///   - table: What answers.
    ///   - countsBytes: Whether the bytes that the network sends are counted: the page gets each body when it is whole.
    ///   - whenLoaded: Called for each load once it is known who answers it, on any thread.
    init(
        _ table: SubstitutionTable,
        countsBytes: Bool = false,
        whenLoaded: @escaping @Sendable (Load) -> Void
    ) {
        (self.table, self.countsBytes, self.whenLoaded) = (table, countsBytes, whenLoaded)
    }

    /// The table that answers now.
    var current: SubstitutionTable {
        get { lock.withLock { table } }
        set { lock.withLock { table = newValue } }
    }

    /// Reads a manifest and its files, as an app does.
    ///
    /// - Throws: ``ManifestError`` with everything that is wrong.
    static func table(of manifest: ManifestFile) throws -> SubstitutionTable {
        let text = try SubstitutionManifest.text(of: manifest.url, name: manifest.name)
        let entries = SubstitutionManifest(text, name: manifest.name, url: manifest.url, advice: Advice())
        // What is being edited is copied: a mapped file that is written in place ends the process.
        return try SubstitutionTable(entries, folder: manifest.folder, reading: .copied)
    }

    // MARK: - Requests

    func decide(on held: HeldRequest) async -> Decision {
        guard let request = URLRequest(held) else { return .goOn }
        let table = current
        if let answer = table.answer(to: request), let decision = decision(answer, held, request, table, status: nil) {
            return decision
        }
        // An entry that names where a redirect leads decides from there on.
        if table.mayAnswerAfterNetwork(request) { lock.withLock { pending[held.identifier] = request } }
        return .goOn
    }

    func decide(on held: HeldRequest, body: @Sendable () async throws -> String) async -> Decision {
        if held.isRedirect { return .goOn }
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
        return .goOn
    }

    /// The largest body that the browser takes from a client: a message has at most 100 MB, and base64 a third more.
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
        var load = Load(held, file: file, status: status)
        load.size = size
        load.isTooLarge = file == nil && URLRequest(held).flatMap { current.answer(to: $0) } != nil
        whenLoaded(load)
    }
}

extension LiveTable.Load {
    init(_ held: HeldRequest, file: LiveTable.File?, status: Int?) {
        (url, method, kind) = (held.request.url, held.request.method, held.resourceType)
        (self.file, self.status) = (file, status)
        type = held.responseField("content-type").flatMap { MediaType($0) }
    }
}

extension HeldRequest {
    /// True if it failed for lack of a connection, and was neither cancelled nor refused.
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
    /// The request as an app would make it; nil when Foundation makes no URL of the browser's.
    init?(_ held: HeldRequest) {
        guard let url = URL(string: held.request.url) else { return nil }
        self.init(url: url)
        httpMethod = held.request.method
        for (name, value) in held.request.headers { setValue(value, forHTTPHeaderField: name) }
    }
}
