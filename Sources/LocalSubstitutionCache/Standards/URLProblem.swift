import Foundation

/// Why a text is not a URL that can be looked up.
package enum URLProblem: Error, Equatable {
    case notAbsolute
    case scheme(String)
    case userInfo
    case noHost
    case host(String)
    case nonASCIIHost(String)
    case port(String)
    case percent
    case space
    case backslash
    case control
    case fragment
    /// The key begins or ends with space; the value is the key without it.
    case spaceAround(String)
    case invisible(Unicode.Scalar)

    /// What is wrong with `url`, as a sentence for the person who wrote it.
    ///
    /// User information in it is hidden, and is what to mend first.
    package func message(for url: String) -> String {
        let bytes = Array(url.utf8)
        let secret = UserInformation.places(in: bytes).first?.secret
        // Behind a path it belongs to another URL.
        guard let secret, bytes[..<secret.lowerBound].split(whereSeparator: { "/\\?#".utf8.contains($0) }).count < 2
        else {
            return sentence(for: url)
        }
        // A password with a "/" in it looks like a port and a path.
        return bytes[secret].contains { "/?#\\ ".utf8.contains($0) }
            ? "\(quoted(url)) has a \":\" that no port follows; if a user name and a password stand there, remove them and "
                + "the \"@\""
            : Self.userInfo.sentence(for: url)
    }

    private func sentence(for url: String) -> String {
        let subject = quoted(url)
        let (start, end) = (url.range(of: "//")?.upperBound ?? url.startIndex, url.endIndex)
        let authority = url[start...].prefix { !"/?#".contains($0) }
        func instead(_ text: some StringProtocol) -> String {
            // What hides something is nothing to copy.
            UserInformation.isIn(String(text)) ? "correct that" : "write \(quoted(String(text)))"
        }
        return switch self {
        case .notAbsolute:
            "\(subject) is not a whole URL; "
                + (Self.suggestedURL(url) ?? "it begins with the server, such as \"https://example.com/img/logo.png\"")
        case .scheme(let scheme):
            "\(subject) begins with \(quoted(scheme + ":")); "
                + (suggestion(for: scheme, among: ["http", "https"]).map { "did you mean \"\($0):\"?" }
                    ?? "write the https: or http: URL that is loaded")
        case .userInfo:
            "\(subject) holds a user name; " + instead(UserInformation.removed(from: url))
        case .noHost:
            "\(subject) names no server; write https://example.com/…"
        case .host(let host):
            host.utf8.contains(UInt8(ascii: "*"))
                ? "\(quoted(host)) has a wildcard, and there are none; write an entry for each server"
                : "\(quoted(host)) is not the name of a server"
        case .nonASCIIHost(let host):
            "the server's name \(quoted(host)) has letters that a URL cannot have; "
                + (Self.asciiHost(host).map { instead(url[..<start] + $0 + url[authority.endIndex..<end]) }
                    ?? "write its xn-- form")
        case .port(let port):
            "\(quoted(port)) is not a port, which is a number up to 65535; "
                + instead(url[..<start] + authority.prefix { $0 != ":" } + url[authority.endIndex..<end])
        case .percent:
            "\(subject) has a \"%\" that two hexadecimal digits do not follow; a percent sign itself is written %25: "
                + instead(Self.withEncodedPercents(url))
        case .space:
            "\(subject) has a space; " + instead(url.replacingOccurrences(of: " ", with: "%20"))
        case .backslash:
            "\(subject) has a backslash; " + instead(url.replacingOccurrences(of: "\\", with: "/"))
        case .control:
            "\(subject) has a control character; "
                + instead(
                    String(String.UnicodeScalarView(url.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
                )
        case .fragment:
            "\(subject) has a \"#\", and what follows it is never sent to a server; "
                + instead(url.prefix { $0 != "#" })
        case .spaceAround(let trimmed):
            "\(subject) has a space at its beginning or end; " + instead(trimmed)
        case .invisible(let scalar):
            "\(subject) has an invisible character (\(scalar.properties.name?.lowercased() ?? "no name")); "
                + instead(String(String.UnicodeScalarView(url.unicodeScalars.filter { $0 != scalar })))
        }
    }

    /// The URL with each "%" encoded that is no encoding.
    private static func withEncodedPercents(_ url: String) -> String {
        let bytes = Array(url.utf8)
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            result.append(byte)
            let digits = bytes[(index + 1)...].prefix(2)
            if byte == UInt8(ascii: "%"), digits.count < 2 || !digits.allSatisfy(\.isHexDigit) { result += "25".utf8 }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// What somebody means who leaves out the scheme, or one of its slashes.
    private static func suggestedURL(_ url: String) -> String? {
        let slips = ["https://", "http://", "https:/", "http:/", "https:", "http:", "/"]
        let start = slips.first(where: url.hasPrefix) ?? ""
        let rest = url.dropFirst(start.count)
        let host = rest.prefix { $0 != "/" && $0 != ":" && $0 != "?" }
        let isHost = host.contains(".") && host.utf8.allSatisfy { $0.asciiLowercased.isPlainHostCharacter }
        let meant = (start.hasPrefix("http:") ? "http://" : "https://") + rest
        // After a single "/" a path is meant.
        guard start != "/", isHost, !host.hasPrefix("."), (try? URLIdentity(meant)) != nil else { return nil }
        return "did you mean \(quoted(meant))?"
    }

    /// The `xn--` form of a host.
    private static func asciiHost(_ host: String) -> String? {
        guard let ascii = URL(string: "https://\(host)/")?.host, ascii.isASCII, !ascii.isEmpty else { return nil }
        return ascii
    }
}
