import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension SubstitutionCache {
    /// Makes this the shared cache, until ``uninstall()`` or the end of the process.
    ///
    /// This method takes over the capacities of the cache it replaces, and registers ``SubstitutionURLProtocol``.
    ///
    /// Call it at launch, before other code creates sessions: a session keeps the cache that was shared when its
    /// configuration was created. (On Linux the first call also reaches `URLSession.shared`, even if that session was
    /// used before. But that session must not be loading during the call: Foundation reads the session's configuration
    /// without a lock.)
    ///
    /// On Linux, a test's stub that is registered with `URLProtocol.registerClass` after this call has no effect in
    /// `URLSession.shared`. So register it first.
    ///
    /// A second call on the same instance has no effect; a call on a different instance replaces this cache. For this
    /// library, calls after launch are safe. But NSURLCache.h says that the shared cache should be set while no other
    /// code holds a reference to the previous one.
    ///
    /// `LocalSubstitutionArchive` adds `install(archive:)`, which also installs an archive; a call of this method
    /// removes the archive again.
    public func install() { install(with: nil) }

    /// Makes this the shared cache, like ``install()``, and installs an archive, or none.
    package func install(with archive: (any ResponseArchive)?) {
        // The replaced objects are released outside the lock.
        let before = Self.sharingLock.withLock { () -> (Installation?, URLCache) in
            let (current, shared) = (Installation.current, URLCache.shared)
            if shared !== self {
                memoryCapacity = shared.memoryCapacity
                diskCapacity = shared.diskCapacity
            }
            // Foundation on Linux sets the shared session's cache only once, and consults its own classes before
            // registered ones. So change that session's configuration. Do so before the shared cache is set: then
            // `FrontCache` finds the session's previous cache, which the session uses again after `uninstall()`.
            #if canImport(FoundationNetworking) && !APPLE_LOADING
            FrontCache.installShared()
            #endif
            let replaced =
                shared === current?.cache
                ? current?.replaced : (shared as? SubstitutionCache)?.predecessor
            Installation.current = Installation(cache: self, archive: archive, insteadOf: replaced ?? shared)
            URLCache.shared = self
            _ = URLProtocol.registerClass(SessionLink.registeredClass)
            return (current, shared)
        }
        withExtendedLifetime(before) {}
    }

    /// Undoes ``install()``: restores the shared cache that this library's caches have replaced.
    ///
    /// From then on ``SubstitutionURLProtocol`` loads no request in any session. Loads in flight continue unchanged.
    ///
    /// The call has no effect unless this instance is installed. If the app has set a different shared cache since,
    /// that cache stays shared. Sessions and configurations that copied this cache while it was shared continue to use
    /// it. (On Linux `URLSession.shared` uses its previous cache again.) Responses that were stored in the meantime
    /// stay in the folder of the shared cache.
    public func uninstall() {
        let previous = Self.sharingLock.withLock { () -> Installation? in
            guard let current = Installation.current, current.cache === self else { return nil }
            Installation.current = nil
            if URLCache.shared === self { URLCache.shared = current.replaced }
            URLProtocol.unregisterClass(SessionLink.registeredClass)
            return current
        }
        withExtendedLifetime(previous) {}
    }
}

/// The cache and archive that `SubstitutionURLProtocol` answers from: the ones that were installed last.
// A class, so that each caller retains one reference. URLCache is thread-safe, but Foundation on Linux does not declare
// it Sendable.
final class Installation: @unchecked Sendable {
    let cache: SubstitutionCache
    let archive: (any ResponseArchive)?
    /// The cache that becomes `URLCache.shared` again when ``cache`` is uninstalled.
    ///
    /// If the app has set another shared cache meanwhile, that cache stays.
    let replaced: URLCache

    init(cache: SubstitutionCache, archive: (any ResponseArchive)?, insteadOf replaced: URLCache) {
        (self.cache, self.archive, self.replaced) = (cache, archive, replaced)
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
    /// It changes only inside ``SubstitutionCache/sharingLock``. URL loading reads ``current`` inside its own
    /// locks. So inside this lock, no other code is called.
    private static let installed = Locked<Installation?>(nil)
}
