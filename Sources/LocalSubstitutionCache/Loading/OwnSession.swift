// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// A session in which the library loads for a page and not for a task of the app.
package enum OwnSession {
    /// Makes the session.
    ///
    /// - Parameters:
    ///   - configuration: What it keeps and sends; changed here.
    ///   - delegate: Called in order.
    ///   - asksProtocol: Whether `SubstitutionProtocol` is asked, for entries with `when`.
    /// - Returns: The session, which keeps its delegate until it is invalidated.
    package static func make(
        _ configuration: URLSessionConfiguration,
        delegate: any URLSessionDataDelegate,
        asksProtocol: Bool
    ) -> URLSession {
        if asksProtocol { configuration.useSubstitutions() } else { InnerSession.guardLoads(of: configuration) }
        let session = URLSession(
            configuration: configuration,
            delegate: delegate,
            delegateQueue: InnerSession.delegateQueue()
        )
        if asksProtocol { session.registerForSubstitutions() }
        return session
    }

    /// The same request, which no protocol of this library takes, whichever session asks registered classes.
    package static func unsubstituted(_ request: URLRequest) -> URLRequest { InnerSession.marked(request) }

    /// The same request, which they take again: one that a redirect made of an unsubstituted one.
    package static func substituted(_ request: URLRequest) -> URLRequest { InnerSession.unmarked(request) }
}
