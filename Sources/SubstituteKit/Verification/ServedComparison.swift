import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Lets a page load from the network and compares the servers' responses with the files that would replace them.
// Mutable state is only accessed inside the lock.
final class ServedComparison: Interceptor, @unchecked Sendable {
    /// A file whose bytes differ from its server's response.
    struct Change: Sendable {
        let url: String
        let substitution: Substitution
        let served: Served
        /// The comparison with the answer to the request with which the file was loaded; nil if there is none.
        fileprivate(set) var finding: RemoteCheck.Finding?

        /// Both sizes in words, as a clause for messages.
        var sizes: String { "here \(ByteCount(substitution.size)), \(served.words)" }
    }

    /// A server's response that is compared with a file's bytes.
    enum Served: Equatable, Sendable {
        case body(Data)
        case status(Int)
        /// The server could not be reached.
        case nothing

        /// The response in words, as a clause for messages.
        var words: String {
            switch self {
            case .body(let data): "there \(ByteCount(data.count))"
            case .status(let status): "its server answers \(status)"
            case .nothing: "its server sends nothing"
            }
        }
    }

    private let table: SubstitutionTable
    private let remote: RemoteCheck
    private let lock = NSLock()
    private var found: [String: Change] = [:]
    private var same: Set<String> = []
    let loads = LoadList()

    init(_ table: SubstitutionTable, _ remote: RemoteCheck) { (self.table, self.remote) = (table, remote) }

    /// Returns the files that differ, sorted by URL.
    ///
    /// A server may have another version for the request with which a file was loaded. So that request is sent again.
    func changes(in staging: StagingFolder, _ network: Network) async -> [Change] {
        let all = lock.withLock { found.values.sorted { $0.url < $1.url } }
        let urls = Set(all.map(\.substitution.recordedURL))
        let copies = remote.copies.filter { urls.contains($0.substitution.recordedURL) }
        let findings = await remote.findings(of: copies, in: staging, network)
        return all.compactMap { change in
            var change = change
            change.finding = findings.first {
                $0.copy.substitution.recordedURL == change.substitution.recordedURL
            }
            return change.finding?.state == .current ? nil : change
        }
    }

    /// The URLs for which the server's response was compared with a file.
    var compared: Set<String> { lock.withLock { same.union(found.keys) } }

    func decide(on held: HeldRequest) async -> Decision {
        loads.begin(held)
        guard let request = URLRequest(held.request), table.answer(to: request) != nil,
            let asked = table.explain(request).substitution.flatMap(remote.asked(for:))
        else { return .proceed }
        // The browser asks for the version that the file has, as far as that needs no consent of the server (Fetch
        // §2.2.2), and as far as pages look different.
        var fields = held.request.headers
        for name in ["accept", "accept-language"] {
            guard let value = asked[name] else { continue }
            for key in fields.keys where key.lowercased() == name { fields[key] = nil }
            fields[name] = value
        }
        return .proceedWith(fields)
    }

    func decide(on held: HeldRequest, body: @Sendable () async throws -> String) async -> Decision {
        guard !held.isRedirect, held.request.url.lowercased().hasPrefix("http") else { return .proceed }
        loads.append(LiveTable.FinishedLoad(held, file: nil, status: held.responseStatusCode))
        // The file of a URL has what the server sends after its redirects.
        let compared = [held.first, held.request].compactMap(\.self).filter {
            !loads.isCut && held.request.method == "GET" && URLRequest($0).flatMap(table.answer) != nil
        }
        guard !compared.isEmpty, let served = await served(held, body) else {
            // In the load with the files, ``LiveTable`` reads the whole body before the page receives it. This load
            // does the same, so that both pages are delayed equally.
            if compared.isEmpty { _ = await held.bytes(body) }
            return .proceed
        }
        for request in compared { note(served, for: request) }
        return .proceed
    }

    private func note(_ served: Served, for held: HeldRequest.Request) {
        guard let request = URLRequest(held), let answer = table.answer(to: request),
            let substitution = table.explain(request).substitution
        else { return }
        lock.withLock {
            // A page may request a URL more than once, for example for the byte ranges of a video. One differing
            // response is enough.
            if case .body(let data) = served, data == answer.data {
                same.insert(held.url)
            } else {
                found[held.url] = Change(url: held.url, substitution: substitution, served: served)
            }
        }
    }

    /// Returns the server's response; nil if it cannot be compared.
    private func served(_ held: HeldRequest, _ body: @Sendable () async throws -> String) async -> Served? {
        // A request that the page cancelled says nothing about the server.
        guard let status = held.responseStatusCode else { return held.isOffline ? .nothing : nil }
        // The browser has what the server sent before in this load; that response is compared. The cache is off, but
        // Chromium still asks again for what another frame has just loaded.
        if status == 304 { return nil }
        // A response with a byte range (206) can be compared, because the file's response covers the same range.
        guard status == 200 || status == 206 else { return .status(status) }
        guard let text = try? await body(), let data = Data(base64Encoded: text) else { return nil }
        if let length = held.plainLength, data.count < length { return nil }
        return .body(data)
    }
}
