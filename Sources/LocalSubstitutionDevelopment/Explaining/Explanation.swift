import Foundation
public import LocalSubstitutionCache
import SubstitutionChecking
package import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The answer that a request would get, the reason for it, and a change that would help if no file answers.
///
/// An explanation considers the request and the manifest, but not the session. So it does not show whether the session
/// consults the cache. The ``description`` is a sentence or two.
public struct Explanation: Sendable, CustomStringConvertible {
    /// The source of the answer to a request.
    public enum Answer: Hashable, Sendable {
        /// The file, both from the cache and through `SubstitutionURLProtocol`.
        case cacheAndProtocol
        /// The file, but only through `SubstitutionURLProtocol`: no cache may answer this request.
        case protocolOnly(because: Bypass)
        /// The network; if one of these conditions holds, `SubstitutionURLProtocol` delivers the file instead.
        case networkUnless([Substitution.Condition])
        /// The network, as if the library were not there.
        case network(because: Reason)
    }

    /// The reason why a cache must not answer.
    public enum Bypass: Hashable, Sendable {
        /// The request's cache policy demands a load from the origin server.
        case cachePolicy
        /// The request has an `Authorization` field.
        case authorization
    }

    /// The reason why the network answers instead of a file.
    public enum Reason: Hashable, Sendable {
        /// The request has no URL, or a URL that RFC 3986 does not allow.
        case noURL
        /// The entry that matches the URL is ignored, because its `until` has passed.
        case expired
        /// The URL's scheme is neither http nor https; the value is the scheme.
        case scheme(String)
        /// The request's method is neither GET nor HEAD; the value is the method.
        case method(String)
        /// The URL holds a user name.
        case userInfo
        /// The cache policy is `.reloadIgnoringLocalAndRemoteCacheData`, with which the app switches substitution off.
        case optOut
        /// No entry matches the URL.
        case noEntry
    }

    /// The request's URL; nil if the request has none.
    public let url: RequestedURL?
    /// The source of the answer to the request.
    public let answer: Answer
    /// The entry that matches the request's URL; nil if no entry does.
    ///
    /// The entry is given even if it does not answer, for example because of the request's method.
    public let substitution: Substitution?
    /// The entry whose URL is most similar to the request's URL.
    ///
    /// Nil if no entry has a similar URL, or if an entry matches the request's URL itself.
    package var nearest: NearEntry?
    /// A folder entry whose URL is a prefix of the request's URL, and the path that its folder on disk lacks.
    ///
    /// The entry is represented by one of its files, and the path is empty for the folder's URL itself. Nil if there is
    /// no such entry.
    package let folder: (file: Substitution, missing: String)?
    /// The name of the manifest in messages.
    let manifestName: String
    /// The problem with the URL; nil if the URL has no problem.
    let problem: URLProblem?

    /// The answer in words, with the line of the entry.
    ///
    /// If no file answers, the text also says which change would help. The ``url`` is shown without its values.
    public var description: String { sentence(about: url?.description) }

    /// The ``description`` for the user who has typed the URL, or opened the page that asks for it.
    package var sentence: String { sentence(about: url?.url.absoluteString) }

    private func sentence(about url: String?) -> String {
        let subject = url.map { visible($0) } ?? "A request without a URL"
        switch answer {
        case .cacheAndProtocol:
            return "\(subject) is answered with \(file)."
        case .protocolOnly(because: .cachePolicy):
            return
                "\(subject) is answered with \(file), but only in sessions to which the app has added substitutions, "
                + "because the request bypasses every cache."
        case .protocolOnly(because: .authorization):
            return
                "\(subject) is answered with \(file), but only in sessions to which the app has added substitutions, "
                + "because the cache answers no request with Authorization from a file."
        case .networkUnless(let conditions):
            return "\(subject) is loaded from the network; \(file) answers instead when \(conditions.sentence)."
        case .network(because: let reason):
            return "\(subject) is not substituted, because " + sentence(for: reason, url ?? "")
        }
    }

    private var file: String {
        guard let substitution else { return "" }
        return "\(quoted(substitution.path)) (\(visible(manifestName)):\(substitution.line))"
    }

    private func sentence(for reason: Reason, _ url: String) -> String {
        switch reason {
        case .noURL:
            "it is not a URL that a manifest can name" + hint(problem, url)
        case .expired:
            "the entry that names it (\(visible(manifestName)):\(substitution?.line ?? 1)) has expired: "
                + "its last day was \(substitution?.lastDay ?? "")."
        case .scheme(let scheme): "its scheme is \(quoted(scheme)); only http and https are substituted."
        case .method(let method): Decision.Reason.method.clause(method)
        case .userInfo: "it holds a user name; remove everything up to the \"@\"."
        case .optOut: Decision.Reason.optOut.clause("")
        case .noEntry: (folder.map(hint) ?? "no entry names it.") + (nearest.map(hint) ?? "")
        }
    }

