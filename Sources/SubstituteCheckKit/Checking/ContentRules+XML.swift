import Foundation
import LocalSubstitutionCache

/// XML rules that the parser does not check, or whose violations it reports in words for programmers.
extension ContentRules {
    /// Finds white space before the XML declaration, which must come first (XML 1.0 §2.8).
    static func beginsWithDeclaration(_ file: FileSample) -> ContentProblem? {
        guard file.type.isXML, file.head.first.map({ $0 <= 0x20 }) == true, file.beginning.hasPrefix("<?xml ") else {
            return nil
        }
        return file.problem(
            "space before declaration",
            "has a space or an empty line before \"<?xml\", which must come first; remove it"
        )
    }

    /// Finds XML that is not UTF-8 and does not name another encoding (XML 1.0 §4.3.3).
    static func isInItsEncoding(_ file: FileSample) -> ContentProblem? {
        guard file.type.isXML, file.type.charset == nil, let text = file.text, !text.contains(0),
            !text.starts(with: [0xFF, 0xFE]), !text.starts(with: [0xFE, 0xFF]),
            String(data: text, encoding: .utf8) == nil
        else { return nil }
        let declaration = file.beginning.prefix(200).lowercased()
        let encoding = declaration.prefixMatch(of: encodingOfDeclaration)?.1
        guard encoding == nil || encoding == "utf-8" else { return nil }
        let cause = encoding == nil ? "and names no other encoding" : "though it says so"
        return file.problem("xml not UTF-8", "is not UTF-8, \(cause), so browsers do not read it; save it as UTF-8")
    }

    nonisolated(unsafe) private static let encodingOfDeclaration = /<\?xml[^>]*encoding\s*=\s*["']([^"']*)/

    /// Finds the prefix `xlink` without its declaration (Namespaces in XML §5).
    ///
    /// Programs lose the declaration when a part of an image is copied.
    static func declaresLinks(_ file: FileSample) -> ContentProblem? {
        guard file.type.isXML, let text = file.text, let found = text.range(of: Data(" xlink:href=".utf8)),
            text.range(of: Data("xmlns:xlink".utf8)) == nil,
            text[..<found.lowerBound].range(of: Data("<!--".utf8)) == nil
        else { return nil }
        return file.problem(
            "xlink",
            "has \"xlink:href\" in line \(text.line(of: found.lowerBound)), which nothing declares; write href instead, "
                + "or xmlns:xlink=\"http://www.w3.org/1999/xlink\" in the first tag"
        )
    }
}
