import Foundation
import LocalSubstitutionCache
import LocalSubstitutionDevelopment
import SubstituteCheckKit
import SubstitutionChecking
import SubstitutionRules

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that no file answered.
struct Miss: Encodable, Sendable {
    let url: String
    /// The reason, in sentences.
    var reason: String
    /// The command line that adds the URL; nil if no command can.
    var command: String?

    /// The command after the word that advises it, as only its run shows what the server sends; nil if there is none.
    var advice: String? { command.map { "Try: \($0)" } }
}

/// Explains requests that no file answered, and names the commands that add their URLs.
struct MissExplainer: Sendable {
    let manifest: ManifestFile

    /// Explains a request that a browser or an app has sent.
    ///
    /// - Parameters:
    ///   - url: The URL, as the browser spells it.
    ///   - method: The method of the request.
    ///   - status: The status of the server's response; nil if no server answered.
    ///   - sharing: The answer to whether everybody may get the response.
    ///   - used: The URLs of the substitutions that answered other requests. They are no neighbours of this URL,
    ///     because the page requests both.
    ///   - table: The table that does not answer.
    /// - Returns: The miss, with a command only if the server's response is a whole file.
    func miss(
        _ url: String,
        method: String = "GET",
        answered status: Int?,
        _ sharing: Sharing = Sharing(),
        besides used: Set<String>,
        in table: SubstitutionTable
    ) -> Miss {
        guard let target = URL(ofBrowser: url) else {
            return Miss(url: url, reason: "\(quoted(url)) is not a URL that an app can load.")
        }
        var explanation = table.explain(URLRequest(target, method: method))
        explanation.removeNeighbour(amongst: used)
        return miss(url, explanation, unless: Self.obstacle(to: url, method: method, status: status, sharing))
    }

    /// Returns the miss of an explained request, with a command unless there is an obstacle.
    func miss(_ url: String, _ explanation: Explanation, unless obstacle: String?) -> Miss {
        let command = command(after: explanation)
        let words = command.flatMap { _ in obstacle }
        let reason = explanation.sentence + (words.map { " \($0)" } ?? "")
        return Miss(url: url, reason: reason, command: words == nil ? command : nil)
    }

    /// Returns the reason why no command can add the URL of a request, as a sentence; nil if one can.
    ///
    /// The status is that of the server's response, and nil if no server answered.
    static func obstacle(to url: String, method: String, status: Int?, _ sharing: Sharing = Sharing()) -> String? {
        // A key with one of these would be read as a mistake.
        if url.prefix(while: { $0 != "?" }).contains("*") { return "A \"*\" stands only for itself in a manifest." }
        if url.hasSuffix("?") { return "Leave out the \"?\", which nothing follows." }
        if !["GET", "HEAD"].contains(method) { return "Files answer only GET and HEAD, not \(visible(method))." }
        switch status {
        case 200, 206: return sharing.isForbidden ? "Its server forbids shared copies (Cache-Control)." : nil
        case nil: return "No server answered."
        case let status?: return "Its server answered \(status), so there is no file to add."
        }
    }

    /// Explains why no file answered a load.
    func miss(_ load: LiveTable.FinishedLoad, besides used: Set<String>, in table: SubstitutionTable) -> Miss {
        if load.isTooLarge {
            let limit = ByteCount(LiveTable.maximumSize)
            let reason = "has a file larger than \(limit), which is too large to send to the browser."
            return Miss(url: load.url, reason: "\(visible(load.url)) \(reason)")
        }
        var miss = miss(
            load.redirectedFrom ?? load.url,
            method: load.method,
            answered: load.status,
            load.sharing,
            besides: used,
            in: table
        )
        if miss.command != nil, let refusal = load.refusal {
            miss.command = nil
            miss.reason += " It cannot be added: \(refusal)."
        }
        if let failure = load.failure { miss.reason += " Chromium says \(failure)." }
        guard load.redirectedFrom != nil else { return miss }
        // After a redirect, URL loading asks no cache. So only an entry for the first URL can answer. A resource with
        // relative references gets none from `add`, as they resolve against the last URL.
        if let type = load.type, type.isHTML || type.isJavaScript || type.essence == "text/css" { miss.command = nil }
        miss.reason += " It is redirected to \(visible(load.url)); after a redirect, the app asks no cache."
        return miss
    }

    /// Returns the command line that adds an explained URL; nil if an entry is not all that is missing.
    func command(after explanation: Explanation) -> String? {
        // If a folder entry has this URL, another entry must not have it. User information is not printed.
        guard case .network(because: .noEntry) = explanation.answer, explanation.folder?.missing != "",
            let key = (explanation.url?.url.absoluteString).flatMap({ try? URLPattern(requested: $0) }),
            !hasUserInformation(key.spelling)
        else { return nil }
        return manifest.line(["add"], urls: [key.spelling])
    }
}

extension Explanation {
    /// Removes the neighbour if it is another resource: a request for it was answered, too.
    mutating func removeNeighbour(amongst used: Set<String>) {
        guard let neighbour = nearest, used.contains(neighbour.substitution.url) else { return }
        let isOther = neighbour.differences.contains { difference in
            switch difference {
            case .host, .fileName, .letterCase, .query: true
            case .scheme, .www, .port, .percentEncoding, .trailingSlash: false
            }
        }
        if isOther { nearest = nil }
    }
}
