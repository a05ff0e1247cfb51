package import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// All stages in their order.
extension SubstitutionTable {
    /// Resolves a manifest, reads its files, and prepares their responses.
    ///
    /// - Parameters:
    ///   - manifest: The manifest.
    ///   - folder: The folder that its files lie in.
    ///   - reading: How the files are brought into memory.
    ///   - date: The moment that `until` is compared with.
    /// - Throws: ``ManifestError`` with every error of the manifest and its files.
    package convenience init(
        _ manifest: SubstitutionManifest,
        folder: URL,
        reading: ReadingMode = .mapped,
        on date: Date = Date()
    ) throws(ManifestError) {
        let resolved = try manifest.resolved(in: folder, on: date)
        try self.init(resolved, resolved.contents(reading))
    }

    /// See ``LocalSubstitutionCache/explain(_:)``.
    package func explain(_ request: URLRequest, _ advice: (any ManifestAdvice)? = nil) -> Explanation {
        Explanation(request, self, advice)
    }

    /// The answer to a request that a file answers without asking the network; nil for every other request.
    package func answer(to request: URLRequest) -> CachedURLResponse? {
        switch verdict(on: request) {
        case .answered(let match), .answeredByProtocol(let match, _): match.response(to: request)
        case .afterNetwork, .leftAlone, .unnamed: nil
        }
    }

    /// Whether a file answers the request when what becomes of it on the network fulfils a condition.
    package func mayAnswerAfterNetwork(_ request: URLRequest) -> Bool {
        if case .afterNetwork = verdict(on: request) { true } else { false }
    }

    /// The answer to a request after the network was asked; nil when the network's answer stands.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - status: What the server answered; nil when there was no connection.
    /// - Returns: The whole file.
    package func answer(to request: URLRequest, afterStatus status: Int?) -> CachedURLResponse? {
        guard case .afterNetwork(let match) = verdict(on: request) else { return nil }
        return match.response(to: request, after: status.map(Outcome.status) ?? .offline)
    }
}
