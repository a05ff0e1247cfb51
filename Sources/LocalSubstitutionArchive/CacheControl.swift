import LocalSubstitutionCache

/// The directives of a `Cache-Control` field (RFC 9111 §5.2), for which Foundation has no parser.
package enum CacheControl {
    /// Returns whether a field has one of the directives, or is malformed, because it may have been meant to have one.
    package static func has(_ names: Set<String>, _ field: String) -> Bool {
        directives(field).map { !names.isDisjoint(with: $0) } ?? true
    }

    /// Returns the directives' names in lower case; nil if the field is not a list of directives (RFC 9110 §5.6.1).
    package static func directives(_ field: String) -> [String]? {
        var rest = Array(field.utf8)[...]
        var names: [String] = []
        while true {
            rest = rest.drop { $0 == UInt8(ascii: ",") || $0.isBlank }
            guard !rest.isEmpty else { return names }
            let name = rest.prefix(while: \.isTokenCharacter)
            rest = rest.dropFirst(name.count)
            guard !name.isEmpty, skipArgument(&rest) else { return nil }
            names.append(String(decoding: name, as: UTF8.self).lowercased())
            rest = rest.drop(while: \.isBlank)
            guard rest.first ?? UInt8(ascii: ",") == UInt8(ascii: ",") else { return nil }
        }
    }

    /// Skips the argument, if there is one; returns false if it is malformed.
    ///
    /// An argument is `=`, followed by a token or by a quoted string.
    private static func skipArgument(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: "=") else { return true }
        rest = rest.dropFirst()
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix(while: \.isTokenCharacter)
            rest = rest.dropFirst(token.count)
            return !token.isEmpty
        }
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\") { _ = rest.popFirst() }
        }
        return false
    }
}

extension UInt8 {
    /// True for a space or a tab, `OWS` of RFC 9110 §5.6.3.
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
