public import Foundation

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLSession {
    /// Creates a session that gets the app's files, also those of network-first entries, and an archive's copies.
    ///
    /// ```swift
    /// let session = URLSession(substituting: .default, delegate: delegate, delegateQueue: nil)
    /// ```
    ///
    /// This initialiser copies the configuration, calls `useSubstitutions()` on the copy, and registers the session. So
    /// the configuration itself does not change, and may be used for other sessions. Call it before or after
    /// ``SubstitutionCache/install()``. On watchOS it creates an ordinary session.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the session.
    ///   - delegate: The delegate, which the session retains until it is invalidated.
    ///   - delegateQueue: The queue on which the delegate is called; nil for a serial queue of the session.
    public convenience init(
        substituting configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil
    ) {
        let configuration = configuration.withoutSubstitutions()
        configuration.useSubstitutions()
        self.init(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
        try? SessionLink.register(self)
    }

    /// Registers this session for network-first entries and for an archive, which Apple's platforms need.
    ///
    /// A request is then loaded with this session's configuration if a network-first entry (one with `when`) names its
    /// URL, or if no entry does and the archive accepts the request. Its response is delivered to the session's
    /// delegate part by part. Without this call, network-first entries and an archive do not apply to the session,
    /// unless it is `URLSession.shared`.
    ///
    /// This method is for sessions that another library creates. For the app's own, use
    /// `URLSession(substituting:delegate:delegateQueue:)`.
    ///
    /// On Linux, network-first entries also apply to a session that is not registered, if it is the shared one or its
    /// configuration uses substitutions. If a task delivers to a delegate, the network's response stands there, and a
    /// file answers only if the network fails or is silent. The table in <doc:WhenTheCacheIsAsked> has the details. If
    /// the configuration lists no class of this library, this method adds one after the app's classes. So a stub that
    /// the app put first stays first.
    ///
    /// Call this method before the session's first task. The session is not retained. On Apple's platforms, a session
    /// that is created from this one's configuration may load with this session's configuration. The library's other
    /// objects for a session that has ended are freed when `useSubstitutions()` is called again.
    ///
    /// On watchOS a registration has no effect.
    ///
    /// - Throws: On Apple's platforms, an error whose description says why the session is not registered:
    ///   `useSubstitutions()` was not called on its configuration, or another registered session with that
    ///   configuration still exists, or, for `URLSession.shared`, no cache is installed. If another session exists,
    ///   this session's network-first loads use that session's configuration, and ask its delegate about redirects. So
    ///   give each session its own configuration. On Linux, this method throws nothing.
    public func registerForSubstitutions() throws { try SessionLink.register(self) }
}

extension URLSessionConfiguration {
    /// Puts ``SubstitutionURLProtocol`` first, so that it answers for sessions created from this configuration.
    ///
    /// Call this method before or after ``SubstitutionCache/install()``; further calls do no harm. Call it
    /// again after other changes to `protocolClasses`. The class that this method adds is a subclass of
    /// ``SubstitutionURLProtocol`` of its own, which identifies the session that is registered, and on Linux also the
    /// classes that are listed after it. Each call costs memory that is never freed, on Linux about 1.3 KB.
    ///
    /// On Linux, a `urlCache` that is a plain `URLCache`, and not the shared one, is wrapped in a cache of this
    /// library. The wrapping cache forwards everything except the requests that a file answers.
    ///
    /// This method alone is enough for entries without `when`. For network-first entries (those with `when`) and for an
    /// archive, the session must also be registered; Linux needs that only for an archive. On watchOS this method has
    /// no effect, because URL loading does not consult an app's protocol classes there.
    public func useSubstitutions() {
        let others = (protocolClasses ?? []).withoutSubstitutions
        protocolClasses = [SessionLink.protocolClass(before: others)] + others
        // Only Foundation on Linux consults the cache for a request that a protocol loads.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        FrontCache.install(in: self)
        #endif
    }
}

/// A protocol by which other code recognises ``SubstitutionURLProtocol`` and its subclasses.
protocol SubstitutingClass: URLProtocol {}

extension [AnyClass] {
    /// The classes that are not this library's.
    var withoutSubstitutions: [AnyClass] { filter { !($0 is any SubstitutingClass.Type) } }
}

extension URLSessionConfiguration {
    /// Returns a copy without this library's protocols: the configuration as it would be without this library.
    func withoutSubstitutions() -> URLSessionConfiguration {
        guard let copy = copy() as? URLSessionConfiguration else { return .ephemeral }
        copy.protocolClasses = copy.protocolClasses?.withoutSubstitutions
        return copy
    }
}
