// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#else
package import Foundation
#endif

/// The configuration of requests to servers, and the output of their progress.
package struct Network: Sendable {
    /// Creates the configuration of a session.
    package let configuration: @Sendable () -> URLSessionConfiguration
    /// Writes to standard error; nil if standard error is not a terminal.
    package let showProgress: (@Sendable (String) -> Void)?
}
