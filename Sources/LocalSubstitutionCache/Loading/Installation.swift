import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What `SubstitutionProtocol` serves from: whatever was installed last.
struct Installation {
    let cache: LocalSubstitutionCache
    let archive: OfflineArchive?

    /// What there is to be done for a request.
    enum Service {
        /// The file answers.
        case answer(SubstitutionTable.Match)
        /// The network is asked first.
        case fallback(Fallback)
    }

    /// What there is to be done for `request`; nil when it is left alone.
    func service(for request: URLRequest) -> Service? {
        guard request.cachePolicy != .optOut else { return nil }
        if let match = cache.match(request) {
            return match.row.isConditional ? .fallback(Fallback(match.row, request)) : .answer(match)
        }
        guard let archive, archive.accepts(request) else { return nil }
        return .fallback(Fallback(archive, request))
    }

    /// Kept until the process ends.
    static var current: Installation? {
        get { lock.withLock { installed } }
        set { lock.withLock { installed = newValue } }
    }

    /// URL loading asks for ``current`` inside locks of its own; nothing else is called inside this one.
    private static let lock = NSLock()
    // Only touched inside the lock.
    private nonisolated(unsafe) static var installed: Installation?
}
