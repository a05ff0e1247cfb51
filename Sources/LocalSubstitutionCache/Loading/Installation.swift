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
    let hasHadArchive = archiveType.value != nil

    init(cache: LocalSubstitutionCache, archive: (any ResponseArchive)?, insteadOf replaced: URLCache) {
        (self.cache, self.archive, self.replaced) = (cache, archive, replaced)
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
        get { installed.value }
        // Releasing the previous installation may read `current`. So the previous installation is released outside the
        // lock.
        set { _ = installed.replace(with: newValue) }
    }

    /// The storage of ``current``.
    ///
    /// URL loading reads ``current`` inside its own locks. So inside this lock, no other code is called.
    private static let installed = Locked<Installation?>(nil)

    /// The type of the archives that the app has installed; nil if it has installed none.
    static let archiveType = Locked<(any ResponseArchive.Type)?>(nil)

    /// The lock that is held while a cache is installed or uninstalled.
    ///
    /// URL loading calls no method of this library that takes this lock. The replaced objects are released after the
    /// lock is unlocked, because their release may deallocate an object of the app, and that object's `deinit` may call
    /// `uninstall()`.
    static let installationLock = NSLock()
}
