import Foundation
import LocalSubstitutionCache

/// Text in pages.
enum HTML {
    /// A path that may be broken into lines after each "/".
    static func breakable(_ path: String) -> String {
        escaped(path).replacingOccurrences(of: "/", with: "/<wbr>")
    }

    /// A URL or a path in two parts: where there is no room for both, the page shortens the first.
    ///
    /// The second part begins after the last "/" that something follows.
    static func inParts(_ path: String) -> String {
        let scalars = path.unicodeScalars
        let start = scalars.dropLast().lastIndex(of: "/").map { scalars.index(after: $0) } ?? scalars.startIndex
        let (first, last) = (String(scalars[..<start]), String(scalars[start...]))
        return "<span class=\"dir\">\(breakable(first))</span><span class=\"name\">\(breakable(last))</span>"
    }

    /// Text as HTML shows it, in content and in attributes; control characters are written out.
    static func escaped(_ text: String) -> String { escapedContent(UserInformation.hidden(in: text)) }

    /// The content of a file as HTML shows it, whatever it holds.
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
