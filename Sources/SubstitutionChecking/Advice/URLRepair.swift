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

    /// The mistakes that leave a URL valid, although no app would load that URL.
    ///
    /// They are in the scheme, in the server's name or in the query, or were copied from HTML.
    private static let suspicions: [(cause: String, repair: Step)] = [
        ("has two schemes, so its server is called \"http\" or \"https\"", withoutSecondScheme),
        ("has a server whose name holds a comma, or a dot too many", withSoundHost),
        ("ends in \"?\", so it does not answer the URL without it", withoutEmptyQuery),
        ("has \"&amp;\", which is how HTML writes \"&\"", withoutEntities),
        ("is http on port 443, on which servers speak https", withHTTPSOnItsPort),
        ("is https on port 80, on which servers speak http", withoutPlainPort),
        ("is percent-encoded twice (\"%25\")", encodedOnce),
        ("has punctuation that only looks like that of a URL", withPlainPunctuation),
        ("ends in a line number, as consoles print it", withoutLineNumber),
        ("ends in a punctuation mark, which belongs to the text around it", withoutLastMark),
    ]

    /// Returns `https://host/` for `http://host:443/`.
    private static func withHTTPSOnItsPort(_ url: String) -> String {
        url.replacing(plainOnSecurePort) { "https://\($0.1)" }
    }

    nonisolated(unsafe) private static let plainOnSecurePort = /^http:\/\/([^\/?#:]+):443(?=[\/?#]|$)/.ignoresCase()

    private static func withoutPlainPort(_ url: String) -> String {
        url.replacing(secureOnPlainPort) { "https://\($0.1)" }
    }

    nonisolated(unsafe) private static let secureOnPlainPort = /^https:\/\/([^\/?#:]+):80(?=[\/?#]|$)/.ignoresCase()

    /// Returns the URL in which `%20` replaces `%2520`, for example.
    ///
    /// In a query, a URL may be a value, and is then rightly encoded twice. So a query with such a URL is not changed.
    private static func encodedOnce(_ url: String) -> String {
        let query = url.firstIndex(of: "?") ?? url.endIndex
        let isURLInside = url[query...].range(of: "%253A%252F", options: .caseInsensitive) != nil
        let end = isURLInside ? query : url.endIndex
        let once = url[..<end].replacing(encodedTwice) { match in
            match.0.replacingOccurrences(of: "%25", with: "%")
        }
        return String(once) + url[end...]
    }

    /// `%25` before the digits of a space, of punctuation, or of a letter outside ASCII in UTF-8.
    nonisolated(unsafe) private static let encodedTwice =
        /%25(2[0-9A-Fa-f]|3[A-Fa-f]|40|5[BCDEbcde]|7[BCDEbcde]|[C-Fc-f][0-9A-Fa-f](%25[89ABab][0-9A-Fa-f])+)/

    private static func withPlainPunctuation(_ url: String) -> String {
        // File names may hold full-width parentheses and dashes, so only what divides a URL is replaced.
        String(
            url.map { character in
                let plain = String(character).precomposedStringWithCompatibilityMapping
                return plain.count == 1
                    ? plain.first.flatMap { "/?=&%#:.".contains($0) ? $0 : nil } ?? character : character
            }
        )
    }

    private static func withoutLineNumber(_ url: String) -> String { url.replacing(lineNumber) { "\($0.1)" } }

    nonisolated(unsafe) private static let lineNumber = /(\.[A-Za-z0-9]{2,5}(\?[^:?]*+)?):[0-9]+(:[0-9]+)?$/

    private static func withoutLastMark(_ url: String) -> String {
        guard let last = url.last, !url.hasSuffix("..") else { return url }
        // A pair of quotation marks may be a part of the URL.
        let isStray =
            ",.;!”“’»>|".contains(last) || "'\"".contains(last) && url.count { $0 == last } % 2 == 1
            || last == ")" && !url.contains("(") || last == "]" && !url.contains("[")
        return isStray ? withoutLastMark(String(url.dropLast())) : url
    }

    private static let steps: [Step] = [
        unwrapped, withoutInvisible, { $0.trimmingCharacters(in: .whitespaces) }, embedded, withoutDescriptor,
        { $0.replacingOccurrences(of: "\\", with: "/") }, withoutEntities, withSoundScheme, withoutSecondScheme,
        withScheme, withoutUser, withSoundHost, withSoundPort, { String($0.prefix { $0 != "#" }) }, withEncodedPercents,
        { $0.replacingOccurrences(of: " ", with: "%20") }, withoutEmptyQuery,
    ]

    private static func isURL(_ text: String) -> Bool {
        !text.contains("#") && (try? URLIdentity(text.hasPrefix("//") ? "https:" + text : text)) != nil
    }

    // MARK: - Around the URL

    /// Returns `text` without pairs of brackets or quotation marks around it.
    private static func unwrapped(_ text: String) -> String {
        var text = text
        while text.count > 2, let first = text.first, let last = text.last,
            ["<>", "''", "``", "\"\"", "()", "[]", "{}", "“”", "„“", "«»", "‘’", "””", "““", "»«", "’’", "「」", "„”"]
                .contains("\(first)\(last)")
        {
            text = String(text.dropFirst().dropLast())
            // Slack writes a link as `<URL|text>`.
            if first == "<" { text = String(text.prefix { $0 != "|" }) }
        }
        return text
    }

    /// Returns the URL in a Markdown link, an HTML tag or a CSS `url(…)`, or after a scheme such as `blob:`.
    private static func embedded(_ text: String) -> String {
        guard let start = text.range(of: "https?://", options: [.regularExpression, .caseInsensitive])?.lowerBound,
            start > text.startIndex, "<([{\"'`=: ".contains(text[text.index(before: start)]),
            text[..<start].lowercased().prefixMatch(of: schemeAndSlashes) == nil
        else { return text }
        return String(text[start...].prefix { !"<>()[]{}\"'` ".contains($0) })
    }

    nonisolated(unsafe) private static let schemeAndSlashes = /(https?[:;.]?)?\/+/

    /// Returns the URL of an image candidate in a `srcset` attribute.
    ///
    /// The width or resolution after the URL is removed (HTML §4.8.4.2.1).
    private static func withoutDescriptor(_ text: String) -> String {
        text.replacing(descriptor) { "\($0.1)" }
    }

    nonisolated(unsafe) private static let descriptor = /(\S)\s+[0-9]+(\.[0-9]+)?[wx],?$/

    private static func withoutInvisible(_ text: String) -> String {
        // These scalars join letters and emoji, so they are not removed.
        let joiners: [Unicode.Scalar] = ["\u{200C}", "\u{200D}", "\u{FE0F}"]
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { $0 == " " || joiners.contains($0) || !$0.isInvisible && $0.value != 0x7F }
            )
        )
    }

    private static func withoutEntities(_ text: String) -> String {
        text.replacingOccurrences(of: "&amp;", with: "&").replacingOccurrences(of: "&#38;", with: "&")
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
        let isFile = host.count == text.count && MediaType(fileName: text) != nil
        if isFile { return text }
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

    /// Returns the range of the server, with user and port, in a URL that begins with a scheme or `//`.
    private static func authority(of url: String) -> Range<String.Index>? {
        guard let start = url.prefixMatch(of: authorityStart)?.range.upperBound else { return nil }
        return start..<(url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex)
    }

    nonisolated(unsafe) private static let authorityStart = /(https?:)?\/\//.ignoresCase()

    private static func withAuthority(_ url: String, _ repair: (Substring) -> String) -> String {
        guard let range = authority(of: url) else { return url }
        return url.replacingCharacters(in: range, with: repair(url[range]))
    }

    private static func withoutUser(_ url: String) -> String {
        withAuthority(url) { String($0[($0.lastIndex(of: "@").map($0.index(after:)) ?? $0.startIndex)...]) }
    }

    nonisolated(unsafe) private static let dots = /\.\.+/

    private static func withSoundHost(_ url: String) -> String {
        withAuthority(url) { authority in
            let host = authority.prefix { $0 != ":" }
            // Three dots stand for something that was left out.
            if host.contains("...") { return String(authority) }
            guard isHost(authority.drop { $0 == "." || $0 == " " }) else { return String(authority) }
            let dotted = host.filter { $0 != " " }.replacingOccurrences(of: ",", with: ".")
                .replacing(dots, with: ".").drop { $0 == "." }
            // Foundation converts an internationalised name to its `xn--` form.
            let ascii = dotted.utf8.allSatisfy { $0 < 0x80 } ? nil : URL(string: "https://\(dotted)/")?.host
            let isFound = ascii.map { !$0.isEmpty && $0.utf8.allSatisfy { $0 < 0x80 } } ?? false
            return (isFound ? ascii ?? "" : String(dotted)) + authority[host.endIndex...]
        }
    }

    private static func withSoundPort(_ url: String) -> String {
        withAuthority(url) { authority in
            guard !authority.contains("["), let colon = authority.firstIndex(of: ":") else { return String(authority) }
            let port = authority[authority.index(after: colon)...]
            let isPort =
                port.utf8.allSatisfy(\.isASCIIDigit) && (port.isEmpty || Int(port).map { $0 <= 65_535 } == true)
            return String(isPort ? authority : authority[..<colon])
        }
    }

    // MARK: - Path

    private static func withoutEmptyQuery(_ url: String) -> String {
        url.hasSuffix("?") ? String(url.dropLast()) : url
    }

    /// Returns the URL in which `%25` replaces each "%" that does not begin a percent-encoding.
    private static func withEncodedPercents(_ url: String) -> String {
        guard url.utf8.contains(UInt8(ascii: "%")) else { return url }
        let bytes = Array(url.utf8)
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            result.append(byte)
            let digits = bytes[(index + 1)...].prefix(2)
            if byte == UInt8(ascii: "%"), digits.count < 2 || !digits.allSatisfy(\.isHexDigit) { result += "25".utf8 }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
