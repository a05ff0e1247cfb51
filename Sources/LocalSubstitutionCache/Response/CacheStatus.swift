import Foundation

/// The header field that tells an inspector where bytes came from (RFC 9211).
enum CacheStatus {
    private static let cache = "LocalSubstitutionCache"

    /// The bundle answered; `detail` (§2.8) is the file.
    static func hit(detail: String) -> String {
        "\(cache); hit; detail=\(string(detail))"
    }

    /// The network was asked first, because the library is told to be bypassed (§2.2), and this answered in its place.
    static func forwarded(_ outcome: Outcome, detail: String) -> String {
        switch outcome {
        case .status(let status): "\(cache); fwd=bypass; fwd-status=\(status); detail=\(string(detail))"
        // §2.3 has no word for the next hop that did not answer.
        case .offline: "\(cache); fwd=bypass; detail=\(string(detail + " (offline)"))"
        }
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