    private func hint(_ problem: URLProblem?, _ url: String) -> String {
        guard let message = problem?.message(for: url) else { return "." }
        return ": " + message + (message.hasSuffix("?") ? "" : ".")
    }

    private func hint(_ folder: (file: Substitution, missing: String)) -> String {
        "\(quoted(folder.file.namedURL)) (\(visible(manifestName)):\(folder.file.line)) maps the folder "
            + "\(quoted(folder.file.namedFile)), " + sentence(forMissing: folder.missing, in: folder.file.namedFile)
    }

    /// Returns the end of a sentence about a folder: the reason why no file in the folder answers.
    private func sentence(forMissing path: String, in folder: String) -> String {
        if path.isEmpty { return "which holds no \"index.html\"." }
        // `ManifestFolder.files(below:)` leaves out these names, although the files may exist.
        if path.split(separator: "/").contains(where: { $0.hasPrefix(".") }) {
            return "but no names that begin with \".\"."
        }
        if folder == "./", path.percentDecoded == manifestName.split(separator: "/").last.map(String.init) {
            return "but not the manifest itself."
        }
        return "which holds no \(quoted(path))."
    }

    private func hint(_ near: NearEntry) -> String {
        let entry = near.substitution
        return " The nearest is \(quoted(entry.url)) (\(visible(manifestName)):\(entry.line)), which differs in "
            + "\(near.words)." + (near.remedy.map { " To let it answer this URL too, \($0)." } ?? "")
    }
}

extension Explanation {
    /// Explains what happens to `request`.
    init(_ request: URLRequest, _ table: SubstitutionTable) {
        var unnamed = NoEntryReason()
        let (answer, match): (Answer, SubstitutionTable.Match?) =
            switch table.decision(on: request) {
            case .file(let match, cacheMayAnswer: true): (.cacheAndProtocol, match)
            case .file(let match, cacheMayAnswer: false):
                (.protocolOnly(because: request.cachePolicy.allowsCache ? .authorization : .cachePolicy), match)
            case .networkFirst(let match): (.networkUnless(match.row.substitution.conditions), match)
            case .leftAlone(let match, because: .method): (.network(because: .method(request.httpMethod ?? "")), match)
            case .leftAlone(let match, because: .optOut): (.network(because: .optOut), match)
            case .unnamed: (.network(because: unnamed.reason(for: request, table)), nil)
            }
        self.init(
            url: request.url.map(RequestedURL.init),
            answer: answer,
            substitution: match?.row.substitution ?? unnamed.expired,
            nearest: unnamed.nearest,
            folder: unnamed.folder,
            manifestName: table.manifestName,
            problem: unnamed.problem
        )
    }

    /// The indexes of a table, which are made for its first explanation.
    private final class Index: Sendable {
        let nearest: NearestIndex
        let expired: MatchOrder

        init(_ table: SubstitutionTable) {
            nearest = NearestIndex(table.order, table.substitutions)
            expired = MatchOrder(table.expired)
        }
    }

    /// The details that explain why no entry matches a URL.
    ///
    /// If an entry with this URL has expired, it is the only detail. Otherwise, the details are the entry with the most
    /// similar URL, and a folder entry whose folder lacks the path. For an invalid URL, the only detail is the problem.
    private struct NoEntryReason {
        var expired: Substitution?
        var nearest: NearEntry?
        var folder: (file: Substitution, missing: String)?
        var problem: URLProblem?

        mutating func reason(for request: URLRequest, _ table: SubstitutionTable) -> Reason {
            let url = request.url?.absoluteString ?? ""
            do {
                let identity = try URLIdentity(url)
                let index = table.companion { Index(table) }
                expired = index.expired.first(matching: identity).map {
                    table.expired[index.expired.candidates[$0].substitution]
                }
                if expired != nil { return .expired }
                nearest = index.nearest.nearest(to: identity)
                // If the nearest entry's URL differs from this URL only in the query, the nearest entry has a file for
                // this path. So do not report a missing path.
                let isThere = if case .query? = nearest?.differences.first { true } else { false }
                if !isThere { folder = index.nearest.folder(above: identity) }
                return .noEntry
            } catch {
                switch error {
                case .scheme(let scheme): return .scheme(scheme)
                case .userInfo: return .userInfo
                default:
                    if !url.isEmpty { problem = error }
                    return .noURL
                }
            }
        }
    }
}
