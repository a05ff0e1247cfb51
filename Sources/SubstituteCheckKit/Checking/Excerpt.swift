package import Foundation
package import LocalSubstitutionCache

/// The lines of a manifest's text that its issues are about.
package struct Excerpts {
    private let lines: [ArraySlice<UInt8>]

    /// The numbers of columns that are shown on each side of the position.
    private static let (columnsBefore, columnsAfter) = (60, 80)

    package init(_ text: Data) {
        // A byte-order mark takes up bytes but no column.
        let bytes = Array(text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text)
        lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// The line of an issue, divided at the issue's position.
    package struct Line {
        package let before: String
        package let after: String

        package var text: String { before + after }
        /// The spaces that put a caret below the position.
        package var indentation: String { String(repeating: " ", count: before.reduce(0) { $0 + Excerpts.width($1) }) }
    }

    /// Returns the line of an issue; nil if there is no text to show, such as for an issue about the whole file.
    package func line(of issue: ManifestIssue) -> Line? {
        guard !issue.isAboutTheWhole, issue.line <= lines.count else { return nil }
        // The parts are so long that user information in them is found whole. A NUL byte shows that they are not text.
        let (first, rest) = (
            lines[issue.line - 1].prefix(issue.column - 1), lines[issue.line - 1].dropFirst(issue.column - 1)
        )
        let part = first.suffix(4000) + rest.prefix(4000)
        guard !part.contains(0) else { return nil }
        // If the position is in user information, the caret points to its beginning.
        let whole = Self.shown(part)
        let head = Array(zip(Self.shown(first.suffix(4000)), whole).prefix { $0 == $1 }.map(\.1))
        guard !whole.allSatisfy(\.isWhitespace) else { return nil }
        let shownHead = Self.cut(head.reversed(), to: Self.columnsBefore).reversed()
        let shownTail = Self.cut(whole.dropFirst(head.count), to: Self.columnsAfter)
        let isCut = (shownHead.count < head.count, head.count + shownTail.count < whole.count)
        return Line(
            before: (isCut.0 ? "…" : "") + String(shownHead),
            after: String(shownTail) + (isCut.1 ? "…" : "")
        )
    }

    /// Returns a part of the text in printable form, with a space for each tab.
    private static func shown(_ part: ArraySlice<UInt8>) -> [Character] {
        let text = String(decoding: part, as: UTF8.self).replacingOccurrences(of: "\t", with: " ")
        return Array(visible(text.hasSuffix("\r") ? String(text.dropLast()) : text))
    }

    private static func cut(_ characters: some Collection<Character>, to columns: Int) -> [Character] {
        var room = columns
        return Array(
            characters.prefix { character in
                room -= width(character)
                return room >= 0
            }
        )
    }

    /// The number of terminal columns that a character takes up: two for an emoji, and in the writings of East Asia.
    private static func width(_ character: Character) -> Int {
        let scalar = character.unicodeScalars.first ?? " "
        return scalar.properties.isEmojiPresentation || 0x2E80...0xFF60 ~= scalar.value ? 2 : 1
    }
}
