// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSession {
    /// Registers this session with the library: what is loaded behind a condition, or for an archive, is then loaded
    /// with its configuration, and delivered to its delegate part by part.
    ///
    /// ```swift
    /// let configuration = URLSessionConfiguration.default
    /// configuration.useSubstitutions()
    /// let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    /// session.registerForSubstitutions()
    /// ```
    ///
    /// Without it, nothing but the app's own task can load as the session would, and so the network's answer stands
    /// wherever a delegate may have got some of it. <doc:WhenTheCacheIsAsked> has the table.
    ///
    /// On Linux the library's class takes the place that it has among the protocol classes, or comes behind those of
    /// the app: a stub that the app put first stays first.
    ///
    /// Call it before the session's first task. The session is not kept. A session that is made from this one's
    /// configuration has to be registered itself, before its first task: else it may load with the configuration of
    /// this one. Each registered session costs about 1.3 KB that is not freed when it ends, and what was made for it is
    /// freed when the next one is registered.
    ///
    /// - Returns: Whether the session asks ``SubstitutionProtocol``. Always on Linux, also without the line about the
    ///   configuration. On Apple's platforms only if its configuration had `useSubstitutions()` called on it, and no
    ///   other living session with that configuration is registered: what a second one loads behind a condition is
    ///   loaded as the first would, and the first one's delegate is asked about redirects, so give each a configuration
    ///   of its own. On watchOS nothing comes of it.
    @discardableResult
    public func registerForSubstitutions() -> Bool { SessionLink.register(self) }
}
