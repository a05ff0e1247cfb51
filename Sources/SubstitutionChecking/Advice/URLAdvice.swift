import Foundation
package import LocalSubstitutionCache

/// The advice on texts that are not the URLs that an app loads.
package enum URLAdvice {
    /// Returns a sentence with the cause and the remedy; nil if no row of the table tells them.
    ///
    /// Some of these texts are valid URLs.
    package static func problem(of text: String) -> String? {
        guard isShort(text), !hasUserInformation(text) else { return nil }
        return AdviceTable.current.urls.firstResult { rule in
            guard rule.match.occurs(in: text), let says = rule.says else { return nil }
            if rule.write == nil { return "\(quoted(text)) \(says)" }
            let changed = rule.applied(to: text)
            let meant = isURL(changed) ? changed : repaired(changed)
            return meant.map { "\(quoted(text)) \(says); did you mean \(quoted($0, limit: 1000))?" }
        }
    }

    /// Returns the URL that was meant by a text that is not a URL; nil if none can be guessed.
    static func repaired(_ text: String) -> String? {
        guard isShort(text) else { return nil }
        var result = AdviceTable.current.repairs.reduce(text) { $1.applied(to: $0) }
        // Foundation converts an internationalised name of a server to its `xn--` form.
        if !isURL(result), let url = URL(string: result) { result = url.absoluteString }
        return result != text && isURL(result) && !hasUserInformation(result) ? result : nil
    }

    /// True for a text of at most 2,000 bytes; some patterns read a text once for each of its characters.
    private static func isShort(_ text: String) -> Bool { text.utf8.count <= 2000 }

    private static func isURL(_ text: String) -> Bool { (try? URLPattern(text)) != nil }
}

extension URLProblem {
    /// Returns a sentence that explains the problem to the designer who wrote `url`.
    package func message(for url: String) -> String {
        // The user information must be removed first.
        if self != .userInfo, hasUserInformation(url.prefix { $0 != "?" }) { return Self.userInfo.message(for: url) }
        if let sentence = URLAdvice.problem(of: url) { return sentence }
        let remedy =
            URLAdvice.repaired(url).map { "did you mean \(quoted($0, limit: 1000))?" }
            ?? "write the whole URL that the app loads, such as \"https://example.com/img/logo.png\""
        return "\(cause(in: url)); \(remedy)"
    }
}
