import Foundation

// On Apple's systems URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The reason why a request would, or would not, be answered with a file, and the change that would help.
///
/// An explanation considers the request and the manifest, never a session: it cannot know whether a session consults
/// the cache. Its ``description`` is a sentence or two.
public struct Explanation: Sendable, CustomStringConvertible {
    /// The source of the answer to a request.
    public enum Answer: Hashable, Sendable {
        /// The file, through the cache as well as through `SubstitutionProtocol`.
        case cacheAndProtocol
        /// The file, but only through `SubstitutionProtocol`.
        case protocolOnly(because: Bypass)
        /// The network, unless one of these conditions holds; then the file, but only through `SubstitutionProtocol`.
        case networkUnless([Substitution.Condition])
        /// The network, as if the library were not there.
        case network(because: Reason)
    }

    /// The reason why a cache must not answer.
    public enum Bypass: Hashable, Sendable {
        /// The request's cache policy asks for a load from the origin.
        case cachePolicy
        /// The request carries `Authorization`.
        case authorization
    }

    /// The reason why nothing is substituted.
    public enum Reason: Hashable, Sendable {
        /// The request has no URL, or one that RFC 3986 does not allow.
        case noURL
        /// The entry that names the URL is ignored, because its `until` has passed.
        case expired
        /// The request's scheme, which is neither http nor https.
        case scheme(String)
        /// The request's method, which is neither GET nor HEAD.
        case method(String)
        /// The URL holds a user name.
        case userInfo
        /// The policy is `.reloadIgnoringLocalAndRemoteCacheData`, which switches substitution off for one request.
        case optOut
        /// No entry names the URL.
        case noEntry
    }

    /// An entry whose URL nearly matches that of a request.
    public struct Neighbour: Sendable {
        /// The entry's URL and file.
        public let substitution: Substitution
        /// The ways in which the request's URL differs from that of the entry.
        public let differences: [Difference]
    }

    /// The request's URL as text; empty if it has none.
    public let url: String
    /// The source of the answer.
    public let answer: Answer
    /// The entry that names the URL, even if something else keeps it from answering; nil if no entry does.
    public let substitution: Substitution?
    /// The entry with the nearest URL, if no entry names the URL itself; nil if none is near.
    public let nearest: Neighbour?
    /// A file of the mapped folder that would contain the URL, and the path that this folder lacks.
    ///
    /// Nil if there is no such folder.
    let folder: (file: Substitution, missing: String)?
    /// The name of the manifest in messages.
    let manifestName: String
    /// The problem with the URL, as a sentence without its full stop; nil if there is none.
    let problem: String?

