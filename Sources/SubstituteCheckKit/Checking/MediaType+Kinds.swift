package import LocalSubstitutionCache
import SubstitutionRules

extension MediaType {
    package var isJSON: Bool { canonical.essence == "application/json" || essence.hasSuffix("+json") }

    package var isXML: Bool { canonical.essence == "application/xml" || essence.hasSuffix("+xml") }

    package var isJavaScript: Bool { canonical.essence == "text/javascript" }

    /// True for types whose content is readable text.
    package var isText: Bool { essence.hasPrefix("text/") || isJSON || isXML || isJavaScript }

    /// True for pictures, fonts, sounds, films, and other types whose known formats are no text.
    package var isBinary: Bool {
        guard !isText else { return false }
        return ![.text, .other].contains(FileKind(self)) || FileFormat.expected(of: self) != nil
    }
}
