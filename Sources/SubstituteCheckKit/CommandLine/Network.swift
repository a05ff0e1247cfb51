// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#else
package import Foundation
#endif

/// How commands ask servers, and who sees how far they are.
package struct Network: Sendable {
    /// Makes the configuration of a session.
    package let configuration: @Sendable () -> URLSessionConfiguration
    /// Writes to the terminal of standard error; nil where that is none.
    package let showProgress: (@Sendable (String) -> Void)?
}
