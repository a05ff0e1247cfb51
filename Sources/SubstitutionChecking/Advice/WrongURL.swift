import Foundation
import LocalSubstitutionCache

/// The causes of mistakes in texts that are not URLs.
///
/// For all other mistakes, the message of ``URLProblem`` gives the cause.
package enum WrongURL {
    /// Returns a sentence with the cause and the remedy; nil if the cause is not known.
    package static func problem(of text: String) -> String? {
        guard (try? URLPattern(text)) == nil, !hasUserInformation(text) else { return nil }
        return causes.firstResult { $0(text) }
    }

    private static let causes: [@Sendable (String) -> String?] = [
        withoutServer, ofStorage, shortened, withSecondURL, withPlaceholder, defanged, wrapped, withLookalikes,
        withForeignLetter,
    ]

    /// Returns the question that proposes the URL that was meant.
    private static func proposal(_ text: String, _ otherwise: String = "write the URL that the app loads") -> String {
        guard let meant = URLRepair.repaired(text) ?? ((try? URLPattern(text)).map { _ in text }) else {
            return otherwise
        }
        return "write \(quoted(meant, limit: 1000))"
    }

    // MARK: - Schemes

    private static let network = "write the https URL of the request, which the browser's Network panel shows"

    /// The schemes of URLs that no server answers, with the predicate and the remedy of a sentence.
    private static let schemes: [(names: Set<String>, sentence: String)] = [
        (["blob", "filesystem"], "is made by a script, and exists only in the page that made it; \(network)"),
        (["data"], "holds the file itself, so nothing is requested, and it needs no entry; remove it"),
        (["about", "chrome", "edge", "brave", "opera", "resource"], "is a page of the browser itself; \(network)"),
        (["javascript"], "is a script, not the URL of a file; \(network)"),
        (
            ["mailto", "tel", "sms", "facetime", "whatsapp", "skype", "maps", "geo"],
            "starts a program, and loads no file; remove it"
        ),
        (
            ["chrome-extension", "moz-extension", "safari-web-extension", "ms-browser-extension"],
            "is a file of a browser extension; \(network)"
        ),
        (["ws", "wss"], "is a WebSocket, which no file can answer; remove it"),
        (["cid", "mid"], "is a part of a mail; write the URL that the app loads"),
        (
            [
                "content", "android-app", "asset", "assets", "app", "capacitor", "ionic", "ms-appx", "bundle", "jar",
                "webpack", "webpack-internal", "vite", "ng", "turbopack",
            ],
            "is a name inside a program, which is requested from no server; \(network)"
        ),
        (
            ["git", "ssh", "svn", "sftp", "smb", "afp", "nfs"],
            "is not loaded by web pages or apps; write the https URL of the file"
        ),
    ]

    private static func withoutServer(_ text: String) -> String? {
        guard let scheme = text.prefixMatch(of: schemeStart)?.1.lowercased(),
            let (_, sentence) = schemes.first(where: { $0.names.contains(scheme) })
        else { return nil }
        // A scheme with a dot or digits after it may be a server and its port.
        return "\(quoted(text)) \(sentence)"
    }

    nonisolated(unsafe) private static let schemeStart = /([A-Za-z][A-Za-z0-9+\-]*):(?![0-9]+(\/|$))/

    /// Recognises the addresses of storage services.
    ///
    /// References: https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html and
    /// https://cloud.google.com/storage/docs/request-endpoints
    private static func ofStorage(_ text: String) -> String? {
        guard let match = text.wholeMatch(of: storage) else { return nil }
        let (bucket, path) = (match.2, match.3)
        let url =
            match.1 == "s3"
            ? "https://\(bucket).s3.amazonaws.com/\(path)" : "https://storage.googleapis.com/\(bucket)/\(path)"
        return
            "\(quoted(text)) is an address inside a storage service; write the https URL that the app loads, such as "
            + quoted(url, limit: 1000)
    }

    nonisolated(unsafe) private static let storage = /(s3|gs):\/\/([^\/]+)\/(.*)/

    // MARK: - What is in the text

    private static func shortened(_ text: String) -> String? {
        let authority = text.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
        guard authority.contains("…") || authority.contains("..."), authority.contains(where: \.isLetter) else {
            return nil
        }
        return "\(quoted(text)) was shortened (\"…\") by the program that showed it; copy the whole URL"
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
        guard ManifestReader.isKey(text), let match = text.firstMatch(of: formatSpecifier),
            text.wholeMatch(of: otherPercents) != nil
        else { return nil }
        return "\(quoted(text)) has the placeholder \(quoted(String(match.0))), and a key is one URL; "
            + "write an entry for each URL"
    }

    nonisolated(unsafe) private static let formatSpecifier =
        /%(s|@|i|u|ld|lu|lld|f|[0-9]*d(?![0-9A-Fa-f])|[0-9]\$[s@d]|\([a-z]+\)s)/
    /// A text in which each "%" begins a percent-encoding or a format specifier.
    nonisolated(unsafe) private static let otherPercents =
        /(?:[^%]++|%[0-9A-Fa-f]{2}|%(?:s|@|i|u|ld|lu|lld|f|[0-9]*d|[0-9]\$[s@d]|\([a-z]+\)s))*+/

    private static func defanged(_ text: String) -> String? {
        let plain = text.replacing(crossedScheme) { "http\($0.1)" }.replacingOccurrences(of: "[.]", with: ".")
            .replacingOccurrences(of: "[:]", with: ":").replacingOccurrences(of: "(.)", with: ".")
        guard plain != text, URLRepair.repaired(plain) != nil || (try? URLPattern(plain)) != nil else { return nil }
        return "\(quoted(text)) was made harmless, so that nobody follows it; \(proposal(plain))"
    }

    nonisolated(unsafe) private static let crossedScheme = /^h(?:xx|XX|\*\*|__)p(s?)/

    private static func wrapped(_ text: String) -> String? {
        guard let match = text.firstMatch(of: wrapping), let first = text.first, let last = text.last else {
            return nil
        }
        let start = String(match.1)
        let cause: String
        if "“”„«»‹›「」『』‘’‚".contains(first) || "“”„«»‹›「」『』‘’‚".contains(last) {
            cause = "has typographic quotation marks around it"
        } else if first == "<", text.contains("|") {
            cause = "is a link as Slack writes it"
        } else if first == "<", last == ">", start == "<" {
            cause = "has angle brackets around it"
        } else if start.hasPrefix("<") {
            cause = "is HTML, not a URL"
        } else if start.hasSuffix("](") || start.hasSuffix("]: ") {
            cause = "is a link as Markdown writes it"
        } else if start.wholeMatch(of: numbering) != nil {
            cause = "begins with \(quoted(start.trimmingCharacters(in: .whitespaces))), which belongs to a list"
        } else if start.wholeMatch(of: method) != nil {
            cause =
                "begins with \(quoted(start.trimmingCharacters(in: .whitespaces))), which belongs to a command or a log"
        } else {
            return nil
        }
        return "\(quoted(text)) \(cause); \(proposal(text))"
    }

    nonisolated(unsafe) private static let wrapping = /^(.*?)https?:\/\//.ignoresCase()
    nonisolated(unsafe) private static let numbering = /\s*([0-9]{1,4}[.):]|[a-z][.)]|[\-*+•·–—‣▪>#]+|\[[ x]?\])\s*/
    nonisolated(unsafe) private static let method =
        /\s*(GET|HEAD|POST|PUT|curl|wget|open|fetch|import|URL|url|Link|link|see|href|src)[:=]?\s+/

    // MARK: - Punctuation that looks like another

    private static func withLookalikes(_ text: String) -> String? {
        let plain = text.precomposedStringWithCompatibilityMapping
        guard plain != text,
            let found = text.first(where: { String($0).precomposedStringWithCompatibilityMapping != String($0) }),
            URLRepair.repaired(plain) != nil || (try? URLPattern(plain)) != nil
        else { return nil }
        return "\(quoted(text)) has \(quoted(String(found))), which only looks like "
            + "\(quoted(String(found).precomposedStringWithCompatibilityMapping)); \(proposal(plain))"
    }

    /// Finds a letter of another script in a server's name that is otherwise in letters of ASCII.
    private static func withForeignLetter(_ text: String) -> String? {
        let host = text.drop { $0 != "/" }.drop { $0 == "/" }.prefix { !"/:?".contains($0) }
        let others = host.filter { !$0.isASCII }
        guard let found = others.first, others.allSatisfy({ letters[$0] != nil }), host.contains(where: \.isASCIILetter)
        else { return nil }
        let plain = text.replacingOccurrences(of: host, with: String(host.map { letters[$0] ?? $0 }))
        return "\(quoted(text)) has a letter of another script, \(quoted(String(found))), which only looks like "
            + "\(quoted(String(letters[found] ?? found))); \(proposal(plain))"
    }

    /// Cyrillic and Greek letters, with the letters of ASCII that they look like (Unicode Technical Standard 39).
    private static let letters = Dictionary(
        uniqueKeysWithValues: zip("аеорсхуіјѕһԁԛԝοα", "aeopcxyijshdqwoa")
    )
}

extension Character {
    fileprivate var isASCIILetter: Bool { isASCII && isLetter && self != "w" }
}
