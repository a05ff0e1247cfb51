import Foundation

/// The header field that tells an inspector where bytes came from (RFC 9211).
enum CacheStatus {
    private static let cache = "LocalSubstitutionCache"

    /// The bundle answered; `detail` (§2.8) is the file.
    static func hit(detail: String) -> String {
        "\(cache); hit; detail=\(string(detail))"
    }

    /// The network was asked first, because the library is configured to be bypassed (§2.2); `detail` answered instead.
    ///
    /// - Parameters:
    ///   - status: What the network answered; nil when there was no connection, for which §2.3 has no word.
    ///   - detail: What answered.
    /// - Returns: The field's value.
    static func forwarded(status: Int?, detail: String) -> String {
        if let status { return "\(cache); fwd=bypass; fwd-status=\(status); detail=\(string(detail))" }
        return "\(cache); fwd=bypass; detail=\(string(detail + " (offline)"))"
    }

    /// An sf-string (RFC 8941 §3.3.3) holds printable ASCII; the rest is percent-encoded.
    private static func string(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        if isPlain { return "\"\(text)\"" }
        let scalars = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case " "..."~": String(scalar)
            default: String(scalar).addingPercentEncoding(withAllowedCharacters: []) ?? "?"
            }
        }
        return "\"\(scalars.joined())\""
    }
}
