import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The cache and archive that `SubstitutionURLProtocol` answers from: the ones that were installed last.
// A class, so that each caller retains one reference. URLCache is thread-safe, but Foundation on Linux does not declare
// it Sendable.
final class Installation: @unchecked Sendable {
    let cache: LocalSubstitutionCache
    let archive: (any ResponseArchive)?
    /// The cache that becomes `URLCache.shared` again when ``cache`` is uninstalled.
    ///
    /// If the app has set another shared cache meanwhile, that cache stays.
    let replaced: URLCache
    /// True if the app has installed an archive, then or before; if not, no archive waits for the start of a load.
    let hasHadArchive: Bool

    init(cache: LocalSubstitutionCache, archive: (any ResponseArchive)?, insteadOf replaced: URLCache) {
        (self.cache, self.archive, self.replaced) = (cache, archive, replaced)
        hasHadArchive = archive != nil || Self.archiveType != nil
    }

    /// Returns the archive if it may keep or replay the response to a request that no entry names.
    func archive(for request: URLRequest) -> (any ResponseArchive)? {
        guard let archive, request.cachePolicy != .optOut, archive.accepts(request) else { return nil }
        return archive
    }

    /// Counts a request that no entry names, if the archive refuses it.
    func countRefusal(of request: URLRequest) {
        if request.cachePolicy != .optOut { archive?.countRefusal(of: request) }
    }

    /// The current installation, until another one replaces it or its cache is uninstalled.
    static var current: Installation? {
        get { installed.value.current }
        // Releasing the previous installation may read `current`. So the previous installation is released outside the
        // lock.
        set { _ = installed.replace(with: (newValue, newValue?.archive.map { type(of: $0) } ?? archiveType)) }
    }

    /// The type of the archives that the app has installed; nil if it has installed none.
    static var archiveType: (any ResponseArchive.Type)? { installed.withLock { $0.archiveType } }

    /// The storage of ``current`` and ``archiveType``.
    ///
    /// Both change only inside ``LocalSubstitutionCache/sharingLock``. URL loading reads ``current`` inside its own
    /// locks. So inside this lock, no other code is called.
    private static let installed = Locked<State>((nil, nil))
    private typealias State = (current: Installation?, archiveType: (any ResponseArchive.Type)?)
}
