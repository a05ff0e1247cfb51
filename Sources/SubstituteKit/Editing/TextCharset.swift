import Foundation
import LocalSubstitutionCache
import SubstituteCheckKit

/// The encoding of a text that a server has sent.
enum TextCharset: Equatable {
    /// UTF-8, or a text that UTF-8 decodes in the same way.
    case utf8
    /// Another encoding, by its label in the WHATWG Encoding Standard (§4.2).
    case other(String)
    /// The text is not UTF-8, and nothing shows what it is.
    case unknown

    /// Finds the encoding of a text: the one that the server names, or else UTF-8 if the text is in UTF-8.
    init(of text: Data, as type: MediaType) {
        if let label = type.charset?.lowercased() {
            self = ["utf-8", "utf8", "us-ascii", "unicode-1-1-utf-8"].contains(label) ? .utf8 : .other(label)
        } else {
            self = String(data: text, encoding: .utf8) == nil ? .unknown : .utf8
        }
    }
}
