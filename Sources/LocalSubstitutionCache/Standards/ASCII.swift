// The character classes in the grammars of JSON (RFC 8259), URLs (RFC 3986 §2) and HTTP (RFC 9110 §5.6.2).
// `Character` has similar properties, but they cover all of Unicode: "٣" is a number in Unicode, but not
// in these grammars.
extension String {
    /// Returns whether the text equals `other`, ignoring the case of ASCII letters.
    ///
    /// `other` must be in lower case.
    package func isASCIICaseInsensitiveEqual(to other: StaticString) -> Bool {
        utf8.count == other.utf8CodeUnitCount
            && other.withUTF8Buffer { other in zip(utf8, other).allSatisfy { $0.asciiLowercased == $1 } }
    }
}

extension UInt8 {
    /// Returns whether the byte is one of the characters, which must be ASCII.
    func isOne(of characters: StaticString) -> Bool { characters.withUTF8Buffer { $0.contains(self) } }

    package var isASCIIDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    package var isASCIILetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }

    package var isHexDigit: Bool { isASCIIDigit || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self | 0x20 }

    /// The value of a hexadecimal digit; meaningless for anything else.
    package var hexValue: UInt8 { isASCIIDigit ? self - UInt8(ascii: "0") : (self | 0x20) - UInt8(ascii: "a") + 10 }

    /// True for a space and a tab, of which `OWS` of RFC 9110 §5.6.3 consists.
    var isBlank: Bool { isOne(of: " \t") }

    package var isControl: Bool { self < 0x20 || self == 0x7F }

    /// True for `unreserved` of RFC 3986 §2.3.
    package var isUnreserved: Bool { isASCIILetter || isASCIIDigit || isOne(of: "-._~") }

    /// True for `sub-delims` of RFC 3986 §2.2.
    var isSubDelimiter: Bool { isOne(of: "!$&'()*+,;=") }

    /// True for `sub-delims`, ":" and "@".
    ///
    /// A path may contain these characters raw (RFC 3986 §3.3), but many pages percent-encode them. Both spellings have
    /// the same meaning.
    package var isOftenEncoded: Bool { isSubDelimiter || isOne(of: ":@") }

    /// True for "/" and for `pchar` of RFC 3986 §3.3, except percent-encoding.
    package var isPathCharacter: Bool { isUnreserved || isSubDelimiter || isOne(of: ":@/") }

    /// True for the characters that most host names consist of: lower-case letters, digits, "-" and ".".
    package var isPlainHostCharacter: Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= self || isASCIIDigit || isOne(of: "-.")
    }

    /// True for `tchar` of RFC 9110 §5.6.2.
    package var isTokenCharacter: Bool { isASCIILetter || isASCIIDigit || isOne(of: "!#$%&'*+-.^_`|~") }

    package var asciiLowercased: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}
