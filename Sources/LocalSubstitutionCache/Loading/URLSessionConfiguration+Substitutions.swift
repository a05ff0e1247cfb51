// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSessionConfiguration {
    /// Puts ``SubstitutionProtocol`` first, so that sessions made with this configuration are answered by it.
    ///
    /// May be called before ``LocalSubstitutionCache/install(archive:)``, and more than once; call it again after other
    /// changes of `protocolClasses`. The class it puts there is a subclass, by which the library knows which other
    /// classes stand behind it.
    ///
    /// On Linux a `urlCache` of Foundation's own class, unless it is the shared one, is put behind one of this
    /// library's, which passes everything on but what a file answers.
    ///
    /// This is enough for entries without `when`. For entries with it, and for an archive, register the session, too,
    /// if it has a delegate: `URLSession.registerForSubstitutions()`. Does nothing on watchOS, which asks no protocol
    /// of an app.
    public func useSubstitutions() {
        if SessionLink.isRegistered(self) { return }
        let others = (protocolClasses ?? []).withoutSubstitutions
        protocolClasses = [SessionLink.protocolClass(before: others)] + others
        // Only Foundation on Linux asks the cache for what a protocol loads.
        #if canImport(FoundationNetworking) && !APPLE_LOADING
        FrontCache.install(in: self)
        #endif
    }
}
