import LocalSubstitutionCache

/// A part of a JSON text, or of a text that was meant to be JSON.
struct JSONToken {
    enum Kind: Equatable {
        /// A bracket, a comma or a colon; a mark that is often written instead of one has been replaced by it.
        case mark(UInt8)
        /// A string; the text is nil if it cannot be read.
        case string(String?)
        case number(String)
        /// Letters without quotation marks.
        case word(String)
        /// Text that can be no part of JSON.
        case stray
        case end
    }

    /// The kind of token that should come next.
    enum Expected {
        case name, colon, value
    }

    let kind: Kind
    let range: Range<Int>

    func isMark(_ mark: Unicode.Scalar) -> Bool { kind == .mark(UInt8(ascii: mark)) }

    /// True for a bracket that closes something, also for the wrong kind of bracket.
    var isClosing: Bool { isMark("}") || isMark("]") || isMark(")") }
}

extension JSONToken.Kind {
    /// The text of a string; nil for anything else.
    var text: String? { if case .string(let text) = self { text } else { nil } }
}
