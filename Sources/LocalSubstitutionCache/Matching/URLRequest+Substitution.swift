import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// Whether the method is one that a file can answer.
    ///
    /// `httpMethod` is case-sensitive (RFC 9110 §9.1).
    var isSubstitutable: Bool { httpMethod == "GET" || httpMethod == "HEAD" }

    /// Whether a header field keeps a GET from being answered with the whole file by a cache: `Authorization` or `Range`.
    ///
    /// One look at all names, which costs less than asking for each.
    var hasDecisiveHeader: Bool {
        guard let fields = allHTTPHeaderFields, !fields.isEmpty else { return false }
        return fields.keys.contains { $0.isASCIICaseInsensitiveEqual(to: "range") }
            || fields.keys.contains { $0.isASCIICaseInsensitiveEqual(to: "authorization") }
    }

    /// Whether the request carries credentials of its own; no cache answers it then.
    var isAuthorized: Bool { value(forHTTPHeaderField: "Authorization") != nil }
}

extension URLRequest.CachePolicy {
    /// Switches substitution off for a single request, in the cache and in the protocol.
    static let optOut = Self.reloadIgnoringLocalAndRemoteCacheData

    /// Whether a request with this policy may be answered by a cache without asking the origin.
    ///
    /// `reloadRevalidatingCacheData` may not: nothing here can be revalidated.
    var allowsCache: Bool {
        self == .useProtocolCachePolicy || self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad
    }
}
