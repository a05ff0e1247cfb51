package import Foundation
package import LocalSubstitutionCache
import SubstitutionChecking

/// The text of a manifest; its excerpts show the lines that the manifest's issues are about.
package struct Excerpts {
    private let text: [UInt8]
    private let lineStarts: [Int]

    /// The size of an excerpt from a long line.
    ///
    /// `window` is the number of bytes that are examined on each side of the position, so that user information is
    /// found whole. `before` and `after` are the numbers of columns that are shown.
    private static let (window, before, after) = (4000, 60, 80)

    package init(_ text: Data) {
        self.text = Array(text)
        var starts = [0]
        for (offset, byte) in self.text.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
        lineStarts = starts
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
        guard !issue.isAboutTheWhole, issue.line <= lineStarts.count else { return nil }
        var start = lineStarts[issue.line - 1]
        let end = issue.line < lineStarts.count ? lineStarts[issue.line] - 1 : text.count
        let place = min(start + issue.column - 1, end)
        // A byte-order mark takes up bytes but no column.
        if start == 0, place >= 3, text.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
        let first = boundary(max(start, place - Self.window), before: place)
        // A NUL byte shows that the line is not text.
        guard !text[first..<min(end, place + Self.window)].contains(0) else { return nil }
        let last = boundary(min(end, place + Self.window), before: end)
        // If the position is in user information, the caret points to its beginning.
        let whole = shown(first..<last)
        let head = Array(zip(shown(first..<place), whole).prefix { $0 == $1 }.map(\.1))
        let tail = Array(whole[head.count...])
        guard !(head + tail).allSatisfy(\.isWhitespace) else { return nil }
        let shownHead = Self.cut(head.reversed(), to: Self.before).reversed()
        let shownTail = Self.cut(tail, to: Self.after)
        let isCutBefore = first > start || shownHead.count < head.count
        let isCutAfter = last < end || shownTail.count < tail.count
        return Line(
            before: (isCutBefore ? "…" : "") + String(shownHead),
            after: String(shownTail) + (isCutAfter ? "…" : "")
        )
    }

    /// Returns the first offset, from `offset` on, at which a UTF-8 character begins.
    private func boundary(_ offset: Int, before end: Int) -> Int {
        var offset = offset
        while offset < end, text[offset] & 0xC0 == 0x80 { offset += 1 }
        return offset
    }

    /// Returns a part of the text in printable form, with a space for each tab.
    private func shown(_ range: Range<Int>) -> [Character] {
        let text = String(decoding: text[range], as: UTF8.self).replacingOccurrences(of: "\t", with: " ")
        return Array(visible(text.hasSuffix("\r") ? String(text.dropLast()) : text))
    }

    private static func cut(_ characters: [Character], to columns: Int) -> [Character] {
        var room = columns
        return Array(
            characters.prefix { character in
                room -= width(character)
                return room >= 0
            }
        )
    }

    /// The number of terminal columns that a character takes up.
    ///
    /// An emoji takes up two columns, and so does a character in a block that Unicode Standard Annex 11 calls wide. A
    /// combining mark takes up none.
    private static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default:
            return 1
        }
    }
}
