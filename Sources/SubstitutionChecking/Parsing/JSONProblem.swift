package import Foundation
import LocalSubstitutionCache

/// The first thing that is wrong with a JSON text, as a sentence with its place.
package struct JSONProblem {
    /// From 1.
    package let line: Int
    /// From 1, in UTF-8 bytes.
    package let column: Int
    package let message: String

    /// Reads a text strictly (RFC 8259); nil when nothing is wrong with it.
    ///
    /// Deeper nesting than a manifest has is nothing wrong.
    package init?(in text: Data) {
        guard let error = RepairingJSONParser.parse(text).errors.first(where: { $0.kind != .nesting }) else {
            return nil
        }
        let before = text.prefix(error.offset)
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        column = error.offset - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 - text.startIndex } ?? 0) + 1
        message = error.message
    }
}
