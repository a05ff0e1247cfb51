// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
package import FoundationNetworking
#else
package import Foundation
#endif
package import LocalSubstitutionCache

extension SubstitutionTable {
    /// Returns the response to a request that a file answers without the network; nil for all other requests.
    package func answer(to request: URLRequest) -> CachedURLResponse? {
        decision(on: request).file?.response(to: request)
    }
}
