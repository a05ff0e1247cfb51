import Foundation
import LocalSubstitutionCache

/// The lines in which a file's text differs from its server's text.
struct TextDifference: Sendable, Equatable {
    enum Line: Sendable, Equatable {
        /// A line that both texts have.
        case same(String)
        /// A line that only the file has.
        case here(String)
        /// A line that only the server's text has.
        case there(String)
        /// A number of lines that both texts have, and that are left out.
        case gap(Int)
    }

    private(set) var lines: [Line] = []
    /// The number of differing lines that are left out.
    private(set) var leftOut = 0

    /// The maximum size of a text, in bytes.
    private static let largest = 2_000_000
    /// The maximum number of lines in ``lines``.
    private static let most = 200
    /// The number of equal lines before and after a difference.
    private static let context = 2
    /// The maximum length of a line, in characters; the rest of a longer line is left out.
    private static let longest = 160
    /// The maximum product of the texts' numbers of lines for which each line is looked for.
    private static let largestSearch = 1_000_000

    /// Compares two texts; nil if one of them is not text, or too large.
    init?(_ file: Data, _ served: Data) {
        guard file.count <= Self.largest, served.count <= Self.largest, let here = Self.lines(of: file),
            let there = Self.lines(of: served)
        else { return nil }
        var shown = Self.withoutDistantLines(Self.withShortLines(Self.merged(here, there)))
        // After the last line feed, there is no further line.
        if shown.last == .same("") { shown.removeLast() }
        lines = Array(shown.prefix(Self.most))
        leftOut = shown.dropFirst(Self.most).count {
            if case .here = $0 { true } else if case .there = $0 { true } else { false }
        }
    }

    /// Returns the lines of a text; nil for binary data.
    private static func lines(of data: Data) -> [String]? {
        if data.contains(0) { return nil }
        // A text that is not UTF-8 is shown as Latin-1, in which every byte is a character.
        guard let text = String(data: data, encoding: .utf8) ?? String(data: data, encoding: .isoLatin1) else {
            return nil
        }
        return text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Returns all lines of both texts, in order.
    private static func merged(_ here: [String], _ there: [String]) -> [Line] {
        let start = zip(here, there).prefix { $0 == $1 }.count
        let rest = min(here.count, there.count) - start
        let end = zip(here.reversed(), there.reversed()).prefix(rest).prefix { $0 == $1 }.count
        let (middle, other) = (Array(here[start..<(here.count - end)]), Array(there[start..<(there.count - end)]))
        var changed: [Line] = []
        if middle.count * other.count <= largestSearch {
            var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
            for change in other.difference(from: middle) {
                switch change {
                case .remove(let offset, _, _): removed.insert(offset)
                case .insert(let offset, _, _): inserted.insert(offset)
                }
            }
            var (i, j) = (0, 0)
            while i < middle.count || j < other.count {
                if i < middle.count, removed.contains(i) {
                    changed.append(.here(middle[i]))
                    i += 1
                } else if j < other.count, inserted.contains(j) {
                    changed.append(.there(other[j]))
                    j += 1
                } else {
                    changed.append(.same(middle[i]))
                    (i, j) = (i + 1, j + 1)
                }
            }
        } else {
            changed = middle.map(Line.here) + other.map(Line.there)
        }
        return here[..<start].map(Line.same) + changed + here.suffix(end).map(Line.same)
    }

    /// Leaves out equal lines that are not near a difference.
    private static func withoutDistantLines(_ all: [Line]) -> [Line] {
        var isNear = [Bool](repeating: false, count: all.count)
        for (index, line) in all.enumerated() {
            if case .same = line { continue }
            for near in max(0, index - context)...min(all.count - 1, index + context) { isNear[near] = true }
        }
        var (result, gap): ([Line], Int) = ([], 0)
        for (line, isNear) in zip(all, isNear) {
            if !isNear {
                gap += 1
                continue
            }
            if gap > 0 { result.append(.gap(gap)) }
            gap = 0
            result.append(line)
        }
        return gap > 0 && !result.isEmpty ? result + [.gap(gap)] : result
    }

    // MARK: - Long lines

    /// Shortens long lines; of a line that was changed, the changed part stays.
    private static func withShortLines(_ all: [Line]) -> [Line] {
        var (result, index): ([Line], Int) = ([], 0)
        while index < all.count {
            let removed = all[index...].prefix { if case .here = $0 { true } else { false } }
            let inserted = all[removed.endIndex...].prefix { if case .there = $0 { true } else { false } }
            guard !removed.isEmpty || !inserted.isEmpty else {
                if case .same(let text) = all[index] { result.append(.same(part(of: text, around: 0))) }
                index += 1
                continue
            }
            let (old, new) = (removed.map(\.text), inserted.map(\.text))
            let starts = zip(old, new).map { zip($0, $1).prefix { $0 == $1 }.count }
            func shortened(_ texts: [String]) -> [String] {
                texts.enumerated().map { part(of: $1, around: $0 < starts.count ? starts[$0] : 0) }
            }
            result += shortened(old).map(Line.here) + shortened(new).map(Line.there)
            index = inserted.endIndex
        }
        return result
    }

    private static func part(of text: String, around start: Int) -> String {
        guard text.utf8.count > longest else { return text }
        let first =
            text.index(text.startIndex, offsetBy: max(0, start - longest / 4), limitedBy: text.endIndex)
            ?? text.endIndex
        let part = text[first...].prefix(longest)
        return (first > text.startIndex ? "…" : "") + part + (part.endIndex < text.endIndex ? "…" : "")
    }
}

extension TextDifference.Line {
    fileprivate var text: String {
        switch self {
        case .same(let text), .here(let text), .there(let text): text
        case .gap: ""
        }
    }
}
