import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What `SubstitutionProtocol` serves from: whatever was installed last.
// A class, so that whoever asks retains one reference. URLCache is safe to share, which Linux's Foundation does not
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
        /// The network is asked first, and then the row's conditions.
        case networkThenFile(SubstitutionTable.Match)
        /// The network is asked first, and its answer may be kept.
        case networkThenCopy(OfflineArchive)
    }

    /// What there is to be done for `request`; nil when it is left alone.
    func service(for request: URLRequest) -> Service? {
        switch cache.verdict(on: request) {
        case .answered(let match), .answeredByProtocol(let match, _): return .file(match)
        case .afterNetwork(let match): return .networkThenFile(match)
        case .leftAlone: return nil
        case .unnamed:
            guard let archive, request.cachePolicy != .optOut, archive.accepts(request) else { return nil }
            return .networkThenCopy(archive)
        }
    }

    /// Kept until another takes its place, or it is uninstalled.
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

    /// Held while one is installed or uninstalled; taken by nothing that URL loading calls.
    fileprivate static let changing = NSLock()
}

extension LocalSubstitutionCache {
    /// Makes this the shared cache, until ``uninstall()`` or the end of the process.
    ///
    /// Takes over the capacities of the cache it replaces, and registers ``SubstitutionProtocol``. Call it at launch,
    /// before other code makes sessions: a session keeps the cache that was shared when its configuration was made. (On
    /// Linux the first call tells `URLSession.shared` as well, so for it the order does not matter; but it must not be
    /// loading at that moment, because Foundation reads its configuration without a lock.) Called again it has no
    /// effect except for the archive; called on another instance it replaces the first. These may come at any time.
    ///
    /// - Parameter archive: Keeps copies of what the network answers, and replays them when there is no connection;
    ///   none without it.
    public func install(archive: OfflineArchive? = nil) {
        Installation.changing.lock()
        defer { Installation.changing.unlock() }
        let shared = URLCache.shared
        if shared !== self {
            memoryCapacity = shared.memoryCapacity
            diskCapacity = shared.diskCapacity
        }
        // Foundation on Linux gives the shared session a cache once, and asks no registered class before its own.
        // First, so that the session has the cache that was there before when nothing is installed any more.
        #if canImport(FoundationNetworking)
        SharedSessionCache.install()
        #endif
        let current = Installation.current
        let replaced = current.flatMap { shared === $0.cache ? $0.replaced : nil } ?? shared
        Installation.current = Installation(cache: self, archive: archive, insteadOf: replaced)
        URLCache.shared = self
        _ = URLProtocol.registerClass(SubstitutionProtocol.self)
    }

    /// Ends what ``install(archive:)`` began: the shared cache is again the one that was there before any of this
    /// library's.
    ///
    /// From then on ``SubstitutionProtocol`` answers nothing, in whichever session. Has no effect unless this instance
    /// is the one that is installed, and leaves a shared cache alone that the app has set since. It cannot reach
    /// sessions and configurations that copied this cache while it was shared: they go on asking it. (On Linux
    /// `URLSession.shared` asks the cache that it had before.) What the app stored meanwhile stays in the folder of the
    /// shared cache.
    public func uninstall() {
        Installation.changing.lock()
        defer { Installation.changing.unlock() }
        guard let current = Installation.current, current.cache === self else { return }
        Installation.current = nil
        if URLCache.shared === self { URLCache.shared = current.replaced }
        URLProtocol.unregisterClass(SubstitutionProtocol.self)
    }
}
