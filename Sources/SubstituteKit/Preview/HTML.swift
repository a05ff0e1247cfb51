import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// Functions that escape text for HTML pages.
enum HTML {
    /// Returns the path as HTML that may wrap after each "/".
    static func breakable(_ path: String) -> String {
        escaped(path).replacingOccurrences(of: "/", with: "/<wbr>")
    }

    /// Returns a URL or path as HTML in two parts; if space is short, the page truncates the first part.
    ///
    /// The second part is the last path component. It begins after the last "/"; a "/" at the very end does not count.
    static func inParts(_ path: String) -> String {
        let scalars = path.unicodeScalars
        let start = scalars.dropLast().lastIndex(of: "/").map { scalars.index(after: $0) } ?? scalars.startIndex
        let (first, last) = (String(scalars[..<start]), String(scalars[start...]))
        return "<span class=\"dir\">\(breakable(first))</span><span class=\"name\">\(breakable(last))</span>"
    }

    /// Returns text escaped for content and attributes; shows control characters, and hides user information.
    static func escaped(_ text: String) -> String { escapedContent(withoutUserInformation(text)) }

    /// Returns a file's text escaped for HTML, whatever characters it contains.
    static func escapedContent(_ text: String) -> String {
        var result = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.offset > 0 { result += "\n" }
            for character in printable(line.element).unicodeScalars {
                switch character {
                case "&": result += "&amp;"
                case "<": result += "&lt;"
                case ">": result += "&gt;"
                case "\"": result += "&quot;"
                case "'": result += "&#39;"
                default: result.unicodeScalars.append(character)
                }
            }
        }
        return result
    }
}
