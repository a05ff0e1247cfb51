package import LocalSubstitutionCache

extension MediaType {
    var isJSON: Bool { canonical.essence == "application/json" || essence.hasSuffix("+json") }

    var isXML: Bool { canonical.essence == "application/xml" || essence.hasSuffix("+xml") }

    package var isJavaScript: Bool { canonical.essence == "text/javascript" }

    /// True for types whose content is readable text.
    var isText: Bool { essence.hasPrefix("text/") || isJSON || isXML || isJavaScript }
}
