import LocalSubstitutionCache

/// A start or end tag of a page.
struct HTMLTag {
    /// The tag's name, in lower case.
    let name: String
    let isEnd: Bool
    /// The attributes in the order of the page, without any that repeats an earlier name.
    var attributes: [Attribute] = []
    var isSelfClosing = false

    struct Attribute {
        /// The attribute's name, in lower case.
        let name: String
        /// The value with its character references decoded.
        let value: SourceMappedText
    }

    subscript(name: String) -> SourceMappedText? { attributes.first { $0.name == name }?.value }

    /// Returns whether an attribute has this value, ignoring the case of ASCII letters.
    ///
    /// `value` must be in lower case.
    func has(_ name: String, _ value: StaticString) -> Bool {
        self[name].map { $0.string.isASCIICaseInsensitiveEqual(to: value) } ?? false
    }
}
