import Foundation
import LocalSubstitutionCache

/// A check of a manifest's files; it finds content that no browser can use.
///
/// Call `check(_:)` for each substitution, and read `issues` afterwards. ``ContentRules`` find the first mistake in a
/// file. If several files of one entry have the same kind of mistake, there is one warning. The warning names the first
/// of these files and counts the others. An app does not check content when it is launched, so it accepts such files.
package struct ContentCheck {
    private let manifest: SubstitutionManifest
    private let name: String
    /// The mistakes in the order in which they were found, each with its kind and position.
    private var problems: [(kind: PlacedKind, sentence: String)] = []
    /// The paths of the files that were checked, with the position at which the manifest names each file.
    private var seen: Set<PlacedKind> = []

    /// A position in the manifest, and either a kind of mistake (in `problems`) or a file's path (in `seen`).
    private struct PlacedKind: Hashable {
        let place: ManifestCheck.Position
        let what: String
    }

    init(_ manifest: SubstitutionManifest, name: String) {
        (self.manifest, self.name) = (manifest, name)
    }

    /// Checks the file of a substitution, unless the file was already checked for the same position in the manifest.
    mutating func check(_ substitution: Substitution) {
        let (line, column) = manifest.source.position(of: substitution.fileOffset)
        var place = ManifestCheck.Position(line: line, column: column)
        // Without this condition, a folder's index.html would be checked twice, because index.html answers two URLs.
        guard seen.insert(PlacedKind(place: place, what: substitution.file)).inserted,
            let problem = ContentRules.problem(of: substitution)
        else { return }
        // If the entry's "type" is wrong, and the file is right, the warning points to the "type".
        if problem.isAboutType, let type = substitution.entry.typeOffset {
            let (line, column) = manifest.source.position(of: type)
            place = ManifestCheck.Position(line: line, column: column)
        }
        sentences[substitution.file] = problem.sentence
        problems.append((PlacedKind(place: place, what: problem.kind), problem.sentence))
    }

    /// The message about each file with a mistake, keyed by the file's path below the manifest's folder.
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
            return ManifestIssue(.warning, .wrongContent, same[0].sentence + rest, in: name, at: kind.place)
        }
    }
}

extension ContentCheck {
    /// True if a file may have an expected format, although its first bytes are not those of the format.
    ///
    /// An MP3 may begin with padding. A ZIP archive may begin with a program that unpacks the archive. A PDF may begin
    /// with lines for a printer. An SVG may begin with a long comment, or be encoded in UTF-16.
    static func isUnclear(_ head: [UInt8], among expected: Set<FileFormat>) -> Bool {
        expected == [.mp3] && FileFormat.isBinary(head) || expected == [.zip] && head.starts(with: "MZ".utf8)
            || expected == [.pdf] && Data(head.prefix(1024)).range(of: Data("%PDF-".utf8)) != nil
            || expected == [.svg]
                && (head.first { $0 > 0x20 } == UInt8(ascii: "<") || head.starts(with: [0xEF, 0xBB, 0xBF, 0x3C])
                    || FileFormat.isBinary(head) && head.contains(UInt8(ascii: "<")))
    }
}
