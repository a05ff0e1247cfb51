import Foundation
import LocalSubstitutionCache

/// The line of a manifest that an issue stands in, and where in it.
struct Excerpt {
    let line: String
    /// What stands before the caret.
    let indentation: String

    /// How much of a long line is shown, before and after the place, in characters.
    private static let (before, after) = (60, 40)

    /// Nil when the issue is not about a place in the text.
    init?(of issue: ManifestIssue, in text: Data) {
        guard !issue.isAboutTheWhole else { return nil }
        let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: issue.line, omittingEmptySubsequences: false)
        guard lines.count >= issue.line else { return nil }
        let bytes = lines[issue.line - 1]
        let start = Self.shown(bytes.prefix(issue.column - 1))
        let end = Self.shown(bytes.dropFirst(issue.column - 1))
        guard !(start + end).allSatisfy(\.isWhitespace) else { return nil }
        let shownStart = start.count > Self.before ? "…" + start.suffix(Self.before) : start
        let shownEnd = end.count > Self.after ? end.prefix(Self.after) + "…" : end
        line = shownStart + shownEnd
        indentation = String(repeating: " ", count: shownStart.count)
    }

    /// Printable, with a space for each tab, so that the caret stands below its place.
    private static func shown(_ bytes: Data) -> String {
        let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\t", with: " ")
        return visible(text.hasSuffix("\r") ? String(text.dropLast()) : text)
    }
}
