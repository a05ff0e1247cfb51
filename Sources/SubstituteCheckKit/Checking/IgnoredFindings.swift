import Foundation
import LocalSubstitutionCache
import SubstitutionChecking

/// The findings about files that a folder silences, from `substitute.json` beside the manifest.
///
/// Its member `ignore` lists the files of each code; a `*` in a path matches any characters:
/// ```json
/// { "ignore": { "large-picture": ["img/hero.png", "video/*"] } }
/// ```
package struct IgnoredFindings {
    /// The name of the file.
    package static let fileName = "substitute.json"

    private struct Content: Decodable { let ignore: [String: [String]]? }

    private let name: String
    private var text = Data()
    /// The paths of each code, and whether there was a finding.
    private var lines: [(code: String, path: String, isUsed: Bool)] = []
    /// Sentences about the file, each with the offset of its place.
    private var mistakes: [(sentence: String, offset: Int)] = []

    /// Reads the file in the folder of a manifest; `manifest` is the manifest's name in messages.
    init(in folder: URL, of manifest: String) {
        name = (manifest.lastIndex(of: "/").map { manifest[...$0] } ?? "") + Self.fileName
        let file = folder.appendingPathComponent(Self.fileName)
        guard FileSystem.kind(of: file.path) != nil, let text = try? FileSystem.contents(of: file) else { return }
        self.text = text
        if let problem = JSONProblem(in: text) {
            mistakes = [(problem.message, problem.offset)]
            return
        }
        guard let content = try? JSONDecoder().decode(Content.self, from: text) else {
            let example = "\"ignore\": { \"large-picture\": [\"img/hero.png\"] }"
            mistakes = [("write lists of paths, such as \(example)", offset(of: "ignore"))]
            return
        }
        let codes = Set(ContentRules.rows.map(\.code))
        for (code, paths) in (content.ignore ?? [:]).sorted(by: { $0.key < $1.key }) {
            if codes.contains(code) {
                lines += paths.map { (code, $0, false) }
            } else {
                let meant = suggestion(for: code, among: codes.sorted()).map { "; did you mean \(quoted($0))?" }
                let remedy = meant ?? "; check --json prints the code of each warning"
                let sentence = "\(quoted(code)) is no code of a warning about the content of a file\(remedy)"
                mistakes.append((sentence, offset(of: code)))
            }
        }
    }

    private func offset(of word: String) -> Int { text.range(of: Data(jsonString(word).utf8))?.lowerBound ?? 0 }

    /// True if the finding with this code about a file is to be ignored.
    mutating func contains(_ code: String, of file: String) -> Bool {
        let matching = lines.indices.filter { index in
            // Of the signs of a shell's patterns, only the star is one here.
            let pattern = lines[index].path.map { "?[\\".contains($0) ? "\\\($0)" : String($0) }.joined()
            return lines[index].code == code && fnmatch(pattern, file, 0) == 0
        }
        for index in matching { lines[index].isUsed = true }
        return !matching.isEmpty
    }

    /// Returns the warnings about the file itself; call this after all files were checked.
    func issues(ofBrowser isBrowser: Bool) -> [ManifestIssue] {
        let unused = lines.filter { !$0.isUsed && $0.code.hasPrefix("browser-") == isBrowser }.map { line in
            let cause = "no file at \(quoted(line.path)) has the warning \(quoted(line.code))"
            return ("\(cause); remove this path", offset(of: line.path))
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
