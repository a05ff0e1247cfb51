// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// The decision about a request; the cache, `SubstitutionURLProtocol`, explanations and web views all use it.
///
/// The decision depends only on the request and the table, and not on the session.
package enum Decision {
    /// The file answers through `SubstitutionURLProtocol`; if `cacheMayAnswer` is true, also from the cache.
    ///
    /// No cache may answer if the request's cache policy demands a load from the origin server, or if the request has
    /// an `Authorization` field.
    case file(SubstitutionTable.Match, cacheMayAnswer: Bool)
    /// `SubstitutionURLProtocol` queries the network first; the file answers if a condition of its entry holds.
    case networkFirst(SubstitutionTable.Match)
    /// An entry matches the URL, but the request is left to the network.
    case leftAlone(SubstitutionTable.Match, because: Reason)
    /// No entry matches the URL.
    case unnamed

    /// The reason why a request is left to the network although an entry matches its URL.
    package enum Reason {
        /// The method is neither GET nor HEAD.
        case method
        /// The request's cache policy switches the library off.
        case optOut
    }

    /// The match whose file answers without the network; nil if there is none.
    package var file: SubstitutionTable.Match? { if case .file(let match, _) = self { match } else { nil } }

    /// The match whose file may answer after the network; nil if there is none.
    package var networkFirst: SubstitutionTable.Match? {
        if case .networkFirst(let match) = self { match } else { nil }
    }

    /// True for a GET or HEAD if an entry without `when` matches its URL, whatever the cache policy.
    package var isSubstituted: Bool {
        switch self {
        case .file: true
        case .leftAlone(let match, because: .optOut): !match.row.isNetworkFirst
        case .leftAlone, .networkFirst, .unnamed: false
        }
    }
}

extension SubstitutionTable {
    /// Returns the decision about a request.
    ///
    /// Cost: the cost of ``match(_:)``. If an entry matches the URL, the names of the header fields are compared, too.
    package func decision(on request: URLRequest) -> Decision {
        // This check comes first, because most requests end here.
        guard let url = request.url, var match = match(url) else { return .unnamed }
        guard let method = request.fileMethod else { return .leftAlone(match, because: .method) }
        match.isHead = method == .head
        let policy = request.cachePolicy
        if policy == .optOut { return .leftAlone(match, because: .optOut) }
        if match.row.isNetworkFirst { return .networkFirst(match) }
        let fields = request.decisiveFields
        match.hasRange = fields.hasRange
        return .file(match, cacheMayAnswer: policy.allowsCache && !fields.isAuthorized)
    }
}

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
        if httpMethod == "GET" { return .get }
        return httpMethod == "HEAD" ? .head : nil
    }

    /// The presence of the `Range` field and of the `Authorization` field.
    ///
    /// Comparing the names of all fields costs less than two calls of `value(forHTTPHeaderField:)`.
    fileprivate var decisiveFields: (hasRange: Bool, isAuthorized: Bool) {
        guard let fields = allHTTPHeaderFields, !fields.isEmpty else { return (false, false) }
        return (
            fields.keys.contains { $0.isASCIICaseInsensitiveEqual(to: "range") },
            fields.keys.contains { $0.isASCIICaseInsensitiveEqual(to: "authorization") }
        )
    }
}

extension URLRequest.CachePolicy {
    /// The cache policy with which an app switches the library off for a single request.
    static let optOut = Self.reloadIgnoringLocalAndRemoteCacheData

    /// True if a cache may answer a request with this policy without asking the origin server.
    ///
    /// False for `reloadRevalidatingCacheData`, because a file cannot be revalidated.
    package var allowsCache: Bool {
        self == .useProtocolCachePolicy || self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad
    }
}
