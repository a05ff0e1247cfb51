import Foundation

/// The result of a request to the network, before the app has received any byte.
package enum NetworkOutcome: Sendable {
    /// The server sent a head with this status.
    case status(Int)
    /// There is no connection, or it broke.
    case offline
    /// No head came within this number of seconds.
    case silence(seconds: Int)
}

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
    ///   - outcome: What the network did. Only for a status, RFC 9211 has a parameter (§2.3).
    ///   - detail: The source that answered instead of the network.
    /// - Returns: The field's value.
    package static func forwarded(_ outcome: NetworkOutcome, detail: String) -> String {
        let (status, reason) =
            switch outcome {
            case .status(let status): (" fwd-status=\(status);", "")
            case .offline: ("", " (offline)")
            case .silence(let seconds): ("", " (after \(seconds) s)")
            }
        return "\(cache); fwd=bypass;\(status) detail=\(string(detail + reason))"
    }

    /// Returns the text as an sf-string (RFC 8941 §3.3.3).
    ///
    /// An sf-string holds printable ASCII only, so everything else is percent-encoded, and so are quotation marks and
    /// backslashes.
    private static func string(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy(\.isPathCharacter)
        return "\"\(isPlain ? text : text.addingPercentEncoding(withAllowedCharacters: plain) ?? "?")\""
    }

    private static let plain = CharacterSet(charactersIn: " "..."~").subtracting(CharacterSet(charactersIn: "\"\\"))
}
