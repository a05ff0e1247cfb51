import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Lets a page be loaded from the network, and compares what servers send with the files that stand in for it.
// Mutable state is only accessed inside the lock.
final class ServedComparison: Interceptor, @unchecked Sendable {
    /// A file that is not what its server sends.
    struct Change: Sendable {
        let url: String
        let substitution: Substitution
        /// The number of bytes of the file.
        let count: Int
        let served: Served
    }

    /// The answer of a server that is not the file's bytes.
    enum Served: Equatable, Sendable {
        case body(count: Int)
        case status(Int)
        /// There was no connection.
        case nothing

        /// A clause about it.
        var words: String {
            switch self {
            case .body(let count): "there \(ByteCount(count))"
            case .status(let status): "its server answers \(status)"
            case .nothing: "its server sends nothing"
            }
        }
    }

    private let table: SubstitutionTable
    private let lock = NSLock()
    private var found: [String: Change] = [:]
    private var ended: [LiveTable.Load] = []

    init(_ table: SubstitutionTable) { self.table = table }

    /// The files that differ, by URL.
    var changes: [Change] { lock.withLock { found.values.sorted { $0.url < $1.url } } }

    /// Every load that has ended.
    var loads: [LiveTable.Load] { lock.withLock { ended } }

    func decide(on held: HeldRequest) async -> Decision { .goOn }

    func decide(on held: HeldRequest, body: @Sendable () async throws -> String) async -> Decision {
        if held.isRedirect { return .goOn }
        guard held.request.url.lowercased().hasPrefix("http") else { return .goOn }
        lock.withLock { ended.append(LiveTable.Load(held, file: nil, status: held.responseStatusCode)) }
        guard let request = URLRequest(held), held.request.method == "GET", let answer = table.answer(to: request),
            let substitution = table.explain(request).substitution
        else {
            // As with the files, a page is done when all of it is there.
            _ = await held.size(body)
            return .goOn
        }
        let served = await served(held, answer.data, body)
        lock.withLock {
            // What is asked for more than once, as the parts of a film, differs when one of them does.
            if let served {
                found[held.request.url] = Change(
                    url: held.request.url,
                    substitution: substitution,
                    count: substitution.size,
                    served: served
                )
            }
        }
        return .goOn
    }

    /// The server's answer; nil when it has the file's bytes.
    private func served(
        _ held: HeldRequest,
        _ file: Data,
        _ body: @Sendable () async throws -> String
    ) async -> Served? {
        // What the page has cancelled says nothing of its server.
        guard let status = held.responseStatusCode else { return held.isOffline ? .nothing : nil }
        // A part was asked for, and the file answers with the same part.
        guard status == 200 || status == 206 else { return .status(status) }
        guard let text = try? await body(), let data = Data(base64Encoded: text) else { return nil }
        if let length = held.plainLength, data.count < length { return nil }
        return data == file ? nil : .body(count: data.count)
    }
}
