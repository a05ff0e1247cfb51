// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSession {
    /// Registers this session for network-first entries and for an archive.
    ///
    /// A request for a network-first entry (one with `when`), or for an archive, is then loaded with this session's
    /// configuration, and its response is delivered to the session's delegate part by part.
    ///
    /// ```swift
    /// let configuration = URLSessionConfiguration.default
    /// configuration.useSubstitutions()
    /// let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    /// session.registerForSubstitutions()
    /// ```
    ///
    /// For a session that is not registered, only the app's own task can load as the session would. So if a delegate
    /// may already have received part of the network's response, that response is delivered, and no file replaces it.
    /// The table in <doc:WhenTheCacheIsAsked> has the details.
    ///
    /// On Linux, the library's class keeps its position among the protocol classes, or is added after the app's. So a
    /// stub that the app put first stays first.
    ///
    /// Call this method before the session's first task. The session is not retained. A session that is created from
    /// this one's configuration must itself be registered before its first task; otherwise it may load with this
    /// session's configuration. Each registered session costs about 1.3 KB that is never freed. The library's other
    /// objects for a session are freed when, after its end, the next session is registered.
    ///
    /// - Returns: True if the session consults ``SubstitutionProtocol``. Always true on Linux, even without
    ///   `useSubstitutions()`. On Apple's platforms, true only if `useSubstitutions()` was called on the session's
    ///   configuration, and no other living session with that configuration is registered. A second session's
    ///   network-first loads use the first one's configuration, and ask the first one's delegate about redirects, so
    ///   give each session its own configuration. On watchOS the call has no effect.
    @discardableResult
    public func registerForSubstitutions() -> Bool { SessionLink.register(self) }
}
