public import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An answer to a request: see ``LocalSubstitutionCache/LocalSubstitutionCache/onRequest``.
public enum RequestEvent: Sendable {
    /// A file answers, and the network is not asked.
    case hit(URL, Substitution)
    /// No file answers, at least not before the network does.
    case miss(URL)
    /// A file replaces the network's response to a request that was a miss; without a substitution, an archived copy.
    case fallback(URL, Substitution?)
}

/// The part of a cache's observers that turns steps into events for the app's closure.
// `loads` and `limit` are only accessed on the queue.
final class EventReporter: @unchecked Sendable {
    struct Load {
        weak var asker: (any AnyObject & Sendable)?
        let url: URL
        let isAnswered: Bool
    }

    let onRequest: @Sendable (RequestEvent) -> Void
    /// The queue on which the closure is called; internal so that tests can wait for it.
    let queue = DispatchQueue(label: "LocalSubstitutionCache.events", qos: .utility)
    /// The loads that were reported; internal for tests.
    private(set) var loads: [ObjectIdentifier: Load] = [:]
    /// The number of loads at which those that no longer exist are forgotten.
    private var limit = 100

    init(_ onRequest: @escaping @Sendable (RequestEvent) -> Void) { self.onRequest = onRequest }

    func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?) {
        guard let url = request.url else { return }
        switch step {
        case .asked, .offered, .used: queue.async { [self] in report(url, asker) }
        case .answered(_, _, let substitution): queue.async { [self] in report(url, asker, .some(substitution)) }
        case .received, .redirected, .challenged, .receivedPart, .stored, .ended: break
        }
    }

    /// Calls the closure, unless it knows the event; `answer` is nil if nothing answers, at least not yet.
    private func report(_ url: URL, _ asker: (any AnyObject & Sendable)?, _ answer: Substitution?? = nil) {
        var event = answer.map { RequestEvent.fallback(url, $0) } ?? .miss(url)
        if let answer, let file = answer, file.entry.conditions.isEmpty { event = .hit(url, file) }
        if let asker {
            let known = loads[ObjectIdentifier(asker)]
            // The cache and the protocol may both observe one load. URL loading may also start a load again.
            if let known, known.asker === asker, known.url == url {
                if known.isAnswered || answer == nil { return }
                // After a redirect, the file of an entry without `when` may replace the network's response.
                event = .fallback(url, answer ?? nil)
            }
            if loads.count >= limit {
                loads = loads.filter { $0.value.asker != nil }
                limit = 2 * loads.count + 100
            }
            loads[ObjectIdentifier(asker)] = Load(asker: asker, url: url, isAnswered: answer != nil)
        }
        onRequest(event)
    }
}
