import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension LocalSubstitutionCache {
    /// Makes this the shared cache, until ``uninstall()`` or the end of the process.
    ///
    /// Takes over the capacities of the cache it replaces, and registers ``SubstitutionProtocol``. Call it at launch,
    /// before other code makes sessions: a session keeps the cache that was shared when its configuration was made. (On
    /// Linux the first call also reaches `URLSession.shared`, so there the order is free; but that session must not be
    /// loading at that moment, because Foundation reads its configuration without a lock.) A second call has no
    /// effect except for the archive; a call on another instance replaces the first. Later calls are safe for this
    /// library; NSURLCache.h asks to set the shared cache while nobody else holds the old one.
    ///
    /// - Parameter archive: Keeps copies of what the network answers, and replays them when there is no connection;
    ///   none without it.
    public func install(archive: OfflineArchive? = nil) {
        // What is replaced is let go outside the lock.
        let before = Installation.changing.withLock { () -> (Installation?, URLCache) in
            let (current, shared) = (Installation.current, URLCache.shared)
            if shared !== self {
                memoryCapacity = shared.memoryCapacity
                diskCapacity = shared.diskCapacity
            }
            // Foundation on Linux gives the shared session a cache once, and asks no registered class before its own.
            // This comes first, so that after `uninstall()` the session asks the cache that it had before.
            #if canImport(FoundationNetworking) && !APPLE_LOADING
            FrontCache.installShared()
            #endif
            let replaced =
                shared === current?.cache
                ? current?.replaced : (shared as? LocalSubstitutionCache)?.predecessor
            Installation.current = Installation(cache: self, archive: archive, insteadOf: replaced ?? shared)
            URLCache.shared = self
            _ = URLProtocol.registerClass(SessionLink.registeredClass)
            return (current, shared)
        }
        withExtendedLifetime(before) {}
    }

    /// Ends what ``install(archive:)`` began: the shared cache is again the one that was there before any of this
    /// library's.
    ///
    /// From then on ``SubstitutionProtocol`` takes no request, in whichever session; loads that have begun end as they
    /// began. Has no effect unless this instance is the one that is installed, and leaves a shared cache alone that the
    /// app has set since. It cannot reach sessions and configurations that copied this cache while it was shared: they
    /// go on asking it. (On Linux `URLSession.shared` asks the cache that it had before.) What the app stored meanwhile
    /// stays in the folder of the shared cache.
    public func uninstall() {
        let previous = Installation.changing.withLock { () -> Installation? in
            guard let current = Installation.current, current.cache === self else { return nil }
            Installation.current = nil
            if URLCache.shared === self { URLCache.shared = current.replaced }
            URLProtocol.unregisterClass(SessionLink.registeredClass)
            return current
        }
        withExtendedLifetime(previous) {}
    }
}
