import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The cache and archive that `SubstitutionProtocol` answers from: those that were installed last.
// A class, so that each caller retains one reference. URLCache is safe to share, which Linux's Foundation does not
// declare.
final class Installation: @unchecked Sendable {
    let cache: LocalSubstitutionCache
    let archive: OfflineArchive?
    /// The shared cache before any of this library's.
    let replaced: URLCache

    init(cache: LocalSubstitutionCache, archive: OfflineArchive?, insteadOf replaced: URLCache) {
        (self.cache, self.archive, self.replaced) = (cache, archive, replaced)
    }

    /// What `SubstitutionProtocol` does with a request.
    enum Service {
        /// The file answers.
        case file(SubstitutionTable.Match)
        /// The network is asked first.
        case networkFirst(Fallback.Source)

        /// The same, as far as the ``Route`` depends on it.
        var route: Route.Service {
            switch self {
            case .file: .file
            case .networkFirst(let source): source.judgesAnswers ? .afterAnswer : .whenOffline
            }
        }
    }

    /// What `SubstitutionProtocol` does with `request`; nil when it leaves the request alone.
    func service(for request: URLRequest) -> Service? {
        switch cache.verdict(on: request) {
        case .answered(let match), .answeredByProtocol(let match, _): return .file(match)
        case .afterNetwork(let match): return .networkFirst(.file(match))
        case .leftAlone: return nil
        case .unnamed:
            guard let archive, request.cachePolicy != .optOut, archive.accepts(request) else { return nil }
            return .networkFirst(.copy(archive))
        }
    }

    /// Counts a request for which there is no service, if the archive might have had one for it.
    func countRefusal(of request: URLRequest) {
        guard let archive, request.cachePolicy != .optOut, case .unnamed = cache.verdict(on: request) else { return }
        archive.countRefusal(of: request)
    }

    /// Kept until another takes its place, or it is uninstalled.
    static var current: Installation? {
        get { installed.value }
        // Releasing the previous installation may ask for `current`, so the release happens outside the lock.
        set { _ = installed.replace(with: newValue) }
    }

    /// URL loading asks for ``current`` inside locks of its own; nothing else is called inside this one.
    private static let installed = Locked<Installation?>(nil)

    /// Held while a cache is installed or uninstalled; code that URL loading calls never takes it.
    ///
    /// What is replaced is let go after it, because the app's own objects may end with it, and call `uninstall()`.
    static let changing = NSLock()
}
