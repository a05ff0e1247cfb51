// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Sessions in which the library loads the requests of web pages, not those of the app's tasks.
package enum PageSession {
    /// Creates a session.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the session; this call changes it.
    ///   - delegate: The delegate, whose methods are called one at a time.
    ///   - asksProtocol: True if the session consults `SubstitutionProtocol`, which network-first entries need.
    /// - Returns: The session, which retains its delegate until it is invalidated.
    package static func make(
        _ configuration: URLSessionConfiguration,
        delegate: any URLSessionDataDelegate,
        asksProtocol: Bool
    ) -> URLSession {
        if asksProtocol { configuration.useSubstitutions() } else { BackingSession.insertGuard(into: configuration) }
        let session = URLSession(
            configuration: configuration,
            delegate: delegate,
            delegateQueue: BackingSession.delegateQueue()
        )
        if asksProtocol { session.registerForSubstitutions() }
        return session
    }

    /// Returns the request in a form that no protocol of this library loads.
    ///
    /// This holds even if URL loading consults registered protocol classes for the session.
    package static func unsubstituted(_ request: URLRequest) -> URLRequest { BackingSession.marked(request) }

    /// Returns the request in a form that this library's protocols may load; undoes ``unsubstituted(_:)``.
    ///
    /// When URL loading redirects an unsubstituted request, the next request is unsubstituted, too.
    package static func substituted(_ request: URLRequest) -> URLRequest { BackingSession.unmarked(request) }
}
