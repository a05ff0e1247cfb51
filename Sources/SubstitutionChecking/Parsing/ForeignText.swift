import LocalSubstitutionCache

/// A text in another format than JSON: a table, a configuration file or code.
enum ForeignText {
    /// Returns a sentence that names the format of a text, and says how to write it as JSON; nil if it may be JSON.
    static func sentence(about text: some Collection<UInt8>) -> String? {
        let text = String(decoding: text.prefix(4000), as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
        // In a chat's answer or in code, an object follows the first lines.
        guard !lines.contains(where: { $0.first == "{" }), let name = format(lines, text) else { return nil }
        let entries = lines.compactMap(entry)
        let written =
            entries.isEmpty
            ? "{ \"https://example.com/img/logo.png\": \"img/logo.png\" }"
            : "{ \(entries.prefix(2).joined(separator: ", "))\(entries.count > 2 ? ", …" : "") }"
        return "this is \(name), not JSON\(remedy)\(written)"
    }

    /// The beginning of the remedy.
    static let remedy = "; write it as in "

    private static func format(_ lines: [Substring], _ text: String) -> String? {
        let content = lines.filter { $0.first.map { !"#;".contains($0) } ?? false }
        guard let first = content.first else { return nil }
        if first.hasPrefix("<?php") || first.prefixMatch(of: php) != nil { return "PHP" }
        if first.prefixMatch(of: code) != nil { return first.contains("{") ? nil : "code" }
        if content.allSatisfy({ $0.wholeMatch(of: tableRow) != nil }) { return "a table (CSV)" }
        let isTable = first.wholeMatch(of: section) != nil && content.count > 1
        let assignments = content.dropFirst(isTable ? 1 : 0)
        if isTable || assignments.allSatisfy({ $0.wholeMatch(of: assignment) != nil }),
            assignments.contains(where: { $0.wholeMatch(of: assignment) != nil })
        {
            return assignments.contains { $0.hasSuffix("\"") } ? "TOML" : "a configuration file (INI)"
        }
        // A first line in quotation marks is rather JSON without its brackets.
        if first == "---" || first.first != "\"" && content.allSatisfy({ $0.wholeMatch(of: yaml) != nil }) {
            return "YAML"
        }
        return nil
    }

    nonisolated(unsafe) private static let code =
        /(let|var|const|import|export|func|function|def|class|struct|public|private|static|package|using|require)\b[^{]*[=(;"'].*/
    nonisolated(unsafe) private static let php = /\$\w+\s*=|return\s*\[|array\s*\(/
    // The quantifiers are possessive, because a row of empty cells could be divided in very many ways.
    nonisolated(unsafe) private static let tableRow =
        /"?(?:\/\/[^",;\t{}]*+|[^",;\t{}:]*+(?::\/\/[^",;\t{}]*+)?)"? *+(?>[,;\t] *+"?[^",;\t{}]*+"? *+)++/
    nonisolated(unsafe) private static let section = /\[{1,2}[\w.\-" ]+\]{1,2}/
    nonisolated(unsafe) private static let assignment = /[^={}]+=[^{}]*[^;,{}]/
    nonisolated(unsafe) private static let yaml =
        /(- ?)*("[^"]+"|'[^']+'|[^\s"'{}\[\],#][^"'{}\[\],]*?):( .*)?|- .*|---|\.\.\./

    /// Returns the entry in a line that names a URL and a file, as JSON.
    private static func entry(_ line: Substring) -> String? {
        guard let match = line.firstMatch(of: pair) else { return nil }
        let (url, file) = (String(match.1), String(match.2))
        return (try? URLPattern(url)) == nil ? nil : "\(quoted(url)): \(quoted(file))"
    }

    nonisolated(unsafe) private static let pair =
        /["']?((?:https?:)?\/\/[^\s"',;=>]+?)["']?(?:\s*(?:=>|->|=|,|;|:)\s*|\s+)["']?([^\s"',;:=>]+\.[A-Za-z0-9]{1,5})["']?,?;?\s*$/
}
