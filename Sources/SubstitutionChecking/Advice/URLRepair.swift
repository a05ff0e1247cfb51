import Foundation
import LocalSubstitutionCache

/// Repairs of texts that were probably meant to be URLs.
///
/// Each step repairs one kind of mistake, and leaves texts without this mistake unchanged. All steps are applied one
/// after another, so a text may have several mistakes.
enum URLRepair {
    private typealias Step = @Sendable (String) -> String

    /// Returns the repaired URL; nil if the text is still not a URL after all steps, or if no step changes it.
    static func repaired(_ text: String) -> String? {
        guard isShort(text) else { return nil }
        let result = steps.reduce(text) { $1($0) }
        return result != text && isURL(result) ? result : nil
    }

    /// Returns the first mistake in a valid URL, and the URL that was meant; nil if there is no mistake.
    ///
    /// `cause` is the predicate of a sentence about the URL.
    static func suspicion(of url: String) -> (cause: String, meant: String)? {
        guard isShort(url) else { return nil }
        return suspicions.firstResult { cause, repair in
            let changed = repair(url)
            guard changed != url else { return nil }
            return (repaired(changed) ?? (isURL(changed) ? changed : nil)).map { (cause, $0) }
        }
    }

    /// True for a text of at most 2,000 bytes; some steps read a text once for each of its characters.
    private static func isShort(_ text: String) -> Bool { text.utf8.count <= 2000 }

    /// Returns a step that replaces each match of a regular expression.
    private static func replacing(_ pattern: String, with template: String) -> Step {
        { $0.replacingOccurrences(of: pattern, with: template, options: [.regularExpression, .caseInsensitive]) }
    }

