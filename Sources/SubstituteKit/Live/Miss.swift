import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

// On Apple's systems, URL loading is part of Foundation.
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that no file answered.
struct Miss: Sendable {
    let url: String
    /// The reason, in sentences.
    var reason: String
    /// The command line that adds the URL; nil if no command can.
    var command: String?
}

/// Explains requests that no file answered, and names the commands that add their URLs.
struct MissExplainer: Sendable {
    private let tool: ToolName
    private let operands: [String]

    init(_ manifest: ManifestFile, _ tool: ToolName) {
        (self.tool, operands) = (tool, manifest.operands)
    }

    /// Returns the command line that adds a URL to the manifest.
    func command(adding key: URLPattern) -> String { tool.line(["add"] + operands + [key.spelling]) }

    /// Explains a request that a browser or an app has sent.
    ///
    /// - Parameters:
    ///   - url: The URL, as the browser spells it.
    ///   - method: The method of the request.
    ///   - status: The status of the server's response; nil if no server answered.
    ///   - used: The URLs of the substitutions that answered other requests. They are no neighbours of this URL,
    ///     because the page requests both.
    ///   - table: The table that does not answer.
    /// - Returns: The miss, with a command only if the server's response is a whole file.
    func miss(
        _ url: String,
        method: String = "GET",
        answered status: Int?,
        besides used: Set<String>,
        in table: SubstitutionTable
    ) -> Miss {
        guard let target = URL(ofBrowser: url) else {
            return Miss(url: url, reason: "\(quoted(url)) is not a URL that an app can load.")
        }
        var request = URLRequest(url: target)
        request.httpMethod = method
        var explanation = table.explain(request, Advice())
        if let url = explanation.nearest?.substitution.url, used.contains(url) { explanation.nearest = nil }
        let command = command(after: explanation)
        let obstacle =
            switch status {
            case _ where command == nil: ""
            case 200, 206: ""
            case nil: " No server answered."
            case let status?: " Its server answered \(status), so there is no file to add."
            }
        return Miss(
            url: url,
            reason: explanation.description + obstacle,
            command: obstacle.isEmpty ? command : nil
        )
    }

    /// Explains why no file answered a load.
    func miss(_ load: LiveTable.FinishedLoad, besides used: Set<String>, in table: SubstitutionTable) -> Miss {
        if load.isTooLarge {
            let limit = ByteCount(LiveTable.maximumSize)
            let reason = "has a file larger than \(limit), which is too large to send to the browser."
            return Miss(url: load.url, reason: "\(visible(load.url)) \(reason)")
        }
        return miss(load.url, method: load.method, answered: load.status, besides: used, in: table)
    }

    /// Returns the command line that adds an explained URL; nil if an entry is not all that is missing.
    func command(after explanation: Explanation) -> String? {
        // If a folder entry has this URL, another entry must not have it.
        guard case .network(because: .noEntry) = explanation.answer, explanation.folder?.missing != "",
            let key = try? URLPattern(requested: explanation.url)
        else { return nil }
        return command(adding: key)
    }
}
