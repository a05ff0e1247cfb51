import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit
import SubstitutionChecking

/// The encoding of a text that a server has sent: the one that a browser uses.
enum TextCharset: Equatable {
    /// UTF-8, or a text that UTF-8 decodes in the same way.
    case utf8
    /// Another encoding, by its label in the WHATWG Encoding Standard (§4.2).
    case other(String)
    /// The text is not UTF-8, and nothing shows what it is.
    case unknown

    /// Finds the encoding of a text.
    ///
    /// The order is that of browsers: byte-order mark, header field, then the declaration in the text (HTML §13.2.3.2,
    /// CSS Syntax §3.2). Browsers guess the encoding of a text without a declaration; so does this initialiser.
    init(of text: Data, as type: MediaType) {
        self =
            Self.mark(text) ?? type.charset.map(Self.init(label:)) ?? Self.declared(in: text, as: type)
            ?? Self.guessed(text)
    }

    private init(label: String) {
        self = ["utf-8", "utf8", "us-ascii", "unicode-1-1-utf-8"].contains(label.lowercased()) ? .utf8 : .other(label)
    }

    private static func mark(_ text: Data) -> TextCharset? {
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if text.starts(with: [0xFF, 0xFE]) { return .other("utf-16le") }
        return text.starts(with: [0xFE, 0xFF]) ? .other("utf-16be") : nil
    }

    private static func declared(in text: Data, as type: MediaType) -> TextCharset? {
        let head = String(decoding: text.prefix(1024), as: UTF8.self)
        let label: Substring? =
            if type.isHTML {
                head.replacing(comment, with: "").firstMatch(of: metaCharset)?.1
            } else if type.essence == "text/css" {
                head.prefixMatch(of: styleCharset)?.1
            } else {
                type.isXML ? head.firstMatch(of: declaration)?.1 : nil
            }
        guard let label = label?.lowercased() else { return nil }
        // A text in which these ASCII characters could be read is not UTF-16, whatever it declares.
        if label.hasPrefix("utf-16") { return .utf8 }
        // An ASCII text is the same in the other encodings, except for this one.
        return text.allSatisfy { $0 < 0x80 } && label != "iso-2022-jp" ? .utf8 : Self(label: label)
    }

    nonisolated(unsafe) private static let comment = /<!--.*?-->/.dotMatchesNewlines()
    nonisolated(unsafe) private static let metaCharset =
        /<meta[\s\/][^>]*charset\s*=\s*["']?\s*([A-Za-z0-9_:.\-]+)/.ignoresCase()
    nonisolated(unsafe) private static let declaration =
        /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9_:.\-]+)/
    nonisolated(unsafe) private static let styleCharset = /@charset "([A-Za-z0-9_:.\-]+)";/

    /// True for a text in UTF-8 whose XML declaration names another encoding.
    static func isMisdeclared(_ text: Data) -> Bool {
        guard let xml = MediaType("text/xml") else { return false }
        return declared(in: text, as: xml).map { $0 != .utf8 } ?? false
    }

    private static func guessed(_ text: Data) -> TextCharset {
        guard String(data: text, encoding: .utf8) == nil, let guess = EncodingGuess(text.prefix(EncodingGuess.length))
        else { return .utf8 }
        return guess.charset.map { .other($0) } ?? .unknown
    }
}
