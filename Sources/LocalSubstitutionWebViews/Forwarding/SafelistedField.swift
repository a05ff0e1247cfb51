import LocalSubstitutionCache

/// The CORS-safelisted header fields (Fetch §2.2.2).
///
/// A page may send these fields to another origin without that origin's consent.
enum SafelistedField {
    /// The maximum length of one value, in bytes.
    static let longestValue = 128
    /// The maximum length of all values together, in bytes.
    static let longestValues = 1024

    /// Returns true if a field is CORS-safelisted by its name and the characters of its value.
    ///
    /// This function does not check lengths. The caller does, because only the caller knows which fields a page has
    /// written.
    static func contains(_ name: String, _ value: String) -> Bool {
        switch name.lowercased() {
        case "accept": !value.utf8.contains(where: isUnsafe)
        case "accept-language", "content-language": value.utf8.allSatisfy(isOfLanguages)
        case "content-type":
            !value.utf8.contains(where: isUnsafe) && MediaType(value).map { simpleTypes.contains($0.essence) } == true
        case "range": isSimpleRange(value)
        default: false
        }
    }

    private static let simpleTypes: Set<String> = [
        "application/x-www-form-urlencoded", "multipart/form-data", "text/plain",
    ]

    /// Returns true for a CORS-unsafe request-header byte.
    private static func isUnsafe(_ byte: UInt8) -> Bool {
        byte < 0x20 && byte != 0x09 || byte == 0x7F || #""():<>?@[\]{}"#.utf8.contains(byte)
    }

    private static func isOfLanguages(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || " *,-.;=".utf8.contains(byte)
    }

    /// Returns true for a single range that has a start (Fetch §2.2.2, "simple range header value").
    private static func isSimpleRange(_ value: String) -> Bool {
        guard value.hasPrefix("bytes=") else { return false }
        let bounds = value.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, !bounds[0].isEmpty, bounds.allSatisfy({ $0.utf8.allSatisfy(\.isASCIIDigit) }) else {
            return false
        }
        guard !bounds[1].isEmpty else { return true }
        let (first, last) = (bounds[0].drop { $0 == "0" }, bounds[1].drop { $0 == "0" })
        // Compare the digits as text, because the numbers may have any length.
        return (first.count, String(first)) <= (last.count, String(last))
    }
}
