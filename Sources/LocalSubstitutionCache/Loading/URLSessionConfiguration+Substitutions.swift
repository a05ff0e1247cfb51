// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

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
