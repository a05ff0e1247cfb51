// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSession {
    /// Registers this session for network-first entries and for an archive.
    ///
    /// A request is then loaded with this session's configuration if a network-first entry (one with `when`) names its
    /// URL, or if no entry does and the archive accepts the request. Its response is delivered to the session's
    /// delegate part by part.
    ///
    /// ```swift
    /// let configuration = URLSessionConfiguration.default
    /// configuration.useSubstitutions()
    /// let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    /// session.registerForSubstitutions()
    /// ```
    ///
    /// On Linux, network-first entries also apply to a session that is not registered. But the library cannot see that
    /// session's configuration, so only the app's own task can load with it. If a delegate may already have received
    /// part of the network's response, that response is delivered, and no file replaces it. On Apple's platforms,
    /// network-first entries and an archive do not apply to a session that is not registered, except
    /// `URLSession.shared`. The table in <doc:WhenTheCacheIsAsked> has the details.
    ///
    /// On Linux, the library's class keeps its position among the protocol classes, or is added after the app's. So a
    /// stub that the app put first stays first.
    ///
    /// Call this method before the session's first task. The session is not retained. A session that is created from
    /// this one's configuration must itself be registered before its first task; otherwise it may load with this
    /// session's configuration. Each registered session costs about 1.3 KB that is never freed. The library's other
    /// objects for a session that has ended are freed when the next session is registered.
    ///
    /// - Returns: True if the session consults ``SubstitutionProtocol``. On Linux it is always true, even without
    ///   `useSubstitutions()`. On Apple's platforms it is true if `useSubstitutions()` was called on the session's
    ///   configuration, and no other registered session with that configuration still exists. If such a session still
    ///   exists, this session's network-first loads use that session's configuration, and ask its delegate about
    ///   redirects. So give each session its own configuration. (For `URLSession.shared` on Apple's platforms, it is
    ///   true while a cache is installed.) On watchOS the call has no effect.
    @discardableResult
    public func registerForSubstitutions() -> Bool { SessionLink.register(self) }
}

extension URLSessionConfiguration {
    /// Puts ``SubstitutionProtocol`` first, so that it answers for sessions created from this configuration.
    ///
    /// Call this method before or after ``LocalSubstitutionCache/install()``; further calls do no harm. Call it
    /// again after other changes to `protocolClasses`. The class that this method adds may be a subclass of
    /// ``SubstitutionProtocol``. On Linux, this subclass identifies the classes that are listed after it. On Apple's
    /// platforms, the subclass identifies the session that is registered.
    ///
    /// On Linux, a `urlCache` that is a plain `URLCache`, and not the shared one, is wrapped in a cache of this
    /// library. The wrapping cache forwards everything except the requests that a file answers.
    ///
    /// This method alone is enough for entries without `when`. For network-first entries (those with `when`) and for an
    /// archive, also register the session: `URLSession.registerForSubstitutions()`. (On Linux only a session that has a
    /// delegate needs this.) On watchOS this method has no effect, because URL loading does not consult an app's
    /// protocol classes there.
    public func useSubstitutions() {
        if SessionLink.isRegistered(self) { return }
        let others = (protocolClasses ?? []).withoutSubstitutions
        protocolClasses = [SessionLink.protocolClass(before: others)] + others
        // Only Foundation on Linux consults the cache for a request that a protocol loads.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        FrontCache.install(in: self)
        #endif
    }
}
