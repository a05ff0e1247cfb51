import Foundation
import LocalSubstitutionCache

/// The causes of mistakes in texts that are not URLs.
///
/// For all other mistakes, the message of ``URLProblem`` gives the cause.
package enum WrongURL {
    /// Returns a sentence with the cause and the remedy; nil if the cause is not known.
    package static func problem(of text: String) -> String? {
        guard (try? URLPattern(text)) == nil, !hasUserInformation(text) else { return nil }
        if isShortened(text) { return shortening(text) }
        return withSecondURL(text) ?? withPlaceholder(text) ?? surrounded(text) ?? withForeignLetter(text)
    }

    /// True for a text with "…", or with three dots at its end or in its server's name.
    static func isShortened(_ text: String) -> Bool {
        let host = text.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
        return text.contains("…") || text.hasSuffix("...") || host.contains("...") && host.contains(where: \.isLetter)
    }

    static func shortening(_ text: String) -> String {
        "\(quoted(text)) was shortened (\"…\") by the program that showed it; copy the whole URL"
    }

    private static func withSecondURL(_ text: String) -> String? {
        let urls = text.split { " ,;\n\t|".contains($0) }.map(String.init)
        guard urls.count > 1, urls.allSatisfy({ ManifestReader.isKey($0) && (try? URLPattern($0)) != nil }) else {
            return nil
        }
        return "\(quoted(text)) holds \(urls.count) URLs, and each needs an entry of its own; write "
            + urls.prefix(2).map { "\(quoted($0)): …" }.joined(separator: ", ")
    }

    private static func withPlaceholder(_ text: String) -> String? {
        guard ManifestReader.isKey(text), let match = text.firstMatch(of: placeholder) else { return nil }
        return
            "\(quoted(text)) has the placeholder \(quoted(String(match.0))), and a key is one URL; write an entry for each URL"
    }

    /// A format specifier that is no percent-encoding.
    nonisolated(unsafe) private static let placeholder = /%(?:s|@|i|u|l[du]|d(?![0-9A-Fa-f])|\([a-z]+\)s)/

    /// Finds a URL with other text before it, such as a tag, a link of Markdown, a command or the mark of a list.
    private static func surrounded(_ text: String) -> String? {
        guard let start = text.range(of: "https?://", options: [.regularExpression, .caseInsensitive])?.lowerBound,
            start > text.startIndex, let meant = URLRepair.repaired(text), meant.contains("://"),
            text[..<start].contains(where: { !$0.isLetter && !$0.isWhitespace && !"/:".contains($0) })
                || text[..<start].contains(where: \.isLetter) && text[..<start].last == " "
        else { return nil }
        return "\(quoted(text)) has other text around the URL; write \(quoted(meant, limit: 1000))"
    }

    /// Finds a letter of another alphabet among the ASCII letters of a server's name.
    private static func withForeignLetter(_ text: String) -> String? {
        let host = text.drop { $0 != "/" }.drop { $0 == "/" }.prefix { !"/:?".contains($0) }
        // A label in one alphabet is a name; "xn--" would hide the slip in any other.
        let label = host.split(separator: ".").first { label in
            label.contains { $0.isASCII && $0.isLetter } && label.unicodeScalars.contains { isForeign($0) }
        }
        guard let found = label?.unicodeScalars.first(where: isForeign) else { return nil }
        return
            "\(quoted(text)) has a letter of another alphabet, \(quoted(String(found))), among the letters of its server's "
            + "name; type the name again"
    }

    /// True for the letters of Greek and Cyrillic, some of which look like those of ASCII.
    private static func isForeign(_ scalar: Unicode.Scalar) -> Bool { 0x370..<0x530 ~= scalar.value }
}
