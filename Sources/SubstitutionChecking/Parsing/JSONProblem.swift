package import Foundation
import LocalSubstitutionCache

/// The first mistake in a JSON text, as a sentence with its line and column.
package struct JSONProblem {
    package let offset: Int
    /// The line, from 1.
    package let line: Int
    /// The column, from 1, in UTF-8 bytes.
    package let column: Int
    package let message: String

    /// Checks a text strictly (RFC 8259); nil if the text has no mistake.
    ///
    /// Nesting that is too deep for a manifest does not count as a mistake.
    package init?(in text: Data) {
        guard let error = RepairingJSONParser.parse(text).errors.first(where: { $0.kind != .nesting }) else {
            return nil
        }
        // Only a manifest has comments with a name.
        self.init(error.message.components(separatedBy: ", or write \"$comment\"")[0], at: error.offset, in: text)
    }

    /// Creates the problem at an offset of a text.
    package init(_ message: String, at offset: Int, in text: Data) {
        (line, column) = SourceText(name: "", bytes: text).position(of: offset)
        (self.message, self.offset) = (message, offset)
    }
}
