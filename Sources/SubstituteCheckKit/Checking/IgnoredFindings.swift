import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// The findings about files that a folder silences, from `substitute.json` beside the manifest.
///
/// Its member `ignore` names the files of each code; one `*` in a path matches any characters:
/// ```json
/// { "ignore": { "large-picture": ["img/hero.png", "video/*"] } }
/// ```
package struct IgnoredFindings {
    /// The name of the file.
    package static let fileName = "substitute.json"

    private struct Line {
        let code: String
        let path: String
        let offset: Int
        var isUsed = false

        func matches(_ file: String) -> Bool {
            let parts = path.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return path == file }
            return file.utf8.count >= path.utf8.count - 1 && file.hasPrefix(parts[0]) && file.hasSuffix(parts[1])
        }
    }

    private let name: String
    private var text = Data()
    private var lines: [Line] = []
    /// Sentences about the file, each with the offset of its place.
    private var mistakes: [(sentence: String, offset: Int)] = []

    /// Reads the file in the folder of a manifest; `manifest` is the manifest's name in messages.
    init(in folder: URL, of manifest: String) {
        name = (manifest.lastIndex(of: "/").map { manifest[...$0] } ?? "") + Self.fileName
        let file = folder.appendingPathComponent(Self.fileName)
        guard FileSystem.kind(of: file.path) != nil, let text = try? FileSystem.contents(of: file) else { return }
        self.text = text
        let problem = JSONProblem(in: text)
        mistakes = problem.map { [($0.message, $0.offset)] } ?? []
        guard problem == nil, case .object(let members) = RepairingJSONParser.parse(text).value.kind,
            let ignore = members.first(where: { $0.name == "ignore" })?.value
        else { return }
        if case .object(let codes) = ignore.kind {
            for code in codes { read(code) }
        } else {
            mistakes = [("write an object, such as { \"large-picture\": [\"img/hero.png\"] }", ignore.offset)]
        }
    }

    private mutating func read(_ member: JSONMember) {
        let codes = Set(ContentRules.rows.map(\.code))
        guard codes.contains(member.name) else {
            let meant = suggestion(for: member.name, among: codes.sorted()).map { "; did you mean \(quoted($0))?" }
            let remedy = meant ?? "; check --json prints the code of each warning"
            let sentence = "\(quoted(member.name)) is no code of a warning about the content of a file\(remedy)"
            return mistakes.append((sentence, member.nameOffset))
        }
        let values = if case .array(let values) = member.value.kind { values } else { [member.value] }
        for value in values {
            if case .string(let path) = value.kind {
                lines.append(Line(code: member.name, path: path, offset: value.offset))
            } else {
                mistakes.append(("write the path of a file in quotation marks", value.offset))
            }
        }
    }

    /// True if the finding with this code about a file is to be ignored.
    mutating func contains(_ code: String, of file: String) -> Bool {
        let matching = lines.indices.filter { lines[$0].code == code && lines[$0].matches(file) }
        for index in matching { lines[index].isUsed = true }
        return !matching.isEmpty
    }

    /// Returns the warnings about the file itself; call this after all files were checked.
    func issues(ofBrowser isBrowser: Bool) -> [ManifestIssue] {
        let unused = lines.filter { !$0.isUsed && $0.code.hasPrefix("browser-") == isBrowser }.map { line in
            let cause = "no file at \(quoted(line.path)) has the warning \(quoted(line.code))"
            return ("\(cause); remove this path", line.offset)
        }
        return ((isBrowser ? [] : mistakes) + unused).map { sentence, offset in
            let problem = JSONProblem(sentence, at: offset, in: text)
            let place = ManifestCheck.Position(line: problem.line, column: problem.column)
            return ManifestIssue(.warning, .wrongIgnore, problem.message, in: name, at: place)
        }
    }
}

extension ManifestIssue.Code {
    /// A member `ignore` of `substitute.json` that ignores nothing.
    static let wrongIgnore = Self(rawValue: "wrong-ignore")
}
