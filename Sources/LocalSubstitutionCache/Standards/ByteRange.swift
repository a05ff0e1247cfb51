/// A `Range` header's single byte range (RFC 9110 §14.1.2 and §14.2).
enum ByteRange {
    /// The bytes of a representation that `header` asks for, or nil when the whole should be sent.
    ///
    /// Nil stands for everything a server may answer with the whole: another unit, several ranges, a range that is
    /// not well formed or lies beyond the end, and an empty representation. Numbers may have any length.
    ///
    /// - Parameters:
    ///   - header: The value of `Range`.
    ///   - length: The length of the representation in bytes.
    /// - Returns: Offsets from 0, never empty.
    static func requested(by header: String, length: Int) -> Range<Int>? {
        // All names of range units are case-insensitive (§14.1).
        guard let equals = header.firstIndex(of: "="), header[..<equals].lowercased() == "bytes" else { return nil }
        // A recipient ignores empty elements of a list (§5.6.1.2).
        let specifications = header[header.index(after: equals)...].utf8.split(separator: UInt8(ascii: ","))
            .map(trimmed).filter { !$0.isEmpty }
        guard specifications.count == 1, let specification = specifications.first,
            let hyphen = specification.firstIndex(of: UInt8(ascii: "-"))
        else { return nil }
        let first = specification[..<hyphen]
        let last = specification[specification.index(after: hyphen)...]
        guard (first.isEmpty || number(first) != nil) && (last.isEmpty || number(last) != nil) else { return nil }
        switch (number(first), number(last)) {
        case (let first?, nil) where first < length:
            return first..<length
        case (let first?, let last?) where first <= last && first < length:
            return first..<min(last, length - 1) + 1
        case (nil, let suffix?) where suffix > 0 && length > 0:
            return max(0, length - suffix)..<length
        default:
            return nil
        }
    }

    /// The value of `1*DIGIT`, or `Int.max` when it is larger; nil for anything else.
    private static func number(_ digits: Substring.UTF8View) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int(Substring(digits)) ?? .max
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let start = text.drop(while: isSpace)
        guard let end = start.lastIndex(where: { !isSpace($0) }) else { return start[start.endIndex...] }
        return start[...end]
    }
}
