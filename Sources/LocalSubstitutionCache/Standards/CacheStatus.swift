import Foundation

/// The `Cache-Status` header field (RFC 9211); in an inspector, it shows where bytes came from.
package enum CacheStatus {
    private static let cache = "LocalSubstitutionCache"

    /// Returns the value for a response from the bundle; `detail` (§2.8) is the file.
    static func hit(detail: String) -> String {
        "\(cache); hit; detail=\(string(detail))"
    }

    /// Returns the value for a response from `detail` in a network-first load.
    ///
    /// The value has `fwd=bypass` (§2.2), which means that the cache is configured not to handle a request. A
    /// network-first entry is such a configuration.
    ///
    /// - Parameters:
    ///   - status: The status of the network's response; nil if there was no connection (§2.3 has no value for this).
    ///   - detail: The source that answered instead of the network.
    /// - Returns: The field's value.
    package static func forwarded(status: Int?, detail: String) -> String {
        if let status { return "\(cache); fwd=bypass; fwd-status=\(status); detail=\(string(detail))" }
        return "\(cache); fwd=bypass; detail=\(string(detail + " (offline)"))"
    }

    /// Returns the text as an sf-string (RFC 8941 §3.3.3).
    ///
    /// An sf-string holds printable ASCII only, so everything else is percent-encoded, and so are quotation marks and
    /// backslashes.
    private static func string(_ text: String) -> String {
        "\"\(text.addingPercentEncoding(withAllowedCharacters: plain) ?? "?")\""
    }

    private static let plain = CharacterSet(charactersIn: " "..."~").subtracting(CharacterSet(charactersIn: "\"\\"))
}
