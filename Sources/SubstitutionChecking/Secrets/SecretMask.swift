package import Foundation
import LocalSubstitutionCache
import SubstitutionStandards

/// A mask for possible secrets in the URLs and texts of a recording.
///
/// The user info (user name and password) and the fragment of a URL are removed. OAuth returns tokens in fragments (RFC
/// 6749 §4.2.2), and no server receives a fragment. All that ``SecretScanner`` finds is replaced. A secret in the path
/// stays if neither its name nor its form shows it. All that the designers' tool prints passes through ``shown(_:)``.
package enum SecretMask {
    /// The placeholder that replaces a secret.
    package static let placeholder = SecretScanner.placeholder

    /// Returns the URL without its secrets.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - isCertain: True to keep values that are only random, and those whose names have other meanings, too.
    /// - Returns: The URL, without its fragment.
    package static func masked(_ url: String, onlyIfCertain isCertain: Bool = false) -> String {
        replaced(in: withoutFragment(url), isURL: true) { $0.isCertain || !isCertain }
    }

    /// Returns whether a URL has a secret that is masked; the fragment does not count.
    package static func isPresent(in url: URL?) -> Bool {
        url.map { masked($0.absoluteString) != withoutFragment($0.absoluteString) } ?? false
    }

    /// Returns whether a URL has a secret that is certain; the fragment does not count.
    package static func isCertain(in url: String) -> Bool {
        masked(url, onlyIfCertain: true) != withoutFragment(url)
    }

    /// Returns whether a URL of a recording lacks the secret of a parameter.
    ///
    /// If so, it is not the URL that was loaded. A secret of the path is not found: a page may have the name `masked`.
    package static func isMasked(_ url: String) -> Bool { url.contains(mark) }

    nonisolated(unsafe) private static let mark =
        /(?:[=?&;,{\[]|%(?:25)*(?:3[Dd]|[57][Bb]))masked(?:[&;,\/?}\]]|%(?:25)*[57][Dd]|$)/

    /// Returns a text, such as a sentence or a header field, without its secrets.
    package static func masked(text: String) -> String {
        replaced(in: text, isURL: false) { _ in true }
    }

    static func withoutFragment(_ url: String) -> String {
        // A combining mark after "#" makes it another `Character`.
        String(decoding: url.utf8.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
    }

    private static func replaced(in text: String, isURL: Bool, where isHidden: (SecretScanner.Place) -> Bool) -> String
    {
        let text = UserInformation.removed(from: text)
        return replaced(SecretScanner.places(in: text, isURL: isURL).filter(isHidden).map(\.range), in: text)
    }

    private static func replaced(_ places: [Range<Int>], in text: String) -> String {
        guard !places.isEmpty else { return text }
        let bytes = Array(text.utf8)
        var (result, start): ([UInt8], Int) = ([], 0)
        for place in places {
            result += bytes[start..<place.lowerBound] + placeholder.utf8
            start = place.upperBound
        }
        return String(decoding: result + bytes[start...], as: UTF8.self)
    }

    // MARK: - Messages

    /// Returns a finished message of the designers' tool without the secrets that are certain.
    ///
    /// It has "…" instead of each user name and password. A command that the message tells its reader to type keeps
    /// the other secrets; otherwise, it would not work.
    ///
    /// - Parameters:
    ///   - message: A whole text: in a part of a URL, a password might not be found.
    ///   - isOwn: True if the message is about the user's own manifest and files, and so keeps the other secrets.
    /// - Returns: The message.
    package static func shown(_ message: String, isOwn: Bool = false) -> String {
        let message = UserInformation.hidden(in: message, andSecrets: !isOwn)
        if isOwn { return message }
        let places = SecretScanner.places(in: message).filter { $0.isCertain || $0.isObject }
        guard !places.isEmpty else { return message }
        let bytes = Array(message.utf8)
        var typed = message.matches(of: typed).map { match in
            let start = message.utf8.distance(from: message.startIndex, to: match.startIndex)
            return start..<start + match.utf8.count
        }[...]
        let hidden = places.compactMap { place -> Range<Int>? in
            typed = typed.drop { $0.upperBound <= place.range.lowerBound }
            // A short text that only its beginning makes a secret may be a name, as in `/SG.html`.
            let isName =
                place.range.count < 12 && SecretWords.suggestion(of: place.name) == nil
                && !SecretWords.schemes.contains(place.name.lowercased())
                && bytes[..<place.range.lowerBound].last.map { "/\" ".utf8.contains($0) } ?? true
                || isEndOfURL(place.name, in: bytes[..<place.range.lowerBound])
                    && !SecretScanner.places(in: String(decoding: bytes[place.range], as: UTF8.self))
                        .contains(where: \.isCertain)
            guard !isName, typed.first?.contains(place.range.lowerBound) != true else { return nil }
            // The punctuation of the sentence around a URL follows its last value.
            let last = bytes[place.range].lastIndex { !",.;:)".utf8.contains($0) } ?? place.range.lowerBound
            return place.range.lowerBound..<last + 1
        }
        return replaced(hidden, in: message)
    }

    /// True if a name is the end of a URL, which a colon of the sentence follows: `https://h/session: 2 files`.
    private static func isEndOfURL(_ name: String, in text: ArraySlice<UInt8>) -> Bool {
        !name.isEmpty
            && [": ", ": \"", "\":", "\": ", "\":\"", "\": \""].contains { colon in
                let ending = "/\(name)\(colon)".utf8
                return text.suffix(ending.count).elementsEqual(ending)
            }
    }

    nonisolated(unsafe) private static let typed =
        /substitute(?:-edit)? (?:add|browse|check|explain|extension|init|preview|update|verify) [^"\n]*/
}
