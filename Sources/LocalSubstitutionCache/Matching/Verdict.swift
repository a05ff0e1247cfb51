// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// The decision about a request; the cache, `SubstitutionProtocol` and explanations all use it.
///
/// The decision depends only on the request and the table, and not on the session.
package enum Verdict {
    /// The file answers, both from the cache and through `SubstitutionProtocol`.
    case answered(SubstitutionTable.Match)
    /// The file answers, but only through `SubstitutionProtocol`: no cache may return it.
    case answeredByProtocol(SubstitutionTable.Match, because: Bypass)
    /// `SubstitutionProtocol` queries the network first; the file answers if a condition of its entry holds.
    case afterNetwork(SubstitutionTable.Match)
    /// An entry matches the URL, but the request is left to the network.
    case leftAlone(SubstitutionTable.Match, because: Refusal)
    /// No entry matches the URL.
    case unnamed

    /// The reason why a cache must not answer.
    package enum Bypass {
        /// The request's cache policy demands a load from the origin server.
        case cachePolicy
        /// The request has an `Authorization` field.
        case authorization
    }

    /// The reason why a request is left to the network although an entry matches its URL.
    package enum Refusal {
        /// The method is neither GET nor HEAD.
        case method
        /// The request's cache policy switches the library off.
        case optOut
    }

    /// True if a cache may answer with the file.
    var isFile: Bool { if case .answered = self { true } else { false } }

    /// True for a GET or HEAD if an entry without `when` matches its URL, whatever the cache policy.
    var isSubstituted: Bool {
        switch self {
        case .answered, .answeredByProtocol: true
        case .leftAlone(let match, because: .optOut): !match.row.isNetworkFirst
        case .leftAlone, .afterNetwork, .unnamed: false
        }
    }
}

extension SubstitutionTable {
    /// Returns the decision about a request.
    ///
    /// Cost: the cost of ``match(_:isPrepared:)``. If an entry matches the URL, the names of the header fields are
    /// compared, too.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - isPrepared: True if the caller knows that every response of the table is built.
    /// - Returns: The decision, with the row that matches.
    package func verdict(on request: URLRequest, isPrepared: Bool = false) -> Verdict {
        // This check comes first, because most requests end here.
        guard let url = request.url, var match = match(url, isPrepared: isPrepared) else { return .unnamed }
        guard let method = request.fileMethod else { return .leftAlone(match, because: .method) }
        match.isHead = method == .head
        let policy = request.cachePolicy
        if policy == .optOut { return .leftAlone(match, because: .optOut) }
        if match.row.isNetworkFirst { return .afterNetwork(match) }
        let fields = request.decisiveFields
        match.hasRange = fields.hasRange
        if !policy.allowsCache { return .answeredByProtocol(match, because: .cachePolicy) }
        if fields.isAuthorized { return .answeredByProtocol(match, because: .authorization) }
        return .answered(match)
    }
}

extension URLRequest {
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
    var allowsCache: Bool {
        self == .useProtocolCachePolicy || self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad
    }
}
