package import Foundation
import LocalSubstitutionCache
import SubstitutionStandards

/// A mask for possible secrets in the URLs and texts of a recording.
///
/// The user info (user name and password) and the fragment of a URL are removed. OAuth returns tokens in fragments (RFC
/// 6749 §4.2.2), and no server receives a fragment. All that ``SecretScanner`` finds is replaced. A secret in the path
/// stays if neither its name nor its form shows it.
package enum SecretMask {
    /// The placeholder that replaces a secret.
    package static let placeholder = "masked"

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

    /// Returns whether a URL of a recording lacks a secret, so that it is not the URL that was loaded.
    package static func isMasked(_ url: String) -> Bool { url.contains(mark) }

    nonisolated(unsafe) private static let mark = /(?:[=?&;,]|%(?:25)*3[Dd])masked(?:[&;,\/?]|$)/

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
        let places = SecretScanner.places(in: text, isURL: isURL).filter(isHidden)
        guard !places.isEmpty else { return text }
        let bytes = Array(text.utf8)
        var (result, start): ([UInt8], Int) = ([], 0)
        for place in places {
            result += bytes[start..<place.range.lowerBound] + placeholder.utf8
            start = place.range.upperBound
        }
        return String(decoding: result + bytes[start...], as: UTF8.self)
    }
}
