import Foundation
import LocalSubstitutionCache

/// A message that a server or a storage service sends instead of a file.
struct ErrorMessage {
    /// The part of the message by which a user recognises it.
    let text: String

    /// Finds the message in a file; nil if the file has other content.
    init?(_ file: FileSample) {
        guard let text = Self.storageError(file.beginning) ?? Self.sentence(file) ?? Self.json(file) else { return nil }
        self.text = text
    }

    /// Returns the code in the XML of S3 and similar services: `<Error><Code>AccessDenied</Code>`.
    ///
    /// Reference: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
    private static func storageError(_ text: Substring) -> String? {
        text.prefixMatch(of: storageErrorStart).map { String($0.2) }
    }

    nonisolated(unsafe) private static let storageErrorStart = /(<\?xml[^>]*\?>\s*)?<Error>\s*<Code>([A-Za-z]+)<\/Code>/

    /// Returns a message that is the only line of a file, such as `404: Not Found`.
    ///
    /// Only stylesheets, scripts and files of types with a known format, such as images, are examined.
    private static func sentence(_ file: FileSample) -> String? {
        guard file.isCode || file.expected != nil, file.substitution.size < 200 else { return nil }
        let line = file.beginning.trimmingCharacters(in: .whitespacesAndNewlines)
        return line.contains("\n") ? nil : line.wholeMatch(of: knownSentence).map { _ in line }
    }

    nonisolated(unsafe) private static let knownSentence =
        /(error:? ?)?([45][0-9]{2})?[:\- ]*(not found|forbidden|access denied|accessdenied|unauthorized|bad gateway|bad request|internal server error|service unavailable|gateway time-?out|cannot get \/\S*|no such (file|key|bucket).*|(couldn.t|could not) find the requested file.*)[.!]*/
        .ignoresCase()

    /// Returns the beginning of an error that a server sent as JSON, such as `{"message":"Not Found"}`.
    ///
    /// Only stylesheets, scripts and files of types with a known format, such as images, are examined.
    private static func json(_ file: FileSample) -> String? {
        guard file.isCode || file.expected != nil, file.substitution.size < 2000,
            file.beginning.prefixMatch(of: messageStart) != nil
        else { return nil }
        return String(file.beginning.prefix(60)).split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    nonisolated(unsafe) private static let messageStart =
        /\{\s*"(message|error|errors|status|statusCode|code|detail|success)"\s*:/
}

extension FileSample {
    /// The name of the tag with which the text begins, after any comments; nil if it begins with no tag.
    ///
    /// A stylesheet or a script may begin with an HTML comment (CSS Syntax §3.1, ECMA 262 §B.1.1).
    var firstTag: String? {
        var rest = beginning
        while rest.hasPrefix("<!--") {
            guard let end = rest.range(of: "-->") else { return nil }
            rest = rest[end.upperBound...].drop(while: \.isWhitespace)
        }
        return rest.prefixMatch(of: Self.tagStart).map { String($0.1) }
    }

    nonisolated(unsafe) private static let tagStart = /<([?!]?[A-Za-z][A-Za-z0-9:\-]*)/
}