    /// The mistakes that leave a URL valid, although no app would load that URL.
    private static let suspicions: [(cause: String, repair: Step)] = [
        ("has two schemes, so its server is called \"http\" or \"https\"", withoutSecondScheme),
        ("has a server whose name holds a comma, or a dot too many", withSoundHost),
        ("ends in \"?\", so it does not answer the URL without it", replacing(#"\?$"#, with: "")),
        ("has \"&amp;\", which is how HTML writes \"&\"", replacing("&(amp|#38);", with: "&")),
        (
            "is http on port 443, on which servers speak https",
            replacing("^http://([^/?#:]+):443(?=[/?#]|$)", with: "https://$1")
        ),
        (
            "is https on port 80, on which servers speak http",
            replacing("^https://([^/?#:]+):80(?=[/?#]|$)", with: "https://$1")
        ),
        ("has a space that is percent-encoded twice (\"%25\")", replacing("%2520", with: "%20")),
        ("ends in a line number, as consoles print it", replacing(#"(\.[A-Z0-9]{2,5}):\d+(:\d+)?$"#, with: "$1")),
        (
            "ends in a punctuation mark, which belongs to the text around it",
            replacing(#"(?<![.,])[,.;!>|”“’»]$"#, with: "")
        ),
    ]

    private static let steps: [Step] = [
        withoutInvisible, { $0.precomposedStringWithCompatibilityMapping },
        { $0.trimmingCharacters(in: .whitespaces) }, alone,
        // The width or resolution of an image candidate (HTML §4.8.4.2.1).
        replacing(#"\s+[0-9.]+[wx],?$"#, with: ""), replacing(#"\\+/?"#, with: "/"),
        replacing("&(amp|#38);", with: "&"), withSoundScheme, withoutSecondScheme, withScheme, withoutUser,
        withSoundHost,
        replacing("#.*$", with: ""), replacing("%(?![0-9A-F]{2})", with: "%25"),
        replacing(" ", with: "%20"), replacing(#"\?$"#, with: ""),
    ]

    private static func isURL(_ text: String) -> Bool {
        !text.contains("#") && (try? URLIdentity(text.hasPrefix("//") ? "https:" + text : text)) != nil
    }

    // MARK: - Around the URL

    /// Returns the URL inside other text, such as quotation marks, a link of Markdown, a tag or a command.
    private static func alone(_ text: String) -> String {
        let wrappers = "<>()[]{}\"'`“”„«»‘’「」 "
        if let start = text.range(of: "https?://", options: [.regularExpression, .caseInsensitive])?.lowerBound {
            guard start > text.startIndex, (wrappers + "=").contains(text[text.index(before: start)]),
                text[..<start].lowercased().prefixMatch(of: schemeAndSlashes) == nil
            else { return text }
            return String(text[start...].prefix { !(wrappers + "|").contains($0) })
        }
        guard let first = text.first, wrappers.contains(first) else { return text }
        return text.trimmingCharacters(in: CharacterSet(charactersIn: wrappers))
    }

    nonisolated(unsafe) private static let schemeAndSlashes = /(https?[:;.]?)?\/+/

    private static func withoutInvisible(_ text: String) -> String {
        // These scalars join letters and emoji, so they are not removed.
        let joiners: [Unicode.Scalar] = ["\u{200C}", "\u{200D}", "\u{FE0F}"]
        let kept = text.unicodeScalars.filter {
            $0 == " " || joiners.contains($0) || !$0.isInvisible && $0.value != 0x7F
        }
        return String(String.UnicodeScalarView(kept))
    }

    // MARK: - Scheme

    /// Repairs a misspelled scheme, such as `https//`, `https:/`, `http;//` or `htps://`.
    private static func withSoundScheme(_ text: String) -> String {
        guard let match = text.prefixMatch(of: nearScheme) else { return text }
        let (word, mark, slashes) = (match.1.lowercased(), match.2, match.3)
        let rest = text[match.range.upperBound...]
        let isExact = word == "http" || word == "https"
        let isScheme =
            isExact ? !mark.isEmpty || !slashes.isEmpty : mark.contains { ":;".contains($0) } && !slashes.isEmpty
        guard isScheme, !(isExact && mark == "." && slashes.isEmpty), isHost(rest),
            let scheme = isExact ? word : suggestion(for: word, among: ["http", "https"])
        else { return text }
        return "\(scheme)://\(rest)"
    }

    nonisolated(unsafe) private static let nearScheme = /([A-Za-z]{2,8})([:;., ]*)(\/*) */

    /// Removes the first scheme of `https://https://`, even if the second scheme is misspelled.
    private static func withoutSecondScheme(_ text: String) -> String {
        guard let first = text.lowercased().prefixMatch(of: firstOfTwoSchemes) else { return text }
        let rest = String(text.dropFirst(first.0.count))
        let repaired = withSoundScheme(rest)
        return repaired != rest || isURL(rest) && repaired.contains("://") ? withoutSecondScheme(repaired) : text
    }

    nonisolated(unsafe) private static let firstOfTwoSchemes = /(https?:)?\/\/+(?=https?[:;.]?\/)/

    /// Adds a scheme to a text that begins with the name of a server.
    ///
    /// The scheme is `http` for `localhost` and for an IP address, because a server in a local network has no
    /// certificate.
    private static func withScheme(_ text: String) -> String {
        guard text.prefixMatch(of: schemeOrSlash) == nil, !text.contains("@"), isHost(text) else {
            return text
        }
        let host = text.prefix { !":/?#".contains($0) }
        if host.count == text.count, MediaType(fileName: text) != nil { return text }
        let isLocal = host == "localhost" || host.allSatisfy { $0.isNumber || $0 == "." }
        return (isLocal ? "http://" : "https://") + text
    }

    nonisolated(unsafe) private static let schemeOrSlash = /[A-Za-z][A-Za-z0-9+.-]*:\/|\//

    /// True for a text that begins with the name of a server, or with a misspelled name of a server.
    private static func isHost(_ text: some StringProtocol) -> Bool {
        let authority = text.prefix { !"/?#".contains($0) }
        let host = (authority.split(separator: "@").last ?? "").prefix { $0 != ":" }
        let isName = host.utf8.allSatisfy { byte in
            byte.asciiLowercased.isPlainHostCharacter || byte >= 0x80 || " ,_".utf8.contains(byte)
        }
        return host == "localhost"
            || isName && !host.hasPrefix(".") && host.contains { $0 == "." || $0 == "," }
    }

    // MARK: - Server

    /// Repairs the server, with user and port, of a URL that begins with a scheme or `//`.
    private static func withAuthority(_ url: String, _ repair: (Substring) -> String) -> String {
        guard let start = url.prefixMatch(of: authorityStart)?.range.upperBound else { return url }
        let range = start..<(url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex)
        return url.replacingCharacters(in: range, with: repair(url[range]))
    }

    nonisolated(unsafe) private static let authorityStart = /(https?:)?\/\//.ignoresCase()

    private static func withoutUser(_ url: String) -> String {
        withAuthority(url) { String($0[($0.lastIndex(of: "@").map($0.index(after:)) ?? $0.startIndex)...]) }
    }

    private static func withSoundHost(_ url: String) -> String {
        withAuthority(url) { authority in
            let host = authority.prefix { $0 != ":" }
            // Three dots stand for something that was left out.
            guard !host.contains("..."), isHost(authority.drop { $0 == "." || $0 == " " }) else {
                return String(authority)
            }
            let dotted = host.filter { $0 != " " }.split { ".,".contains($0) }.joined(separator: ".")
            // Foundation converts an internationalised name to its `xn--` form.
            let ascii = dotted.utf8.allSatisfy { $0 < 0x80 } ? nil : URL(string: "https://\(dotted)/")?.host
            let isFound = ascii.map { !$0.isEmpty && $0.utf8.allSatisfy { $0 < 0x80 } } ?? false
            return (isFound ? ascii ?? "" : dotted) + authority[host.endIndex...]
        }
    }
}
