import LocalSubstitutionCache

/// A start or end tag of a page.
struct HTMLTag {
    /// In lower case.
    let name: String
    let isEnd: Bool
    /// The attributes in page order; of several with the same name, only the first.
    var attributes: [Attribute] = []
    var isSelfClosing = false

    struct Attribute {
        /// In lower case.
        let name: String
        /// The value with its character references decoded.
        let value: SourceMappedText
    }

    subscript(name: String) -> SourceMappedText? { attributes.first { $0.name == name }?.value }

    /// Returns true if the attribute with this name has this value, in letters of any case.
    func has(_ name: String, _ value: StaticString) -> Bool {
        self[name].map { $0.string.isASCIICaseInsensitiveEqual(to: value) } ?? false
    }
}
