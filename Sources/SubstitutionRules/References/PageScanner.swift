import LocalSubstitutionCache

/// A scanner that finds the addresses in an HTML page, and their positions.
///
/// `HTMLTokenizer` splits the page into tags and text, and `HTMLContext` decides in which elements a tag is only text.
/// The scanner collects addresses from the attributes of start tags, and from the text of `style` elements.
package struct PageScanner {
    package typealias Reference = ReferenceScanner.Reference

    /// The addresses in a page, grouped by their use.
    package struct References {
        /// The addresses of images, stylesheets, scripts, links and forms, without those in ``promised``.
        package var addresses: [Reference] = []
        /// The addresses in `style` elements and `style` attributes.
        package fileprivate(set) var styles: [Reference] = []
        /// The addresses in elements with `integrity`; `promisedLinks` holds those in `link` elements.
        ///
        /// The attribute has a hash of the bytes at the address.
        package fileprivate(set) var promised: [Reference] = [], promisedLinks: [Reference] = []
        /// The addresses of `base` elements, against which relative addresses are resolved.
        package fileprivate(set) var bases: [Reference] = []
        /// The addresses that the page and its `srcdoc` load, from attributes and styles, with and without `integrity`.
        ///
        /// The addresses of links and forms are not among them.
        package fileprivate(set) var resources: [Reference] = []
        /// The content security policies in the page's `meta` elements.
        package var policies: [SourceMappedText] = []
        /// The byte ranges of the page's import maps.
        package fileprivate(set) var importMaps: [Range<Int>] = []
        /// The byte ranges of the scripts in the page that are JavaScript, except those in templates.
        package fileprivate(set) var scripts: [Range<Int>] = []
    }

    private var tokenizer: HTMLTokenizer
    /// True for the page in an attribute; what pages in that page load is left out.
    private var isNested = false
    private var context = HTMLContext()
    private var references = References()
    /// The text of the open SVG `style` element so far; nil if none is open.
    private var foreignStyle: ForeignStyle?

    /// A stylesheet that is joined from the texts and CDATA sections in one element.
    private struct ForeignStyle {
        var text = SourceMappedText(endingAt: 0)
        var pieces: [Range<Int>] = []

        mutating func append(_ piece: SourceMappedText, from range: Range<Int>) {
            text.append(piece)
            pieces.append(range)
        }

        /// Returns true if an address lies within one piece.
        ///
        /// Between two pieces are tags, or the delimiters of CDATA sections. These must not be overwritten.
        func isWhole(_ reference: Reference) -> Bool {
            let place = reference.place
            // A binary search, because a style can have as many pieces as references.
            var (low, high) = (0, pieces.count)
            while low < high {
                let middle = (low + high) / 2
                if pieces[middle].lowerBound <= place.offset(0) { low = middle + 1 } else { high = middle }
            }
            return low > 0 && place.end <= pieces[low - 1].upperBound
        }
    }

    package static func references(in bytes: [UInt8], isXML: Bool = false, isNested: Bool = false) -> References {
        var scanner = PageScanner(tokenizer: HTMLTokenizer(bytes, isXML: isXML), isNested: isNested)
        scanner.readPage { _, _ in }
        return scanner.references
    }

    /// Scans a page, and reports each start tag with nil as its text.
    ///
    /// A `style` element is later reported once more, with its text.
    static func read(_ bytes: [UInt8], _ report: (HTMLTag, SourceMappedText?) -> Void) {
        var scanner = PageScanner(tokenizer: HTMLTokenizer(bytes))
        scanner.readPage(report)
    }

    private mutating func readPage(_ report: (HTMLTag, SourceMappedText?) -> Void) {
        while let token = tokenizer.next(allowsCharacterData: context.allowsCharacterData) {
            switch token {
            case .comment: break
            case .text(let range): foreignStyle?.append(tokenizer.decoded(range, inAttribute: false), from: range)
            case .characterData(let range):
                foreignStyle?.append(SourceMappedText(range, of: tokenizer.bytes), from: range)
            case .tag(let tag) where tag.isEnd:
                context.end(tag.name)
                if tag.name == "style" || !context.isForeign { finishForeignStyle(report) }
            case .tag(let tag): readElement(tag, report)
            }
        }
        finishForeignStyle(report)
    }

    private mutating func finishForeignStyle(_ report: (HTMLTag, SourceMappedText?) -> Void) {
        guard let style = foreignStyle else { return }
        foreignStyle = nil
        report(HTMLTag(name: "style", isEnd: false), style.text)
        addStylesheet(style.text, where: style.isWhole)
    }

    private mutating func readElement(_ tag: HTMLTag, _ report: (HTMLTag, SourceMappedText?) -> Void) {
        let isInTemplate = context.isInTemplate
        add(tag.attributes, of: tag, isInTemplate)
        report(tag, nil)
        let content = context.start(tag)
        if tag.name == "style" || !context.isForeign { finishForeignStyle(report) }
        switch content {
        case .markup: if tag.name == "style", context.isInSVG, !tag.isSelfClosing { foreignStyle = ForeignStyle() }
        case .plaintext: tokenizer.skipRest()
        case .text:
            let content = tokenizer.skipContent(of: tag)
            if tag.name == "style" {
                let text = SourceMappedText(content, of: tokenizer.bytes)
                report(tag, text)
                addStylesheet(text, isOptional: isInTemplate)
            }
            if tag.name == "script", tag["src"] == nil {
                let type = tag["type"]?.address.string ?? ""
                if type.isASCIICaseInsensitiveEqual(to: "importmap") { references.importMaps.append(content) }
                if !isInTemplate, Self.isRun(tag) { references.scripts.append(content) }
            }
        }
    }

    // MARK: - Attributes and styles

    private mutating func add(_ attributes: [HTMLTag.Attribute], of element: HTMLTag, _ isInTemplate: Bool) {
        if element.name == "meta", element.has("http-equiv", "content-security-policy"),
            let policy = element["content"]
        {
            references.policies.append(policy)
        }
        let first = references.addresses.count
        for attribute in attributes {
            let count = references.addresses.count
            switch (element.name, attribute.name) {
            case ("base", "href"):
                // A `base` in a template or in SVG has no effect on the page. Each relative address would be as long as
                // a long `base`.
                if !context.isForeign, !isInTemplate, attribute.value.string.utf8.count <= 1000 {
                    add(attribute, to: \.bases)
                }
            case (_, "src"), (_, "href"), (_, "xlink:href"), (_, "poster"), (_, "action"), (_, "formaction"),
                (_, "background"), ("object", "data"):
                add(attribute, to: \.addresses, isUpgraded: Self.isUpgraded(element.name, attribute.name))
            case (_, "srcset"), (_, "imagesrcset"): addCandidates(attribute.value)
            case (_, "style"): addStylesheet(attribute.value, isOptional: isInTemplate)
            case ("iframe", "srcdoc") where !isNested:
                let page = Self.references(in: attribute.value.bytes, isNested: true).resources
                references.resources += page.map { $0.placed(in: attribute.value, isOptional: isInTemplate) }
            default: break
            }
            guard count < references.addresses.count, Self.isLoaded(element, attribute.name) else { continue }
            let isOptional = isInTemplate || Self.isOptional(element)
            for var reference in references.addresses[count...] {
                reference.isOptional = isOptional
                let isPicture = ["srcset", "imagesrcset", "poster", "background"].contains(attribute.name)
                reference.element = isPicture ? "img" : element.name
                references.resources.append(reference)
            }
        }
        if element["integrity"] != nil {
            references.promised += references.addresses[first...]
            if element.name == "link" { references.promisedLinks += references.addresses[first...] }
            references.addresses.removeSubrange(first...)
        }
    }

    /// Returns true if the page loads the addresses in an attribute.
    private static func isLoaded(_ element: HTMLTag, _ attribute: String) -> Bool {
        switch (element.name, attribute) {
        case ("link", "href"), ("link", "imagesrcset"): return !loadedRelations.isDisjoint(with: relations(of: element))
        case ("input", "src"): return element.has("type", "image")
        case ("iframe", "src"): return element["srcdoc"] == nil
        case ("img", "src"), ("img", "srcset"), ("image", "src"), ("image", "srcset"), ("source", "src"),
            ("source", "srcset"), ("video", "src"), ("video", "poster"), ("audio", "src"), ("track", "src"),
            ("script", "src"), ("embed", "src"), ("frame", "src"), ("object", "data"):
            return true
        // SVG: pictures, filters and parts of other files.
        case ("image", "href"), ("image", "xlink:href"), ("feimage", "href"), ("feimage", "xlink:href"),
            ("use", "href"), ("use", "xlink:href"), ("script", "href"), ("script", "xlink:href"),
            ("?xml-stylesheet", "href"):
            return true
        case (_, "background"):
            return ["body", "table", "thead", "tbody", "tfoot", "tr", "td", "th"].contains(element.name)
        default: return false
        }
    }

    private static let loadedRelations: Set<String> = [
        "stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image",
        "mask-icon", "preload", "modulepreload", "manifest",
    ]

    private static func relations(of link: HTMLTag) -> [String] {
        (link["rel"]?.string ?? "").lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// Returns true if browsers load an element's addresses only after a script has changed the element, or never.
    private static func isOptional(_ element: HTMLTag) -> Bool {
        if element.name == "script" { return element["nomodule"] != nil || !isRun(element) }
        return element.name == "link" && element["disabled"] != nil
    }

    /// Returns true for a script in JavaScript (HTML §4.12.1); the content of any other script is data.
    private static func isRun(_ script: HTMLTag) -> Bool {
        guard let type = script["type"]?.address.string, !type.isEmpty else { return true }
        return type.isASCIICaseInsensitiveEqual(to: "module") || MediaType(type)?.canonical.essence == "text/javascript"
    }

    /// True for an attribute in which browsers change an http address to https (Mixed Content Level 2 §3.1).
    ///
    /// Browsers do not change the addresses in `srcset`.
    private static func isUpgraded(_ element: String, _ attribute: String) -> Bool {
        switch attribute {
        case "src": ["img", "input", "audio", "video", "source"].contains(element)
        case "href", "xlink:href": element == "image"
        default: attribute == "poster" || attribute == "background"
        }
    }

    private mutating func add(
        _ attribute: HTMLTag.Attribute,
        to list: WritableKeyPath<References, [Reference]>,
        isUpgraded: Bool = false
    ) {
        let address = attribute.value.address
        if !address.bytes.isEmpty {
            let reference = Reference(place: address, notation: .attribute, isUpgraded: isUpgraded)
            references[keyPath: list].append(reference)
        }
    }

    /// Adds the addresses in a list of image candidates, as in `srcset` (HTML §4.8.4.2.2).
    private mutating func addCandidates(_ list: SourceMappedText) {
        let value = list.bytes
        var index = 0
        while true {
            while index < value.count, value[index].isHTMLSpace || value[index] == UInt8(ascii: ",") { index += 1 }
            guard index < value.count else { return }
            let start = index
            while index < value.count, !value[index].isHTMLSpace { index += 1 }
            let hasDescriptors = value[index - 1] != UInt8(ascii: ",")
            let end = value[start..<index].lastIndex { $0 != UInt8(ascii: ",") } ?? start
            references.addresses.append(Reference(place: list[start..<end + 1].address, notation: .attribute))
            var depth = 0
            while hasDescriptors, index < value.count, depth > 0 || value[index] != UInt8(ascii: ",") {
                if value[index] == UInt8(ascii: "(") { depth += 1 }
                if value[index] == UInt8(ascii: ")") { depth = 0 }
                index += 1
            }
        }
    }

    private mutating func addStylesheet(
        _ text: SourceMappedText,
        isOptional: Bool = false,
        where isAdded: (Reference) -> Bool = { _ in true }
    ) {
        let found = ReferenceScanner.references(inStylesheet: text.bytes)
            .map { $0.placed(in: text, isOptional: isOptional) }.filter(isAdded)
        references.styles += found
        references.resources += found
    }
}
