import Foundation
import LocalSubstitutionCache
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
    /// The mistakes in the order in which they were found, each with its kind and position.
    private var problems: [(kind: PlacedKind, finding: ContentFinding, sentence: String)] = []
    /// The paths of the files that were checked, with the position at which the manifest names each file.
    private var seen: Set<PlacedKind> = []

    /// A position in the manifest, and either a kind of mistake (in `problems`) or a file's path (in `seen`).
    private struct PlacedKind: Hashable {
        let place: ManifestCheck.Position
        let what: String
    }

    init(_ manifest: SubstitutionManifest, name: String, in folder: URL) {
        (self.manifest, self.name, ignored) = (manifest, name, IgnoredFindings(in: folder, of: name))
    }

    /// Checks the file of a substitution, unless the file was already checked for the same position in the manifest.
    mutating func check(_ substitution: Substitution) {
        let named = position(of: substitution.fileOffset)
        // Without this condition, a folder's index.html would be checked twice, because index.html answers two URLs.
        guard seen.insert(PlacedKind(place: named, what: substitution.file)).inserted else { return }
        var texts: [String] = []
        do throws(FileProblem) {
            let findings = ContentRules.findings(in: try FileSample(substitution))
            for finding in findings where !ignored.contains(finding.code, of: substitution.file) {
                // If the entry's "type" is wrong, and the file is right, the warning points to the "type".
                let type = finding.code == "wrong-type" ? substitution.entry.typeOffset : nil
                let kind = PlacedKind(place: type.map(position) ?? named, what: finding.kind)
                texts.append("\(quoted(substitution.file)) \(finding.predicate)")
                problems.append((kind, finding, texts.last ?? ""))
            }
        } catch {
            let finding = ContentFinding("unreadable-file", "")
            texts.append(error.reason(for: substitution.file))
            problems.append((PlacedKind(place: named, what: finding.kind), finding, texts[0]))
        }
        if !texts.isEmpty { sentences[substitution.file] = texts.joined(separator: ". ") }
    }

    private func position(of offset: Int) -> ManifestCheck.Position {
        let (line, column) = manifest.source.position(of: offset)
        return ManifestCheck.Position(line: line, column: column)
    }

    /// The messages about each file with mistakes, keyed by the file's path below the manifest's folder.
    ///
    /// If several entries name a file, the last message about it is kept. The preview shows this message.
    private(set) var sentences: [String: String] = [:]

    /// The warnings, one for each entry and kind of mistake.
    var issues: [ManifestIssue] {
        problems.grouped(by: \.kind).map { kind, same in
            let others = same.count - 1
            let rest =
                others == 0
                ? "" : others == 1 ? " (and one more file of this entry)" : " (and \(others) more files of this entry)"
            let code = ManifestIssue.Code(rawValue: same[0].finding.code)
            return ManifestIssue(.warning, code, same[0].sentence + rest, in: name, at: kind.place)
        }
    }

    /// The warnings about what `substitute.json` ignores in vain, of the browser's codes or of all others.
    ///
    /// Call this after all files were checked.
    package func wrongIgnores(ofBrowser isBrowser: Bool) -> [ManifestIssue] { ignored.issues(ofBrowser: isBrowser) }
}
