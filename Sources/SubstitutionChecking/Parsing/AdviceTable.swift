import Foundation
import LocalSubstitutionCache

/// The rows of `Resources/advice.json`: what designers write by mistake, and what to write instead.
struct AdviceTable: Decodable, Sendable {
    /// Mistakes in the URLs of entries; some of these URLs are valid, but no app loads them.
    private(set) var urls: [TextRule] = []
    /// The changes that turn a text into the URL that was meant, in their order.
    private(set) var repairs: [TextRule] = []
    private(set) var paths: [TextRule] = []
    /// The causes of problems with files, each with the remedy.
    private(set) var files: [TextRule] = []
    /// Mistakes in the names that `ignoreQuery` lists.
    private(set) var parameters: [TextRule] = []
    private(set) var origins: [TextRule] = []
    /// The names that designers give to comments.
    private(set) var comments: [TextRule] = []
    /// The additions of file managers, users and design programs to a file's name.
    private(set) var additions: Pattern?
    private(set) var leftovers: [Leftover] = []
    /// The names of fields in other tools, in lower case, each with the field of an entry.
    private(set) var fields: [String: String] = [:]
    /// The causes that the scanner of JSON tells, without what is in brackets, each with the remedy.
    private(set) var syntax: [String: String] = [:]
    /// The parameters with the time of a signature, each with the one that must be beside it, or itself.
    private(set) var signatures: [String: String] = [:]
    /// Texts that were not meant to be JSON.
    private(set) var texts: [TextRule] = []
    /// The words of JSON, and those of other languages in lower case, each with the word of JSON.
    private(set) var words: [String: String] = [:]
    private(set) var remedies: [Remedy] = []

    static let current =
        (try? JSONDecoder().decode(AdviceTable.self, from: Data(PackageResources.advice_json))) ?? AdviceTable()

    /// A file that was probably left in the folder by mistake, by its name.
    struct Leftover: Decodable, Sendable {
        /// The names in lower case; `*` is any text.
        let names: [String]
        let says: String
    }

    /// The remedy for an error at a part of a manifest.
    struct Remedy: Decodable, Sendable {
        let code: String
        /// The kind of the part; nil for all.
        let part: String?
        /// The name of the member, or the place of the parameter in its list; nil for all.
        let name: String?
        /// The kind of the value, such as "a list"; nil for all.
        let value: String?
        let says: String
    }

    /// Returns the predicate of a sentence about a file that was left behind; nil for any other file.
    static func leftover(_ path: String) -> String? {
        let name = (path.split(separator: "/").last ?? "").lowercased()
        return current.leftovers.first { $0.names.contains { fnmatch($0, name, 0) == 0 } }?.says
    }
}

/// A row about a text, such as a URL or the name of a parameter.
struct TextRule: Decodable, Sendable {
    let match: Pattern
    /// The predicate of a sentence about a text that matches.
    let says: String?
    /// The text to write in place of each match; `$1` is the first group.
    let write: String?

    /// Returns the text with `write` in place of each match.
    func applied(to text: String) -> String { match.replaced(in: text, with: write ?? "") }
}

extension [TextRule] {
    /// Returns the sentence of the first row that a text matches; nil if none does.
    func sentence(about text: String) -> String? {
        first { $0.match.occurs(in: text) }?.says.map { "\(quoted(text)) \($0)" }
    }
}

/// A regular expression in a table; upper and lower case are equal.
package struct Pattern: Decodable, Sendable {
    private let expression: NSRegularExpression

    package init(from decoder: any Decoder) throws {
        let pattern = try decoder.singleValueContainer().decode(String.self)
        expression = try NSRegularExpression(pattern: pattern, options: .caseInsensitive)
    }

    /// Returns the first place that matches; nil if there is none.
    package func place(in text: String) -> Range<String.Index>? {
        expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)).flatMap {
            Range($0.range, in: text)
        }
    }

    func occurs(in text: String) -> Bool {
        // A place in the middle of a line break has no range.
        expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }

    func replaced(in text: String, with template: String) -> String {
        let range = NSRange(text.startIndex..., in: text)
        return expression.stringByReplacingMatches(in: text, range: range, withTemplate: template)
    }
}
