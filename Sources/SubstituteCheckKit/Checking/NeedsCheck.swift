import Foundation
import LocalSubstitutionCache
import SubstitutionChecking
import SubstitutionRules

/// A check of what the pages, stylesheets and scripts of a manifest load.
///
/// It finds URLs that no entry answers, and files that browsers refuse.
///
/// A URL is missing only if the manifest is meant to have it (``MappedURLs/gap(at:from:)``). Each missing URL is
/// reported once, at the first entry with a file that loads it.
struct NeedsCheck {
    private let manifest: SubstitutionManifest
    private let name: String
    private let date: Date
    private var mapped: MappedURLs
    private var files = ScannedFiles()
    private var findings: [Finding] = []
    /// The missing URLs that were judged.
    private var seen: Set<String> = []
    /// The URLs without an entry that the current file was found to load.
    private var judged: Set<String> = []

    /// A gap, the file with the reference, and the reference's line.
    private typealias Finding = (
        place: ManifestCheck.Position, file: String, line: Int, url: URLIdentity, gap: MappedURLs.Gap
    )

    init(_ manifest: SubstitutionManifest, name: String, _ substitutions: [Substitution], in folder: URL, on date: Date)
    {
        (self.manifest, self.name, self.date) = (manifest, name, date)
        mapped = MappedURLs(substitutions, in: folder)
        for substitution in substitutions where !substitution.isExpired(on: date) { check(substitution) }
    }

    private mutating func check(_ substitution: Substitution) {
        guard let url = substitution.pattern.targets.first?.identity, let file = files.file(of: substitution) else {
            return
        }
        judged = []
        let (line, column) = manifest.source.position(of: substitution.fileOffset)
        let place = ManifestCheck.Position(line: line, column: column)
        var found: [(offset: Int, url: URLIdentity, gap: MappedURLs.Gap)] = []
        for reference in file.references where !reference.isOptional {
            // Without this condition, texts that a script makes a URL of would count as loads.
            if substitution.type.isJavaScript, !reference.isSpecifier { continue }
            // Pages of https load nothing from http (Mixed Content Level 2 §4.4).
            guard let target = file.url(of: reference, at: url), url.scheme == "http" || target.scheme == "https" else {
                continue
            }
            guard mapped.answer(to: target) == nil, judged.insert(target.description).inserted,
                let gap = mapped.gap(at: target, from: url), seen.insert(target.description).inserted
            else { continue }
            found.append((reference.offset, target, gap))
        }
        if found.isEmpty { return }
        for (line, found) in zip(ScannedFile.lines(of: found.map(\.offset), in: substitution), found) {
            findings.append((place, substitution.path, line, found.url, found.gap))
        }
    }

    // MARK: - Messages

    /// Returns one warning for each entry and kind of gap, or for each URL if `each` is true.
    ///
    /// A warning is about the first URL, and also says how many others there are.
    func issues(each: Bool) -> [ManifestIssue] {
        let groups = findings.enumerated().grouped { index, finding in
            each ? "\(index)" : "\(finding.place) \(finding.gap.cause)"
        }
        return groups.map { group in
            let (first, others) = (group.elements[0].element, group.elements.count - 1)
            let rest =
                others == 0 ? "" : " (and \(counted(others, "more URL")) of this entry's files; check --all lists each)"
            let message =
                "line \(first.line) of \(quoted(first.file)) loads \(quoted(first.url.description)), \(first.gap.cause)"
                + rest + (first.gap.remedy.map { "; \($0)" } ?? "")
            return ManifestIssue(.warning, .missingReference, message, in: name, at: first.place)
        }
    }
}
