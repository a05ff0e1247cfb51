import LocalSubstitutionCache

/// A start or end tag of a page.
struct HTMLTag {
    /// In lower case.
    let name: String
    let isEnd: Bool
    /// In the order of the page, without those whose name an earlier one has.
    var attributes: [Attribute] = []
    var isSelfClosing = false

    struct Attribute {
        /// In lower case.
        let name: String
        /// Its character references are decoded.
        let value: PlacedText
    }

    subscript(name: String) -> PlacedText? { attributes.first { $0.name == name }?.value }

    /// Returns whether an attribute has this value, in letters of any case.
    func has(_ name: String, _ value: StaticString) -> Bool {
        self[name].map { $0.string.isASCIICaseInsensitiveEqual(to: value) } ?? false
    }
}
