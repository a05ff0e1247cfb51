import LocalSubstitutionCache

/// A search for the user names and passwords of URLs (the user info of RFC 3986 §3.2.1) in any text.
///
/// User info may hold a password, so no message shows user info. The search finds user info in URLs that are malformed,
/// percent-encoded or escaped as in JSON, in URLs inside other URLs, and in `user:password@host` without a scheme. If a
/// text can be read in two ways, the part that may be a password is hidden. An e-mail address, the path of a URL and a
/// name such as `logo@2x.png` hold no user info.
package enum UserInformation {
    /// One occurrence of user info in a text.
    package struct Occurrence: Equatable {
        /// The bytes that may be a user name and a password.
        package let secret: Range<Int>
        /// The offset after the "@" that follows these bytes.
        let end: Int
        /// True for a user name and password after slashes; a path such as `react:dom@next` has none.
        package var isPassword = false

        fileprivate var secretWithAt: Range<Int> { secret.lowerBound..<end }
    }

    /// Returns the text with "…" instead of each user name and password.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - hidesSecrets: False to show the rest of another secret that holds the "@", as in `time=10:30,password=a@b`.
    /// - Returns: The text without these.
    package static func hidden(in text: String, andSecrets hidesSecrets: Bool = true) -> String {
        replaced(in: text, \.secret, with: "…", secrets: hidesSecrets ? "…" : nil)
    }

    /// Returns the text without user names and passwords, and without the "@" after each.
    ///
    /// All of another secret that holds the "@" is replaced, too.
    package static func removed(from text: String) -> String {
        replaced(in: text, \.secretWithAt, with: "", secrets: SecretScanner.placeholder)
    }

    /// Returns an absolute URL without the user name and password before its host, and otherwise as it is.
    package static func removed(fromAuthorityOf url: String) -> String {
        let bytes = Array(url.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return url
        }
        let authority = bytes[(colon + 3)...].prefix { !"/?#".utf8.contains($0) }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return url }
        return String(decoding: bytes[..<authority.startIndex] + bytes[(at + 1)...], as: UTF8.self)
    }

    /// Returns whether the text holds a user name or password of a URL.
    package static func isPresent(in text: String) -> Bool {
        mayBe(in: text.utf8) && !occurrences(in: Array(text.utf8)).isEmpty
    }

    /// Returns every occurrence in a text, in order.
    ///
    /// Cost: linear in the length of the text; a text without an "@" costs little.
    package static func occurrences(in text: some RandomAccessCollection<UInt8>) -> [Occurrence] {
        guard mayBe(in: text) else { return [] }
        var scanner = UserInformationScanner(Array(text))
        return scanner.places()
    }

    /// Returns whether the text may contain an "@", raw or encoded; without it, a text holds no user info.
    package static func mayBe(in text: some Collection<UInt8>) -> Bool {
        var previous: UInt8 = 0
        for byte in text {
            switch (previous, byte) {
            case (_, UInt8(ascii: "@")): return true
            // `%40`, `\u0040` and `&#x40;`; `&#64;`; `&commat;`; the last bytes of characters that look like "@".
            case (UInt8(ascii: "4"), UInt8(ascii: "0")), (UInt8(ascii: "6"), UInt8(ascii: "4")),
                (UInt8(ascii: "m"), UInt8(ascii: "m")), (0xBC, 0xA0), (0xB9, 0xAB):
                return true
            default: previous = byte
            }
        }
        return false
    }

    private static func replaced(
        in text: String,
        _ range: (Occurrence) -> Range<Int>,
        with replacement: String,
        secrets placeholder: String?
    ) -> String {
        guard mayBe(in: text.utf8) else { return text }
        let bytes = Array(text.utf8)
        let places = occurrences(in: bytes)
        if places.isEmpty { return text }
        // The "@" may be one of another secret: `time=10:30&password=a@b`.
        var secrets = placeholder == nil ? [] : SecretScanner.places(in: text).map(\.range)[...]
        var (result, start): ([UInt8], Int) = ([], 0)
        for place in places where range(place).upperBound > start {
            let range = range(place)
            secrets = secrets.drop { $0.upperBound <= range.lowerBound }
            let outer = secrets.prefix { $0.lowerBound < place.end }.last.flatMap { secret in
                secret.upperBound > range.upperBound && !isPassword(secret, of: place, bytes) ? secret : nil
            }
            result += bytes[start..<max(start, min(range.lowerBound, outer?.lowerBound ?? .max))]
            result += (outer.flatMap { _ in placeholder } ?? replacement).utf8
            start = outer?.upperBound ?? range.upperBound
        }
        return String(decoding: result + bytes[start...], as: UTF8.self)
    }

    /// True if a secret is the password of a user whose name suggests one, as in `//token:a@b`.
    private static func isPassword(_ secret: Range<Int>, of place: Occurrence, _ bytes: [UInt8]) -> Bool {
        guard place.isPassword, secret.lowerBound > place.secret.lowerBound else { return false }
        let colon = bytes[place.secret.lowerBound..<secret.lowerBound].drop(while: \.isUnreserved)
        return colon.first == UInt8(ascii: ":") ? colon.count == 1 : colon.first == UInt8(ascii: "%") && colon.count < 6
    }
}
