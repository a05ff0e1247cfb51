import LocalSubstitutionCache

/// Text with decoded escapes, and the source offset of each byte.
///
/// One example is an attribute's value, in which the character references are decoded. Another example is an address in
/// the CSS of a `style` attribute.
package struct SourceMappedText: Hashable, Sendable {
    package private(set) var bytes: [UInt8] = []
    /// The source offset of each byte; empty if the bytes are contiguous from `start`.
    ///
    /// The bytes of one escape have the same offset, that of the escape.
    private var offsets: [Int] = []
    private let start: Int
    /// The source offset after the last byte.
    package var end: Int

    /// Creates an empty text, to which bytes are appended.
    package init(endingAt end: Int) { (start, self.end) = (end, end) }

    /// Creates a text from a range of `source`, without decoding it.
    package init(_ range: Range<Int>, of source: [UInt8]) {
        bytes = Array(source[range])
        (start, end) = (range.lowerBound, range.upperBound)
    }

    package mutating func append(_ byte: UInt8, at offset: Int) {
        bytes.append(byte)
        offsets.append(offset)
    }

    /// Appends the bytes that one escape at `offset` represents.
    package mutating func append(_ escaped: some Sequence<UInt8>, at offset: Int) {
        for byte in escaped { append(byte, at: offset) }
    }

    /// Appends a text that follows this one in the source.
    package mutating func append(_ other: SourceMappedText) {
        for index in other.bytes.indices { append(other.bytes[index], at: other.offset(index)) }
        end = other.end
    }

    /// Returns the source offset of a byte, or of the end.
    package func offset(_ index: Int) -> Int {
        guard index < bytes.count else { return end }
        return offsets.isEmpty ? start + index : offsets[index]
    }

    subscript(range: Range<Int>) -> SourceMappedText { part(Array(range), endingAt: offset(range.upperBound)) }

    private func part(_ indices: [Int], endingAt end: Int) -> SourceMappedText {
        var part = SourceMappedText(endingAt: end)
        for index in indices { part.append(bytes[index], at: offset(index)) }
        return part
    }

    /// Returns this text with offsets in the source of `outer`.
    ///
    /// This text was found in `outer`, so its own offsets count the bytes of `outer`.
    func placed(in outer: SourceMappedText) -> SourceMappedText {
        var result = SourceMappedText(endingAt: outer.offset(end))
        for index in bytes.indices { result.append(bytes[index], at: outer.offset(offset(index))) }
        return result
    }

    /// The URL in this text, without the characters that a URL parser ignores (URL Standard §4.4).
    ///
    /// These are spaces and control characters around the URL, and tabs and line breaks in it.
    package var address: SourceMappedText {
        guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 })
        else { return SourceMappedText(endingAt: end) }
        return part((first...last).filter { ![0x09, 0x0A, 0x0D].contains(bytes[$0]) }, endingAt: offset(last + 1))
    }

    /// The text as a string; U+FFFD if comparing it would take quadratic time.
    package var string: String { bytes.isStreamSafe ? String(decoding: bytes, as: UTF8.self) : "\u{FFFD}" }
}
