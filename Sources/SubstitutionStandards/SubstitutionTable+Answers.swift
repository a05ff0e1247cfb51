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

    /// Returns whether the request starts a network-first load.
    ///
    /// In such a load, a file answers if a condition of its entry holds.
    package func mayAnswerAfterNetwork(_ request: URLRequest) -> Bool { decision(on: request).networkFirst != nil }

    /// Returns the file's response after the network was queried; nil if the network's response is to be delivered.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - status: The status that the server sent; nil if there was no connection.
    /// - Returns: The response, or nil. `Range` is ignored.
    package func answer(to request: URLRequest, afterStatus status: Int?) -> CachedURLResponse? {
        decision(on: request).networkFirst?.response(to: request, afterStatus: status)
    }
}
