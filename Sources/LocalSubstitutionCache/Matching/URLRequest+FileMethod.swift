// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#else
package import Foundation
#endif

/// An HTTP method (RFC 9110 §9.3) that a file can answer.
package enum FileMethod {
    case get
    case head
}

extension URLRequest {
    /// The request's method; nil if a file cannot answer this method.
    ///
    /// Methods are case-sensitive (RFC 9110 §9.1).
    package var fileMethod: FileMethod? {
        switch httpMethod {
        case "GET": .get
        case "HEAD": .head
        default: nil
        }
    }
}
