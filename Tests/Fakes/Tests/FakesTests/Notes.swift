import Foundation
import FoundationNetworking

@testable import LocalSubstitutionCache

/// An observer that records each event of a request, in order.
// Mutable state is only accessed inside the lock.
final class Notes: RequestObserver, @unchecked Sendable {
    private let lock = NSLock()
    private var notes: [String] = []

    var all: [String] { lock.withLock { notes } }

    func observe(_ step: RequestStep, of request: URLRequest, by asker: (any AnyObject & Sendable)?) {
        if case .sent = step { return }
        let words =
            switch step {
            case .asked: "asked"
            case .answered(_, let count, _): "answered with \(count)"
            case .offered: "offered"
            case .used: "used"
            case .received(let response): "received \((response as? HTTPURLResponse)?.statusCode ?? 0)"
            case .redirected(let response, let next): "\(response.statusCode) to \(next.url?.path ?? "")"
            case .challenged: "challenged"
            case .receivedPart(let part): "part of \(part.count)"
            case .stored(let response): "stored \(response.data.count)"
            case .ended, .sent: "ended"
            }
        let name = asker is URLSessionTask ? "" : " without a task"
        lock.withLock { notes.append("\(request.url?.path ?? ""): \(words)\(name)") }
    }

    /// Lists the events of a cache from now on, and returns their reporter.
    func follow(_ cache: SubstitutionCache) -> EventReporter {
        let reporter = EventReporter { [self] event in
            guard let event else { return }
            let file = event.substitution.map { " \($0.path)" } ?? ""
            lock.withLock { notes.append("\(event.url.url.path): \(event.kind)\(file)") }
        }
        cache.table.changeReporters { $0 + [reporter] }
        return reporter
    }
}
