import LocalSubstitutionCache

/// A character reference of HTML (§13.2.5.72 to §13.2.5.80) in an address or a style.
///
/// Only the names of ASCII characters are known, because these characters decide where an address ends and whether the
/// address is absolute. The name of any other character stays undecoded.
struct CharacterReference {
    let bytes: [UInt8]
    /// The length of the reference in the page, in bytes.
    let length: Int

    /// Parses the reference at the start of `text`, which begins with "&"; nil if the "&" is plain text.
    init?(_ text: ArraySlice<UInt8>, inAttribute: Bool = true) {
        let content = text.dropFirst()
        if content.first == UInt8(ascii: "#") {
            self.init(number: content.dropFirst())
        } else {
            self.init(name: content, inAttribute)
        }
    }

    private init?(number text: ArraySlice<UInt8>) {
        let isHexadecimal = text.first.map { $0 | 0x20 == UInt8(ascii: "x") } ?? false
        let content = text.dropFirst(isHexadecimal ? 1 : 0)
        let digits = content.prefix { isHexadecimal ? $0.isHexDigit : $0.isASCIIDigit }
        guard !digits.isEmpty else { return nil }
        var value: UInt32 = 0
        for digit in digits { value = min(value * (isHexadecimal ? 16 : 10) + UInt32(digit.hexValue), 0x11_0000) }
        let hasSemicolon = content.dropFirst(digits.count).first == UInt8(ascii: ";")
        length = 2 + (isHexadecimal ? 1 : 0) + digits.count + (hasSemicolon ? 1 : 0)
        if 0x80..<0xA0 ~= value { value = Self.windows1252[Int(value - 0x80)] }
        bytes = Array(String(value == 0 ? "\u{FFFD}" : Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
    }

    private init?(name text: ArraySlice<UInt8>, _ inAttribute: Bool) {
        let name = text.prefix(Self.longestName).prefix { $0.isASCIILetter }
        let next = text.dropFirst(name.count).first
        if next == UInt8(ascii: ";"), let character = Self.named[String(decoding: name, as: UTF8.self)] {
            bytes = [UInt8(ascii: character)]
            length = name.count + 2
            return
        }
        // The names in `old` may lack the semicolon. In an attribute, however, the semicolon is required before a
        // letter, a digit or "=", because the "&" may be part of a query.
        guard let old = Self.old.first(where: { name.starts(with: $0.utf8) }), let character = Self.named[old] else {
            return nil
        }
        let follower = text.dropFirst(old.utf8.count).first
        if follower == UInt8(ascii: ";") {
            bytes = [UInt8(ascii: character)]
            length = old.utf8.count + 2
            return
        }
        let isQuery =
            follower.map { $0 == UInt8(ascii: "=") || $0.isASCIILetter || $0.isASCIIDigit } ?? false
        if inAttribute, isQuery { return nil }
        bytes = [UInt8(ascii: character)]
        length = old.utf8.count + 1
    }

    private static let old = ["amp", "AMP", "lt", "LT", "gt", "GT", "quot", "QUOT"]

    private static let named: [String: Unicode.Scalar] = [
        "Tab": "\t", "NewLine": "\n", "excl": "!", "quot": "\"", "QUOT": "\"", "num": "#", "dollar": "$", "percnt": "%",
        "amp": "&", "AMP": "&", "apos": "'", "lpar": "(", "rpar": ")", "ast": "*", "midast": "*", "plus": "+",
        "comma": ",", "period": ".", "sol": "/", "colon": ":", "semi": ";", "lt": "<", "LT": "<", "equals": "=",
        "gt": ">", "GT": ">", "quest": "?", "commat": "@", "lsqb": "[", "lbrack": "[", "bsol": "\\", "rsqb": "]",
        "rbrack": "]", "Hat": "^", "lowbar": "_", "UnderBar": "_", "grave": "`", "DiacriticalGrave": "`", "lcub": "{",
        "lbrace": "{", "verbar": "|", "vert": "|", "VerticalLine": "|", "rcub": "}", "rbrace": "}",
    ]

    private static let longestName = 16

    /// The characters that the numbers from 0x80 to 0x9F represent (§13.2.5.80).
    private static let windows1252: [UInt32] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]
}
