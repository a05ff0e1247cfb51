import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How commands ask servers, and who sees how far they are.
struct Network: Sendable {
    /// Makes the configuration of a session.
    let configuration: @Sendable () -> URLSessionConfiguration
    /// Writes to the terminal of standard error; nil where that is none.
    let showProgress: (@Sendable (String) -> Void)?
}
