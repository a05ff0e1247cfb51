package import Foundation
package import LocalSubstitutionCache
import SubstitutionChecking

/// A check of the content of a manifest's files, by ``ContentRules``.
///
/// Call `check(_:)` for each substitution, and read `issues` afterwards. If several files of one entry have the same
/// kind of mistake, there is one warning. The warning names the first of these files and counts the others. An app does
/// not check content when it is launched, so it accepts such files.
package struct ContentCheck {
    private let manifest: SubstitutionManifest
    private let name: String
    private var ignored: IgnoredFindings
    /// The mistakes in the order in which they were found, each with its position and kind.
    private var problems: [(place: ManifestCheck.Position, kind: String, code: String, sentence: String)] = []
    /// The paths of the files that were checked, with the offset at which the manifest names each file.
    private var seen: Set<String> = []

    package init(_ manifest: SubstitutionManifest, name: String, in folder: URL) {
        (self.manifest, self.name, ignored) = (manifest, name, IgnoredFindings(in: folder, of: name))
    }

    /// Checks the file of a substitution, unless the file was already checked for the same position in the manifest.
    mutating func check(_ substitution: Substitution) {
        // Without this condition, a folder's index.html would be checked twice, because index.html answers two URLs.
        guard seen.insert("\(substitution.fileOffset) \(substitution.path)").inserted else { return }
        do throws(FileProblem) {
            for finding in ContentRules.findings(in: try FileSample(substitution)) { add(finding, about: substitution) }
        } catch {
            let reason = error.reason(for: substitution.path).trimmingPrefix("\(quoted(substitution.path)) ")
            add(ContentFinding("unreadable-file", String(reason)), about: substitution)
        }
    }

    /// Adds a mistake that a browser has found; its words, line and column are the browser's.
    package mutating func add(_ code: String, _ words: String, _ line: Int, _ column: Int, about file: Substitution) {
        let row = ContentRules.rows.first { $0.code == code }
        row?.finding(words, line, column, in: file.path, as: file.type).map { add($0, about: file) }
    }

    private mutating func add(_ finding: ContentFinding, about file: Substitution) {
        guard !ignored.contains(finding.code, of: file.path) else { return }
        // If the entry's "type" is wrong, and the file is right, the warning points to the "type".
        let offset = finding.code == "wrong-type" ? file.entry.typeOffset : nil
        let sentence = "\(quoted(file.path)) \(finding.predicate)"
        let (line, column) = manifest.source.position(of: offset ?? file.fileOffset)
        let place = ManifestCheck.Position(line: line, column: column)
        problems.append((place, finding.kind, finding.code, sentence))
        if finding.isLast { others.insert(file.path) }
        sentences[file.path] = sentences[file.path].map { "\($0). \(sentence)" } ?? sentence
    }

    /// The messages about each file with mistakes, keyed by the file's path below the manifest's folder.
    ///
    /// The preview shows them.
    private(set) var sentences: [String: String] = [:]

    /// The files that are something else entirely.
    private(set) var others: Set<String> = []

    /// The warnings, one for each entry and kind of mistake.
    package var issues: [ManifestIssue] {
        problems.grouped { "\($0.place) \($0.kind)" }.map { _, same in
            let others = same.count - 1
            let rest =
                others == 0
                ? "" : others == 1 ? " (and one more file of this entry)" : " (and \(others) more files of this entry)"
            let code = ManifestIssue.Code(rawValue: same[0].code)
            return ManifestIssue(.warning, code, same[0].sentence + rest, in: name, at: same[0].place)
        }
    }

    /// The warnings about what `substitute.json` ignores in vain, of the browser's codes or of all others.
    ///
    /// Call this after all files were checked.
    package func wrongIgnores(ofBrowser isBrowser: Bool) -> [ManifestIssue] { ignored.issues(ofBrowser: isBrowser) }
}
