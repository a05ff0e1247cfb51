/// Text that is written otherwise where it comes from, with the place of each of its bytes there.
///
/// An attribute's value with its character references decoded is one, and so is an address in a stylesheet in that
/// attribute.
package struct PlacedText: Hashable, Sendable {
    package private(set) var bytes: [UInt8] = []
    /// The offset at which each byte is written; empty where all follow each other from `start`.
    ///
    /// The bytes of one escape share its offset.
    private var offsets: [Int] = []
    private let start: Int
    /// The offset after the last byte.
    package var end: Int

    /// A text to which bytes are appended.
    package init(endingAt end: Int) { (start, self.end) = (end, end) }

    /// A part of `source` that is written as it is.
    package init(_ range: Range<Int>, of source: [UInt8]) {
        bytes = Array(source[range])
        (start, end) = (range.lowerBound, range.upperBound)
    }

    package mutating func append(_ byte: UInt8, at offset: Int) {
        bytes.append(byte)
        offsets.append(offset)
    }

    /// Appends bytes that one escape stands for.
    package mutating func append(_ escaped: some Sequence<UInt8>, at offset: Int) {
        for byte in escaped { append(byte, at: offset) }
    }

    /// Appends a text that is written behind this one.
    package mutating func append(_ other: PlacedText) {
        for index in other.bytes.indices { append(other.bytes[index], at: other.offset(index)) }
        end = other.end
    }

    /// The offset of a byte, or of the end.
    package func offset(_ index: Int) -> Int {
        guard index < bytes.count else { return end }
        return offsets.isEmpty ? start + index : offsets[index]
    }

    subscript(range: Range<Int>) -> PlacedText { part(Array(range), endingAt: offset(range.upperBound)) }

    private func part(_ indices: [Int], endingAt end: Int) -> PlacedText {
        var part = PlacedText(endingAt: end)
        for index in indices { part.append(bytes[index], at: offset(index)) }
        return part
    }

    /// The place of this text in the page, if `outer` is where it was found.
    func placed(in outer: PlacedText) -> PlacedText {
        var result = PlacedText(endingAt: outer.offset(end))
        for index in bytes.indices { result.append(bytes[index], at: outer.offset(offset(index))) }
        return result
    }

    /// The URL in this text, without what the URL Standard (§4.4) ignores: space and control characters around it, and
    /// tabs and line breaks in it.
    package var address: PlacedText {
        guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 })
        else { return PlacedText(endingAt: end) }
        return part((first...last).filter { ![0x09, 0x0A, 0x0D].contains(bytes[$0]) }, endingAt: offset(last + 1))
    }

    package var string: String { String(decoding: bytes, as: UTF8.self) }
}
