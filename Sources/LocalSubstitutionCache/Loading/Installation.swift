import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What `SubstitutionProtocol` serves from: whatever was installed last.
// A class, so that whoever asks retains one reference.
final class Installation: Sendable {
    let cache: LocalSubstitutionCache
    let archive: OfflineArchive?

    init(cache: LocalSubstitutionCache, archive: OfflineArchive?) {
        self.cache = cache
        self.archive = archive
    }

    /// What there is to be done for a request.
    enum Service {
        /// The file answers.
        case answer(SubstitutionTable.Match)
        /// The network is asked first, and then the row's conditions.
        case fallback(SubstitutionTable.Row)
        /// The network is asked first, and its answer may be kept.
        case archive(OfflineArchive)
    }

    /// What there is to be done for `request`; nil when it is left alone.
    func service(for request: URLRequest) -> Service? {
        // The question that most requests end at comes first.
        if let match = cache.match(request) {
            guard request.cachePolicy != .optOut else { return nil }
            return match.row.isConditional ? .fallback(match.row) : .answer(match)
        }
        guard let archive, request.cachePolicy != .optOut, archive.accepts(request) else { return nil }
        return .archive(archive)
    }

    /// Kept until the process ends.
    static var current: Installation? {
        get { lock.withLock { installed } }
        set {
            // What it replaces may end here, and ask something then.
            let previous = lock.withLock {
                let previous = installed
                installed = newValue
                return previous
            }
            withExtendedLifetime(previous) {}
        }
    }

    /// URL loading asks for ``current`` inside locks of its own; nothing else is called inside this one.
    private static let lock = NSLock()
    // Only touched inside the lock.
    private nonisolated(unsafe) static var installed: Installation?
}
