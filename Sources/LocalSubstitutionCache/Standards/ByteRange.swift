/// The single byte range of a `Range` header field (RFC 9110 §14.1.2 and §14.2).
package enum ByteRange: Equatable {
    /// The whole representation.
    ///
    /// The field is ignored, because its unit is not bytes, it has several ranges, it is malformed, or it asks for a
    /// suffix of an empty representation.
    case whole
    /// A range of byte offsets, counted from 0; never empty.
    case part(Range<Int>)
    /// A well-formed range that lies beyond the end, or a suffix of length 0.
    case unsatisfiable

    /// Determines which bytes `header` requests from a representation.
    ///
    /// Numbers may have any number of digits.
    ///
    /// - Parameters:
    ///   - header: The value of `Range`.
    ///   - length: The length of the representation in bytes.
    package init(_ header: String, length: Int) {
        // All names of range units are case-insensitive (§14.1).
        guard let equals = header.firstIndex(of: "="), header[..<equals].lowercased() == "bytes" else {
            self = .whole
            return
        }
        // A recipient ignores empty elements of a list (§5.6.1.2).
        let specifications = header[header.index(after: equals)...].utf8.split(separator: UInt8(ascii: ","))
            .map(Self.trimmed).filter { !$0.isEmpty }
        guard specifications.count == 1, let specification = specifications.first,
            let hyphen = specification.firstIndex(of: UInt8(ascii: "-"))
        else {
            self = .whole
            return
        }
        let first = specification[..<hyphen]
        let last = specification[specification.index(after: hyphen)...]
        let numbers = (Self.number(first), Self.number(last))
        let isNumbered = (first.isEmpty || numbers.0 != nil) && (last.isEmpty || numbers.1 != nil)
        self =
            switch numbers {
            case _ where !isNumbered: .whole
            case (let first?, let last?) where first > last: .whole
            case (let first?, let last):
                first < length ? .part(first..<min(last ?? .max, length - 1) + 1) : .unsatisfiable
            case (nil, let suffix?) where suffix == 0: .unsatisfiable
            case (nil, let suffix?) where length > 0: .part(max(0, length - suffix)..<length)
            default: .whole
            }
    }

    /// Returns the value of `1*DIGIT`; nil for any other text.
    ///
    /// If the value is larger than `Int.max`, `Int.max` is returned.
    private static func number(_ digits: Substring.UTF8View) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int(Substring(digits)) ?? .max
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let start = text.drop(while: \.isBlank)
        guard let end = start.lastIndex(where: { !$0.isBlank }) else { return start }
        return start[...end]
    }
}
