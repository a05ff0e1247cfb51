/// Returns `text` in quotation marks, safe to print in a message.
///
/// The text may be from a manifest, a file name or a request. Characters that are invisible or change the direction of
/// text are written as `\u{…}`, so that a name cannot rewrite the line in which it is printed. The text is cut after
/// 200 scalars, unless `limit` is given. The user name and password of a URL are hidden. In a part of a URL, they might
/// not be found, so pass the whole URL.
package func quoted(_ text: String, limit: Int = 200) -> String {
    "\"" + shortened(text, limit: limit) + "\""
}

/// Returns the same text as `quoted(_:limit:)`, without quotation marks.
package func shortened(_ text: String, limit: Int = 200) -> String {
    let text = UserInformation.hidden(in: text)
    let start = text.unicodeScalars.prefix(limit)
    return printable(String(start)) + (start.endIndex == text.endIndex ? "" : "…")
}

/// Returns the text as `quoted(_:limit:)` shows it, but not cut, and without quotation marks.
package func visible(_ text: some StringProtocol) -> String { printable(UserInformation.hidden(in: String(text))) }

/// Returns the text with invisible characters escaped; user names and passwords in it are not hidden.
///
/// This is for the content of a file, not for messages.
package func printable(_ text: some StringProtocol) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return String(text) }
    var result = String.UnicodeScalarView()
    var isAfterEmoji = false
    for scalar in text.unicodeScalars {
        // In an emoji of several scalars, the invisible scalars are part of what the user sees.
        let joinsEmoji = isAfterEmoji && (scalar == "\u{200D}" || scalar == "\u{FE0F}")
        if scalar.isInvisible, !joinsEmoji {
            result.append(contentsOf: codePoint(String(scalar)).unicodeScalars)
        } else {
            result.append(scalar)
        }
        isAfterEmoji = joinsEmoji || scalar.value > 0x7F && scalar.properties.isEmoji
    }
    return String(result)
}

extension Unicode.Scalar {
    /// True for a scalar that is invisible on a screen, or that changes how other scalars are shown.
    ///
    /// These are controls, format characters, all spaces but the plain one, and the characters that Unicode ignores by
    /// default (UAX 44, Default_Ignorable_Code_Point).
    package var isInvisible: Bool {
        if value < 0x7F { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: return true
        default: break
        }
        // U+2800 is a braille pattern without dots.
        return properties.isDefaultIgnorableCodePoint || value == 0x2800
    }
}

/// Returns the scalars of `text` as `\u{…}`.
package func codePoint(_ text: String) -> String {
    text.unicodeScalars.map { "\\u{\(String($0.value, radix: 16, uppercase: true))}" }.joined()
}

/// Returns the candidate that was probably meant by `name`; nil if none is close enough.
///
/// The measure is the optimal string alignment distance: the number of letters to insert, delete, replace or swap with
/// their neighbour. A candidate is close enough if its distance is at most 1, or at most a third of the length of
/// `name`.
///
/// Cost: linear in the length of each candidate, except for a candidate with nearly the same letters as `name`. For
/// such a candidate, the cost is the product of the two lengths. The search stops when the sum of these products
/// reaches a million.
package func suggestion(for name: String, among candidates: some Sequence<String>) -> String? {
    let letters = Array(name.lowercased().utf8.prefix(256))
    let limit = max(1, letters.count / 3)
    var best: (distance: Int, name: String)?
    var stepsLeft = 1_000_000
    for candidate in candidates {
        let other = Array(candidate.lowercased().utf8.prefix(256))
        guard abs(other.count - letters.count) <= limit, differingLetters(letters, other) <= limit else { continue }
        stepsLeft -= letters.count * other.count
        guard stepsLeft > 0 else { break }
        let distance = editDistance(letters, other)
        guard distance <= limit else { continue }
        // Of two equally close candidates, take the first in alphabetical order, so that messages do not change by
        // chance.
        if let best, (best.distance, best.name) <= (distance, candidate) { continue }
        best = (distance, candidate)
    }
    return best?.name
}

/// Returns the number of letters that only the first text has, or that only the second has, whichever is larger.
///
/// Positions do not matter. The number never exceeds the edit distance.
private func differingLetters(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var counts = [Int](repeating: 0, count: 256)
    for letter in first { counts[Int(letter)] += 1 }
    for letter in second { counts[Int(letter)] -= 1 }
    let (more, fewer) = counts.reduce(into: (0, 0)) { $1 > 0 ? ($0.0 += $1) : ($0.1 -= $1) }
    return max(more, fewer)
}

private func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...second.count)
    for i in first.indices {
        var row = [i + 1]
        for j in second.indices {
            var distance = min(previous[j + 1] + 1, row[j] + 1, previous[j] + (first[i] == second[j] ? 0 : 1))
            if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                distance = min(distance, beforePrevious[j - 1] + 1)
            }
            row.append(distance)
        }
        (beforePrevious, previous) = (previous, row)
    }
    return previous[second.count]
}
