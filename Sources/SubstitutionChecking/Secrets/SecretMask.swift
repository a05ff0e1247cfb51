import Foundation
import LocalSubstitutionCache

/// A mask for possible secrets in the URLs of a recording.
///
/// The user info (user name and password) and the fragment are removed. OAuth returns tokens in fragments (RFC 6749
/// §4.2.2), and no server receives a fragment. A value in the query is replaced if the name of its parameter suggests a
/// secret, or if the value looks like one. A secret in the path stays.
package enum SecretMask {
    /// The placeholder that replaces a secret in a URL.
    package static let placeholder = "masked"

    /// Returns the URL without its secrets.
    package static func masked(_ url: String) -> String {
        let url = UserInformation.removed(from: String(url.prefix { $0 != "#" }))
        guard let mark = url.firstIndex(of: "?") else { return url }
        return url[...mark] + maskedQuery(url[url.index(after: mark)...])
    }

    private static func maskedQuery(_ query: Substring) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { parameter in
            guard let sign = parameter.firstIndex(of: "=") else {
                return isSecret(value: parameter) ? placeholder : String(parameter)
            }
            let (name, value) = (parameter[..<sign], parameter[parameter.index(after: sign)...])
            return isSecret(name, value) ? "\(name)=\(placeholder)" : String(parameter)
        }
        .joined(separator: "&")
    }

    private static func isSecret(_ name: Substring, _ value: Substring) -> Bool {
        !value.isEmpty && (isSecret(name: name) || !isVersion(name: name) && isSecret(value: value))
    }

    /// Returns whether the name of a parameter or of a header field suggests a secret.
    package static func isSecret(name: Substring) -> Bool {
        let name = name.lowercased().filter { $0.isLetter }
        return secretNames.contains(name) || partsOfSecretNames.contains { name.contains($0) }
    }

    private static let secretNames: Set = [
        "key", "sig", "sid", "pin", "otp", "code", "state", "nonce", "email", "user",
    ]

    private static let partsOfSecretNames = [
        "token", "secret", "passw", "pwd", "apikey", "accesskey", "signature", "credential", "session", "jwt", "auth",
        "hmac",
    ]

    /// Returns true if a parameter selects a version of a file.
    ///
    /// The value of such a parameter is a digest of the file, and not a secret.
    private static func isVersion(name: Substring) -> Bool {
        ["v", "ver", "version", "rev", "revision", "h", "hash", "build"].contains(name.lowercased())
    }

    /// Returns true if a value looks like a token, or is a URL that contains a secret.
    ///
    /// A token is a long text in which digits, lower-case and upper-case letters alternate. They do so in digests,
    /// UUIDs and base64, but not in words.
    private static func isSecret(value: Substring) -> Bool {
        let plain = value.removingPercentEncoding ?? String(value)
        if plain.hasPrefix("eyJ") { return true }
        if plain.contains("?") || plain.contains("#"), masked(plain) != plain { return true }
        guard plain.utf8.count >= 16, plain.utf8.allSatisfy(isOfToken) else { return false }
        let kinds = plain.unicodeScalars.compactMap(Kind.init)
        return zip(kinds, kinds.dropFirst()).count { $0 != $1 } >= 4
    }

    private enum Kind {
        case digit
        case small
        case large

        init?(_ scalar: Unicode.Scalar) {
            switch scalar {
            case "0"..."9": self = .digit
            case "a"..."z": self = .small
            case "A"..."Z": self = .large
            default: return nil
            }
        }
    }

    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "-_+/=.~".utf8.contains(byte)
        }
    }
}
