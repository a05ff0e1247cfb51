/// Text from a manifest, a file name or a request, safe to print in a message.
///
/// In quotation marks; what nobody would see, and what changes the direction of text, is written as `\u{…}`, so that a
/// name cannot rewrite the line it is printed in. Cut after 200 scalars, unless another limit is given. The user
/// information of URLs is hidden, so hand in the whole URL, not a part of it.
package func quoted(_ text: String, limit: Int = 200) -> String {
    "\"" + shortened(text, limit: limit) + "\""
}

/// The same without quotation marks.
package func shortened(_ text: String, limit: Int = 200) -> String {
    let text = UserInformation.hidden(in: text)
    let start = text.unicodeScalars.prefix(limit)
    return printable(String(start)) + (start.endIndex == text.endIndex ? "" : "…")
}

/// The same without quotation marks, and whole.
package func visible(_ text: some StringProtocol) -> String { printable(UserInformation.hidden(in: String(text))) }

/// The same with user information, for what is no message: the content of a file.
package func printable(_ text: some StringProtocol) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return String(text) }
    var result = String.UnicodeScalarView()
    var isAfterEmoji = false
    for scalar in text.unicodeScalars {
        // Inside an emoji of several scalars, the invisible ones are part of what is seen.
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
    /// Whether nobody sees it on a screen, or whether it changes how others are shown: controls, formats, spaces other
    /// than the plain one, and what Unicode says is to be ignored by default (UAX 44, Default_Ignorable_Code_Point).
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

/// The scalars of `text` as `\u{…}`.
package func codePoint(_ text: String) -> String {
    text.unicodeScalars.map { "\\u{\(String($0.value, radix: 16, uppercase: true))}" }.joined()
}

/// The known name that was probably meant, if one is near enough.
///
/// The measure is the number of letters to insert, delete, replace or swap with their neighbour (optimal string
/// alignment distance); near enough is a third of the length. Cost: the length of each candidate, and the product of
/// the lengths for those that have nearly the same letters, of which a few thousand are looked at.
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
        // Of two that are equally near the first in order of the alphabet, so that messages do not change by chance.
        if let best, (best.distance, best.name) <= (distance, candidate) { continue }
        best = (distance, candidate)
    }
    return best?.name
}

/// How many letters one text has and the other lacks, in any position; never more than the edit distance.
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
