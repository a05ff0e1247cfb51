import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The file or archived copy that may answer one load instead of the network, which is asked first.
struct Fallback {
    enum Source {
        /// The file of an entry with conditions.
        case file(SubstitutionTable.Match)
        /// The last good copy.
        case copy(OfflineArchive)

        /// Whether the network's answer matters, and not only the lack of one.
        var judgesAnswers: Bool {
            switch self {
            case .file(let match): match.row.conditions.contains { $0 != .offline }
            case .copy: true
            }
        }
    }

    private var source: Source
    /// The request that the source is for.
    private var request: URLRequest
    /// The moment at which the load began, for the ``RemovalLog``.
    private let moment: Int
    /// Decides where a redirect leads.
    private let installation: Installation

    init(_ source: Source, for request: URLRequest, since moment: Int, _ installation: Installation) {
        (self.source, self.request, self.moment, self.installation) = (source, request, moment, installation)
    }

    /// What answers after `outcome`; nil when the network's answer stands.
    func answer(after outcome: Outcome) -> CachedURLResponse? {
        switch source {
        case .file(let match): return match.response(to: request, after: outcome)
        case .copy(let archive):
            guard outcome == .offline, let copy = archive.answer(to: request) else { return nil }
            // A manifest that names the URL where the copy came from has the last word on it.
            if let url = copy.response.url, case .unnamed = installation.cache.verdict(on: URLRequest(url: url)) {
                return copy
            }
            return nil
        }
    }

    /// What answers the URL that a redirect leads to; nil when the network is to be asked there too.
    ///
    /// Where an entry with conditions names that URL, it decides from then on.
    mutating func answer(redirectedTo next: URLRequest) -> CachedURLResponse? {
        switch installation.service(for: next) {
        case .file(let match): return match.response(to: next)
        case .networkFirst(.file(let match)): (source, request) = (.file(match), next)
        // An archived copy stands for the whole chain of redirects, not for one step of it.
        case .networkFirst(.copy), nil: break
        }
        return nil
    }

    /// The network's answer on its way into the archive; nil when there is none.
    func incoming(_ response: URLResponse?) -> IncomingCopy? {
        guard case .copy(let archive) = source, let response = response as? HTTPURLResponse else { return nil }
        return IncomingCopy(response, to: request, since: moment, for: archive)
    }

    /// Counts an answer that nobody of this library will see.
    func countUnseen() {
        if case .copy(let archive) = source { archive.count(.unseen) }
    }
}
