package import Foundation
package import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionRules

/// A mistake in the content of a file.
struct ContentFinding {
    /// The code of the rule.
    let code: String
    /// A sentence without its subject, the file.
    let predicate: String
    /// The text that is equal for mistakes of which an entry for a folder reports only the first.
    let kind: String
    /// True if the file is something else entirely.
    var isLast = false

    init(_ code: String, _ predicate: String, of kind: String = "") {
        (self.code, self.predicate, self.kind) = (code, predicate, "\(code) \(kind)")
    }
}

/// The rules for the content of files: the rows of `Resources/rules.json`, and functions for some of these rows.
package enum ContentRules {
    /// All rules, in the order in which they are checked.
    static let rows: [ContentRow] = {
        let table = Data(PackageResources.rules_json)
        return (try? JSONDecoder().decode([ContentRow].self, from: table)) ?? []
    }()

    /// A fact about a file, for the sentence of a row.
    struct Fact {
        let found: String
        /// The line of the fact in a text; nil if it has none.
        let line: Int?

        init(_ found: String, line: Int? = nil) { (self.found, self.line) = (found, line) }
    }

    /// The functions that find the facts of rows without a condition.
    static let facts: [String: @Sendable (FileSample) -> Fact?] = [
        "wrong-type": wrongType, "wrong-format": wrongFormat, "empty-file": { $0.size == 0 ? Fact("") : nil },
        // For browsers, a tag at the beginning of a stylesheet or script is a syntax error.
        "markup-in-code": { file in file.isCode ? file.firstTag.map { Fact("<\($0)") } : nil },
        "broken-json": brokenJSON, "repeated-name": repeatedName, "large-picture": large, "many-pixels": pixels,
        "print-colours": { $0.picture?.components == 4 ? Fact("CMYK") : nil },
        "place-in-photo": { $0.picture?.hasPosition == true ? Fact("GPS") : nil },
    ]

    /// Returns the mistakes in a file.
    ///
    /// A file that is something else entirely has one, because all others would be consequences.
    static func findings(in file: FileSample) -> [ContentFinding] {
        var findings: [ContentFinding] = []
        for row in rows {
            guard var finding = row.finding(in: file) else { continue }
            finding.isLast = row.isLast
            findings.append(finding)
            if row.isLast { break }
        }
        return findings
    }

    /// Returns the mistakes in the content of a body that becomes a file, as predicates.
    package static func remarks(on body: Data, named path: String, as type: MediaType) -> [String] {
        findings(in: FileSample(body, named: path, as: type)).map(\.predicate)
    }

    // MARK: - JSON

    private static func json(_ file: FileSample) -> Data? {
        // A source map may begin with `)]}'`, so that browsers do not run the map as a script.
        file.type.isJSON && !file.head.starts(with: ")]}'".utf8) ? file.text : nil
    }

    private static func brokenJSON(_ file: FileSample) -> Fact? {
        json(file).flatMap { JSONProblem(in: $0) }.map { problem in
            let place = "\(visible(file.path)):\(problem.line):\(problem.column)"
            return Fact("\(place): \(problem.message)", line: problem.line)
        }
    }

    private static func repeatedName(_ file: FileSample) -> Fact? {
        // Swift compares long rows of combining marks in quadratic time.
        guard let text = json(file), text.isStreamSafe, JSONProblem(in: text) == nil,
            let (name, offset) = repeatedName(in: JSONParser.parse(text).value)
        else { return nil }
        return Fact(name, line: JSONProblem("", at: offset, in: text).line)
    }

    /// Returns a name that appears twice in an object, and the offset of its second place; nil if there is none.
    private static func repeatedName(in value: JSONValue) -> (name: String, offset: Int)? {
        switch value.kind {
        case .array(let elements): return elements.firstResult { repeatedName(in: $0) }
        case .object(let members):
            var names: Set<String> = []
            return members.firstResult { member in
                names.insert(member.name).inserted ? repeatedName(in: member.value) : (member.name, member.nameOffset)
            }
        default: return nil
        }
    }
}
