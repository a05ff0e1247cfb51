import LocalSubstitutionCache

/// A single slip of the hand in a long word, which makes two names different although one was meant.
///
/// Short words have no typos, and neither have numbers: `en` and `es`, `hero-800` and `hero-1600` are different names.
enum Typo {
    /// A name in lower case, prepared for comparisons.
    struct Name: Sendable {
        fileprivate let letters: [UInt8]
        /// The index of the dot before the extension of a file's name; nil if there is none.
        fileprivate let dot: Int?
        /// The media type of a file's name; nil if it is not known.
        fileprivate let type: MediaType?

        init(_ name: String, isFile: Bool = true) {
            letters = Array(name.utf8.prefix(256))
            dot = isFile ? letters.lastIndex(of: UInt8(ascii: ".")) : nil
            type = isFile ? MediaType(fileName: name) : nil
        }
    }

    /// Returns true if a letter was left out, added, exchanged, or swapped with the next one.
    ///
    /// Cost: linear in the length of the names.
    static func separates(_ first: Name, _ second: Name) -> Bool {
        let (a, b) = (first.letters, second.letters)
        guard abs(a.count - b.count) <= 1, a != b else { return false }
        let start = zip(a, b).prefix { $0 == $1 }.count
        let end = zip(a.dropFirst(start).reversed(), b.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        let (from, to) = (a[start..<(a.count - end)], b[start..<(b.count - end)])
        guard (from + to).allSatisfy(isLetter) else { return false }
        let isSwap = from.count == 2 && from.elementsEqual(to.reversed())
        guard isSwap || max(from.count, to.count) == 1 else { return false }
        // A typo in the extension does not lead to the extension of another type.
        if let dot = first.dot, let other = second.dot, start > dot, start > other {
            return dot >= 3 && (first.type == nil || second.type.flatMap { first.type?.isSame(as: $0) } == true)
        }
        let lengths = [a, b].map { word(in: $0, around: start..<($0.count - end)) }
        if isSwap { return lengths[0] >= 4 }
        if from.count == to.count { return lengths[0] >= 7 }
        // A word and its plural are different names.
        let isPlural = (from + to).elementsEqual([UInt8(ascii: "s")]) && !(end > 0 && isLetter(a[a.count - end]))
        return !isPlural && max(lengths[0], lengths[1]) >= 6
    }

    /// Returns the length of the word that contains a range, or touches it.
    private static func word(in name: [UInt8], around range: Range<Int>) -> Int {
        let before = name[..<range.lowerBound].reversed().prefix(while: isLetter).count
        return before + range.count + name[range.upperBound...].prefix(while: isLetter).count
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte.isASCIILetter || byte >= 0x80 }
}