    /// The answer in words, with the line of the entry; if nothing is substituted, also the change that would help.
    public var description: String {
        let subject = url.isEmpty ? "A request without a URL" : visible(url)
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
                + "because no cache answers a request with Authorization."
        case .networkUnless(let conditions):
            let list = conditions.map(\.sentence).joined(separator: ", or ")
            return "\(subject) is loaded from the network; \(file) answers instead when \(list)."
        case .network(because: let reason):
            return "\(subject) is not substituted, because " + sentence(for: reason)
        }
    }

    private var file: String {
        guard let substitution else { return "" }
        return "\(quoted(substitution.file)) (\(visible(manifestName)):\(substitution.line))"
    }

    private func sentence(for reason: Reason) -> String {
        switch reason {
        case .noURL:
            "it is not a URL that a manifest can name"
                + (problem.map { ": \($0)\($0.hasSuffix("?") ? "" : ".")" } ?? ".")
        case .expired:
            "the entry that names it (\(visible(manifestName)):\(substitution?.line ?? 1)) has expired: "
                + "its last day was \(substitution?.lastDay ?? "")."
        case .scheme(let scheme): "its scheme is \(quoted(scheme)); only http and https are substituted."
        case .method(let method): "its method is \(quoted(method)); only GET and HEAD are substituted."
        case .userInfo: "it holds a user name; remove everything up to the \"@\"."
        case .optOut:
            "the app switched substitution off for this request (reloadIgnoringLocalAndRemoteCacheData)."
        case .noEntry: (folder.map(hint) ?? "no entry names it.") + (nearest.map(hint) ?? "")
        }
    }

    private func hint(_ folder: (file: Substitution, missing: String)) -> String {
        "\(quoted(folder.file.namedURL)) (\(visible(manifestName)):\(folder.file.line)) maps the folder "
            + "\(quoted(folder.file.namedFile)), which holds no \(quoted(folder.missing))."
    }

    private func hint(_ neighbour: Neighbour) -> String {
        let entry = neighbour.substitution
        let differences = neighbour.differences.map { difference in
            switch difference {
            case .scheme: "the scheme (a key that begins with // answers both)"
            case .www: "\"www.\""
            case .port: "the port"
            case .host: "the host"
            case .fileName: "the name of the file"
            case .percentEncoding: "a character that is percent-encoded in one of the two"
            case .letterCase: "upper and lower case of the path"
            case .trailingSlash: "the \"/\" at the end"
            case .query: "the query"
            }
        }
        return " The nearest is \(quoted(entry.url)) (\(visible(manifestName)):\(entry.line)), which differs in "
            + differences.joined(separator: " and in ") + ". " + advice(neighbour)
    }

    /// Returns a sentence with the manifest entry that would answer the URL.
    private func advice(_ neighbour: Neighbour) -> String {
        let entry = neighbour.substitution
        let file = quoted(entry.file)
        if case .query(ignoring: let names)? = neighbour.differences.last {
            let rule = names.isEmpty ? "true" : "[\(names.map { quoted($0) }.joined(separator: ", "))]"
            let query =
                entry.folderLength == nil
                ? "{ \"file\": \(file), \"ignoreQuery\": \(rule) }" : "\"ignoreQuery\": \(rule)"
            if neighbour.differences.count == 1 { return "To let it answer this URL too, write \(query)." }
        }
        let key = String(url.prefix { $0 != "#" })
        // A message hides user names and passwords, so it cannot show this URL as a key.
        if UserInformation.isPresent(in: key) { return "If the app really loads this URL, add it with \(file)." }
        return "If the app really loads this URL, add \(quoted(key, limit: .max)): \(file)."
    }
}

extension Explanation {
    /// Explains what happens to `request`.
    init(_ request: URLRequest, _ table: SubstitutionTable, _ advice: (any ManifestAdvice)? = nil) {
        var unnamed = NoEntryReason()
        let (answer, match): (Answer, SubstitutionTable.Match?) =
            switch table.verdict(on: request) {
            case .answered(let match): (.cacheAndProtocol, match)
            case .answeredByProtocol(let match, let bypass): (.protocolOnly(because: bypass), match)
            case .afterNetwork(let match): (.networkUnless(match.row.substitution.conditions), match)
            case .leftAlone(let match, because: .method): (.network(because: .method(request.httpMethod ?? "")), match)
            case .leftAlone(let match, because: .optOut): (.network(because: .optOut), match)
            case .unnamed: (.network(because: unnamed.reason(for: request, table, advice)), nil)
            }
        self.init(
            url: request.url?.absoluteString ?? "",
            answer: answer,
            substitution: match?.row.substitution ?? unnamed.expired,
            nearest: unnamed.nearest,
            folder: unnamed.folder,
            manifestName: table.manifestName,
            problem: unnamed.problem
        )
    }

    /// The reason why no entry names a URL, and the entry whose URL is nearest.
    private struct NoEntryReason {
        var expired: Substitution?
        var nearest: Neighbour?
        var folder: (file: Substitution, missing: String)?
        var problem: String?

        mutating func reason(
            for request: URLRequest,
            _ table: SubstitutionTable,
            _ advice: (any ManifestAdvice)?
        ) -> Reason {
            let url = request.url?.absoluteString ?? ""
            do {
                let identity = try URLIdentity(url)
                expired = table.expiredSubstitution(for: identity)
                if expired != nil { return .expired }
                nearest = table.nearest(to: identity)
                // If only the query differs, the folder does hold the file.
                let isThere = if case .query? = nearest?.differences.first { true } else { false }
                if !isThere { folder = table.folder(above: identity) }
                return .noEntry
            } catch {
                switch error {
                case .scheme(let scheme): return .scheme(scheme)
                case .userInfo: return .userInfo
                default:
                    if !url.isEmpty { problem = error.message(for: url, meant: advice?.url(meantBy: url)) }
                    return .noURL
                }
            }
        }
    }
}
