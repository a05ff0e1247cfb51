// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// What becomes of a request: decided here for the cache, the protocol and every explanation.
///
/// Judges the request and the table, never a session.
enum Verdict {
    /// The file answers, whether the cache is asked or `SubstitutionProtocol`.
    case answered(SubstitutionTable.Match)
    /// The file answers, but no cache may give it.
    case answeredByProtocol(SubstitutionTable.Match, because: Explanation.Bypass)
    /// `SubstitutionProtocol` asks the network, and the file answers when a condition of its entry holds.
    case afterNetwork(SubstitutionTable.Match)
    /// An entry names the URL, and the request is left to the network.
    case leftAlone(SubstitutionTable.Match, because: Refusal)
    /// No entry names the URL.
    case unnamed

    /// Why a request is left alone whose URL an entry names.
    enum Refusal {
        /// Only GET and HEAD are answered.
        case method
        /// Its policy switches the library off.
        case optOut
    }

    /// Whether a cache answers with the file.
    var isFile: Bool { if case .answered = self { true } else { false } }

    /// Whether a file, without a condition, stands in for the URL of this GET or HEAD, whatever its policy is.
    var isSubstituted: Bool {
        switch self {
        case .answered, .answeredByProtocol: true
        case .leftAlone(let match, because: .optOut): !match.row.isConditional
        case .leftAlone, .afterNetwork, .unnamed: false
        }
    }
}

extension SubstitutionTable {
    /// Decides on a request.
    ///
    /// Cost: that of ``match(_:isPrepared:)``; for a request whose URL an entry names, one look at its header fields.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - isPrepared: True when the caller knows that every response of the table is built.
    /// - Returns: The decision, with the row that it is about.
    func verdict(on request: URLRequest, isPrepared: Bool = false) -> Verdict {
        // The question that most requests end at comes first.
        guard let url = request.url, var match = match(url, isPrepared: isPrepared) else { return .unnamed }
        guard let method = request.fileMethod else { return .leftAlone(match, because: .method) }
        match.isHead = method == .head
        let policy = request.cachePolicy
        if policy == .optOut { return .leftAlone(match, because: .optOut) }
        if match.row.isConditional { return .afterNetwork(match) }
        let fields = request.decisiveFields
        match.hasRange = fields.hasRange
        if !policy.allowsCache { return .answeredByProtocol(match, because: .cachePolicy) }
        if fields.isAuthorized { return .answeredByProtocol(match, because: .authorization) }
        return .answered(match)
    }
}

extension URLRequest {
    /// Whether a part may be asked for, and whether the request carries credentials of its own.
    ///
    /// One look at all names, which costs less than asking for each.
    fileprivate var decisiveFields: (hasRange: Bool, isAuthorized: Bool) {
        guard let fields = allHTTPHeaderFields, !fields.isEmpty else { return (false, false) }
        return (
            fields.keys.contains { $0.isASCIICaseInsensitiveEqual(to: "range") },
            fields.keys.contains { $0.isASCIICaseInsensitiveEqual(to: "authorization") }
        )
    }

    /// Whether the request says who sends it: no answer to it is kept, unless the app allows that for its host.
    package var isPersonal: Bool {
        ["Authorization", "Proxy-Authorization", "Cookie"].contains { value(forHTTPHeaderField: $0) != nil }
    }
}

extension URLRequest.CachePolicy {
    /// Switches the library off for a single request.
    static let optOut = Self.reloadIgnoringLocalAndRemoteCacheData

    /// Whether a request with this policy may be answered by a cache without asking the origin.
    ///
    /// `reloadRevalidatingCacheData` may not: nothing here can be revalidated.
    var allowsCache: Bool {
        self == .useProtocolCachePolicy || self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad
    }
}
