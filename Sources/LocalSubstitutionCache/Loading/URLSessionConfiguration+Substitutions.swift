// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSessionConfiguration {
    /// Puts ``SubstitutionProtocol`` first, so that it answers for sessions created from this configuration.
    ///
    /// May be called before ``LocalSubstitutionCache/install(archive:)``, and more than once. Call it again after other
    /// changes to `protocolClasses`. It may add a subclass instead, from which the library knows the classes that are
    /// listed after the subclass.
    ///
    /// On Linux, if `urlCache` is a plain `URLCache` and not the shared one, it is wrapped in a cache of this library.
    /// That cache forwards everything except the requests that a file answers.
    ///
    /// This is enough for entries without `when`. For network-first entries (those with `when`) and for an archive,
    /// also register a session that has a delegate: `URLSession.registerForSubstitutions()`. This method has no effect
    /// on watchOS, where URL loading consults no protocol of an app.
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
